// A random graph with power-law-like degrees.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/sample_graph.hpp"

namespace tessera::test {

/// Edges drawn towards low ids; with more vertices than edges some have none.
inline Graph skewed_graph(std::uint64_t n, std::uint64_t num_edges) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto pick = [&] {
    return static_cast<VertexId>(std::pow(uniform(random), 3) * static_cast<double>(n));
  };
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (std::uint64_t e = 0; e < num_edges; ++e) edges.emplace_back(pick(), pick());
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return sample_graph(edges, range_labels(n, 0), true);
}

}  // namespace tessera::test
