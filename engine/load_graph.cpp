#include "engine/load_graph.hpp"

#include <chrono>

#include "engine/graph_builder.hpp"
#include "engine/io/binary_cache.hpp"
#include "engine/io/column_choice.hpp"
#include "engine/io/edge_reader.hpp"
#include "engine/io/input_file.hpp"
#include "engine/io/open_input.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/seconds_since.hpp"

namespace tessera {

namespace {

/// Rank 0 looks, so that all ranks take the same way; a pipe is not looked at, what is read of it is gone.
bool is_cache(const GraphOptions& options, Communicator& comm) {
  if (options.format != InputFormat::automatic) return options.format == InputFormat::cache;
  const bool found = comm.is_root() && is_binary_cache(options.path);
  return all_max(comm, std::uint64_t{found}) != 0;
}

}  // namespace

Graph load_graph(const GraphOptions& options, Communicator& comm, const ReadProgress& progress,
                 LoadTimes* times) {
  const auto start = std::chrono::steady_clock::now();
  LoadTimes taken;
  Graph graph;
  if (is_cache(options, comm)) {
    refuse_column_options(options, "a cache", false);
    if (options.path == "-")
      throw InputError("standard input: a cache is mapped when read, which a pipe cannot be; give the file");
    if (!options.archive_member.empty()) refuse_member(options.path, options.archive_member);
    graph = read_binary_cache(options, comm);
    taken.read_seconds = seconds_since(start);
  } else {
    ParsedEdges parsed = read_edges(options, comm, progress);
    taken.read_seconds = seconds_since(start);
    const auto build_start = std::chrono::steady_clock::now();
    try {
      graph = build_graph(std::move(parsed), options, comm);
    } catch (const InputError& error) {
      throw InputError((options.path == "-" ? "standard input" : options.path) + ": " + error.what());
    }
    taken.build_seconds = seconds_since(build_start);
  }
  if (times != nullptr) *times = taken;
  return graph;
}

}  // namespace tessera
