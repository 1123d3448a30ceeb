// Graphs to measure: generated, or copies of a file side by side; renamed for the vendor's CSR.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/load_graph.hpp"

namespace tessera::bench {

/// Every vertex and edge `count` times, copies one after the other.
inline Graph copies(const Graph& graph, std::uint64_t count) {
  Graph all;
  const std::uint64_t n = graph.num_vertices, edges = graph.num_edges;
  all.num_vertices = all.num_local_rows = n * count;
  all.num_edges = edges * count;
  all.weighted = graph.weighted;
  all.row_offsets = Buffer<EdgeOffset>(n * count + 1);
  all.col_indices = Buffer<VertexId>(edges * count);
  if (graph.weighted) all.weights = Buffer<double>(edges * count);
  for (std::uint64_t c = 0; c < count; ++c) {
    for (std::uint64_t v = 0; v < n; ++v) all.row_offsets[c * n + v] = c * edges + graph.row_offsets[v];
    for (std::uint64_t e = 0; e < edges; ++e)
      all.col_indices[c * edges + e] = static_cast<VertexId>(graph.col_indices[e] + c * n);
    if (graph.weighted)
      std::copy(graph.weights.begin(), graph.weights.end(),
                all.weights.begin() + static_cast<std::ptrdiff_t>(c * edges));
  }
  all.row_offsets[n * count] = edges * count;
  return all;
}

/// name: SCALE, FILE or FILE*COPIES. Matrix Market files keep their values.
inline Graph bench_graph(const std::string& name, Communicator& comm) {
  if (name.find_first_not_of("0123456789") == std::string::npos)
    return build_graph(generate_edges({.scale = std::stoi(name)}, comm), {}, comm);
  const std::size_t star = name.find('*');
  GraphOptions options;
  options.path = name.substr(0, star);
  const Graph graph = load_graph(options, comm);
  return copies(graph, star == std::string::npos ? 1 : std::stoull(name.substr(star + 1)));
}

/// In the form that cuSPARSE takes.
struct RenamedCsr {
  std::vector<int> row_offsets;
  std::vector<VertexId> col_indices;
  std::vector<double> values;
};

/// Row and column i: vertex order[i]; columns ascending.
inline RenamedCsr renamed(const Graph& graph, const std::vector<VertexId>& order) {
  const std::uint64_t n = graph.num_vertices;
  RenamedCsr csr{std::vector<int>(n + 1, 0), std::vector<VertexId>(graph.num_edges),
                 std::vector<double>(graph.num_edges, 1.0)};
  std::vector<VertexId> rank(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    rank[order[i]] = static_cast<VertexId>(i);
    csr.row_offsets[i + 1] =
        csr.row_offsets[i] + static_cast<int>(graph.row_offsets[order[i] + 1] - graph.row_offsets[order[i]]);
  }
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::uint64_t i = 0; i < n; ++i) {
    std::vector<std::pair<VertexId, double>> row;
    for (EdgeOffset e = graph.row_offsets[order[i]]; e < graph.row_offsets[order[i] + 1]; ++e)
      row.emplace_back(rank[graph.col_indices[e]], graph.weighted ? graph.weights[e] : 1.0);
    std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) {
      csr.col_indices[csr.row_offsets[i] + k] = row[k].first;
      csr.values[csr.row_offsets[i] + k] = row[k].second;
    }
  }
  return csr;
}

}  // namespace tessera::bench
