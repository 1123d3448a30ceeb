// The rows of an undirected graph: those of a directed one and those of its edges turned round, merged row by
// row, which takes less time and memory than sorting all edges in both directions.
#pragma once
#include "engine/graph.hpp"
#include "engine/graph_options.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// turned: graph's edges turned round, in the same blocks of rows; of both rows and edges alone are looked
/// at. result: of the same vertices, gets rows and num_edges; a self-loop is one edge. Edges of the same ends
/// are in the order of graph's rows. Throws InputError where weights add up to more than a double holds.
/// Collective.
void merge_rows(const Graph& graph, const Graph& turned, Duplicates duplicates, Graph& result,
                Communicator& comm);

}  // namespace tessera
