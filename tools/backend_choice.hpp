// Which backend a run takes; found before anything is read, or beside that.
#pragma once
#include <future>
#include <string>

#include "engine/device_ranks.hpp"
#include "engine/perf_table.hpp"
#include "partition/communicator.hpp"
#include "tools/option_table.hpp"

namespace tessera::cli {

/// --backend with the names of this build.
Option& add_backend_option(OptionTable& options, std::string& backend, const std::string& help);

/// `asked` as --backend has it; the answer is "auto" or a backend that is there, the same on every rank.
/// Several processes take a GPU each: "auto" only if there are enough for all, else the CPU. Throws
/// ResourceError for a device that does not answer or would be shared. Collective.
std::string backend_for(const std::string& asked, Communicator& comm,
                        const DeviceFinder& finder = this_machine());

/// Whether a CPU ranks a graph of so many edges, for so many vectors, in less time than a GPU takes to start.
bool ends_before_a_gpu_starts(EdgeOffset num_edges, std::uint64_t num_vectors);

/// The same once the graph has been read: for "auto" the CPU, and no device is asked, where it ranks the
/// graph in less time than a GPU takes to start (docs/benchmarks.md). num_vectors: that are solved for.
/// Collective.
std::string backend_for_graph(const std::string& asked, EdgeOffset num_edges, std::uint64_t num_vectors,
                              Communicator& comm, const DeviceFinder& finder = this_machine());

/// Starts each process's GPU beside what the host does first, where it is asked for by name or, as far as the
/// size of the file tells, will be taken, and each can have one of its own; else nothing, on all ranks. The
/// file need not be there (0 bytes). Collective.
std::future<void> start_gpu_beside(const std::string& asked, std::uint64_t file_bytes,
                                   std::uint64_t num_vectors, Communicator& comm,
                                   const DeviceFinder& finder = this_machine());

/// What plans are made with where `backend`, as backend_for() gives it, computes; the built-in table, with a
/// warning, for one that is damaged. Collective.
PerfTable load_tables(const std::string& backend, Communicator& comm);

}  // namespace tessera::cli
