// Sends every edge to the rank that owns its target.
#pragma once
#include <vector>

#include "engine/edge_source.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Edges of all ranks' sources (which are consumed) whose targets are in this rank's block of
/// block_boundaries(num_vertices, ranks), after `rules`; in rank order, and file order within a rank.
/// `self_loops` receives the number this rank saw in its source. Moves a bounded number of edges at a time.
/// Collective.
template <class Source>
std::vector<EdgeChunk> exchange_edges(Source& source, const EdgeRules& rules, bool weighted,
                                      std::uint64_t num_vertices, std::uint64_t& self_loops,
                                      Communicator& comm);

}  // namespace tessera
