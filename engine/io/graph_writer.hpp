// A Graph as a text file that other programs read: edge list (TSV, CSV) or Matrix Market.
#pragma once
#include <string>

#include "engine/graph.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// Lines "source target [weight]", by target then source, separated by tabs, or by commas with labels quoted
/// by RFC 4180 where the suffix is .csv. A label that the tab form cannot carry (white space, quotes,
/// beginning like a comment, empty) is an InputError naming it. Vertices without edges are lost in an edge
/// list: InputError unless there are none. Every rank holds all labels while it writes. Collective; atomic.
void write_edge_list(const Graph& graph, const std::string& path, Communicator& comm);

/// "%%MatrixMarket matrix coordinate pattern|real general", entry (i, j) for the edge i -> j, 1-based ids in
/// label order; when labels are not 1..n they are listed in PATH.labels.txt, one a line; when they are, a
/// list that is there is removed. Collective; atomic, both together.
void write_matrix_market(const Graph& graph, const std::string& path, Communicator& comm);

}  // namespace tessera
