// Graphs that walks forget slowly where they began on.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/sample_graph.hpp"

namespace tessera::test {

/// The first `num_linked` of n vertices in a ring, each linked both ways with the `reach` next ones.
inline Graph ring_graph(std::uint64_t n, std::uint64_t num_linked, std::uint64_t reach) {
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (std::uint64_t v = 0; v < num_linked; ++v)
    for (std::uint64_t d = 1; d <= reach; ++d) {
      const std::uint64_t w = (v + d) % num_linked;
      edges.emplace_back(v, w);
      edges.emplace_back(w, v);
    }
  std::sort(edges.begin(), edges.end());
  return sample_graph(edges, range_labels(n, 0), false);
}

/// The first num_spine of n vertices in a row, each linked both ways with the next one and, in the first half
/// of the row, with one of the num_spine behind them: scores that begin alike, too, settle slowly.
inline Graph comb_graph(std::uint64_t n, std::uint64_t num_spine) {
  std::vector<std::pair<VertexId, VertexId>> edges;
  const auto link = [&](VertexId u, VertexId v) {
    edges.emplace_back(u, v);
    edges.emplace_back(v, u);
  };
  for (VertexId v = 0; v < num_spine; ++v) {
    if (v + 1 < num_spine) link(v, v + 1);
    if (v < num_spine / 2) link(v, static_cast<VertexId>(num_spine) + v);
  }
  std::sort(edges.begin(), edges.end());
  return sample_graph(edges, range_labels(n, 0), false);
}

/// A clique and a row of vertices that hangs on it, all links both ways. Its slowest eigenvector is met where
/// its residual goes through 0.
inline Graph lollipop_graph(std::uint64_t n, std::uint64_t num_in_clique) {
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (VertexId v = 1; v < n; ++v)
    for (VertexId u = v < num_in_clique ? 0 : v - 1; u < v; ++u) {
      edges.emplace_back(u, v);
      edges.emplace_back(v, u);
    }
  std::sort(edges.begin(), edges.end());
  return sample_graph(edges, range_labels(n, 0), false);
}

}  // namespace tessera::test
