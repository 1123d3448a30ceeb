// Any input to a Graph: finds the format, reads (each rank its slice where it can), builds.
#pragma once
#include <cstdint>
#include <functional>

#include "engine/graph.hpp"
#include "engine/graph_options.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Called now and then while reading, on one thread of each rank; `bytes_total` is 0 when unknown.
/// Returning false stops the work (Error of category interrupted).
using ReadProgress = std::function<bool(std::uint64_t bytes_done, std::uint64_t bytes_total)>;

struct LoadTimes {
  double read_seconds = 0;   ///< reading and parsing
  double build_seconds = 0;  ///< labels to ids, sorting, duplicates
};

/// Collective; every rank throws the same error. Reads text by format (engine/io/) or the binary cache.
Graph load_graph(const GraphOptions& options, Communicator& comm, const ReadProgress& progress = {},
                 LoadTimes* times = nullptr);

}  // namespace tessera
