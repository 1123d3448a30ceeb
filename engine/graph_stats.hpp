// Facts about a graph's shape for `tessera stats` and the report.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/graph.hpp"
#include "kernels/base/buffer.hpp"
#include "partition/communicator.hpp"

namespace tessera {

struct GraphStats {
  std::uint64_t num_vertices = 0;
  EdgeOffset num_edges = 0;
  std::uint64_t max_in_degree = 0, max_out_degree = 0;
  double mean_degree = 0;
  double gini_in = 0, gini_out = 0;                    ///< 0 = all degrees equal, near 1 = few hubs hold all
  double top_1_percent_in = 0, top_1_percent_out = 0;  ///< share of edges at the 1 % largest vertices
  std::uint64_t dangling = 0;                          ///< no out-edge
  std::uint64_t sources_only = 0;                      ///< no in-edge
  std::uint64_t isolated = 0;                          ///< neither
  bool symmetric = false;                              ///< each edge has its reverse (pattern)
  /// histogram[k]: vertices with in-degree in [2^(k-1), 2^k), k = 0 is degree 0.
  std::vector<std::uint64_t> in_degree_histogram, out_degree_histogram;
};

/// Collective; same answer on every rank.
GraphStats graph_stats(const Graph& graph, Communicator& comm);

/// In-degrees and out-degrees of all vertices, or sums of weights; original order, same on every rank.
Buffer<std::uint64_t> in_degrees(const Graph& graph, Communicator& comm);
Buffer<std::uint64_t> out_degrees(const Graph& graph, Communicator& comm);
/// Both; collective. To count out-edges is a look at every edge, so who needs them several times keeps them.
struct GraphDegrees {
  Buffer<std::uint64_t> in, out;
};
GraphDegrees graph_degrees(const Graph& graph, Communicator& comm);
/// Sum of the weights of each vertex's out-edges (out-degree when unweighted), added exactly
/// (order-independent) so that ranks and threads agree bit for bit. degrees: of `graph`, where they have been
/// counted already.
Buffer<double> out_weights(const Graph& graph, Communicator& comm, const GraphDegrees* degrees = nullptr);

}  // namespace tessera
