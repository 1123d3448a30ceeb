// From parsed edges to a Graph: gives ids to labels, sends every edge to the rank that owns its target,
// sorts each row, applies the rules for duplicates and self-loops. Collective.
#pragma once
#include "engine/graph.hpp"
#include "engine/graph_options.hpp"
#include "engine/parsed_edges.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Consumes `parsed` chunk by chunk, so that the peak stays near one copy of the edges.
/// Rows are sorted by column; parallel edges that are kept stay in file order. Summed weights are added in
/// file order. The result does not depend on the number of threads or ranks.
/// Throws InputError when there are more than kMaxVertices labels.
Graph build_graph(ParsedEdges parsed, const GraphOptions& options, Communicator& comm);

/// Out-edges as in-edges: the graph with every edge turned round. Labels and facts are shared by copy.
Graph transposed(const Graph& graph, Communicator& comm);

/// Every edge in both directions; a pair present in both directions is merged by `duplicates` (a self-loop
/// is its own reverse and stays once). may_use_device: GPUs that answer and have room may sort the edges, of
/// one rank or of all that have mapped one file, where they have no weights and none is kept twice; the graph
/// is the same.
Graph symmetrised(const Graph& graph, Duplicates duplicates, Communicator& comm, bool may_use_device = false);

/// Every vertex and edge `count` times, copies one after the other; without labels and facts. On one
/// rank. ResourceError beyond 2^32 - 2 vertices.
Graph side_by_side(const Graph& graph, std::uint64_t count);

}  // namespace tessera
