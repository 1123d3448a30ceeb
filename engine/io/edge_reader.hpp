// Any text input to ParsedEdges: opens, finds the format, parses on all threads and ranks.
#pragma once
#include "engine/graph_options.hpp"
#include "engine/load_graph.hpp"
#include "engine/parsed_edges.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// For tests and measurements; the defaults suit.
struct ReadTuning {
  std::size_t block_bytes = std::size_t{1} << 20;  ///< text handed to a thread at a time
  int num_threads = 0;                             ///< 0 = OpenMP's choice
};

/// Collective; every rank throws the same error. Every rank parses its slice of a plain file; rank 0 alone
/// reads what is compressed or a stream. An input without edges is no error.
ParsedEdges read_edges(const GraphOptions& options, Communicator& comm, const ReadProgress& progress = {},
                       const ReadTuning& tuning = {});

}  // namespace tessera
