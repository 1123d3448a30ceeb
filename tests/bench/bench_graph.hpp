// Graphs to measure: generated, or copies of a file side by side (of Matrix Market files the sizes of their
// values are the weights); renamed for the vendor's CSR.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/io/matrix_reader.hpp"
#include "engine/load_graph.hpp"

namespace tessera::bench {

/// A square matrix as the graph whose in-edges it stands for: j -> i weighs |a_ij|, as weights are not
/// negative.
inline Graph graph_of_matrix(const std::string& path) {
  const SparseMatrix matrix = read_matrix(path);
  if (matrix.num_rows != matrix.num_cols) throw std::runtime_error(path + " is not square");
  Graph graph;
  graph.num_vertices = graph.num_local_rows = matrix.num_rows;
  graph.num_edges = matrix.num_nonzeros();
  graph.weighted = !matrix.pattern;
  graph.row_offsets = Buffer<EdgeOffset>(matrix.num_rows + 1);
  graph.col_indices = Buffer<VertexId>(graph.num_edges);
  std::copy(matrix.row_offsets.begin(), matrix.row_offsets.end(), graph.row_offsets.begin());
  std::copy(matrix.col_indices.begin(), matrix.col_indices.end(), graph.col_indices.begin());
  if (graph.weighted) {
    graph.weights = Buffer<double>(graph.num_edges);
    std::transform(matrix.values.begin(), matrix.values.end(), graph.weights.begin(),
                   [](double value) { return std::abs(value); });
  }
  return graph;
}

/// SCALE or SCALEw: an R-MAT graph, with weights where a w stands.
inline bool is_generated(const std::string& name) {
  const std::size_t other = name.find_first_not_of("0123456789");
  return other == std::string::npos || (other > 0 && name.substr(other) == "w");
}

/// Every edge its own weight, from 1/1024 to 1.
inline void give_weights(Graph& graph) {
  graph.weighted = true;
  graph.weights = Buffer<double>(graph.num_edges);
#pragma omp parallel for schedule(static)
  for (std::uint64_t e = 0; e < graph.num_edges; ++e)
    graph.weights[e] = static_cast<double>(1 + e * 2654435761u % 1024) / 1024;
}

/// name: SCALE, SCALEw, FILE or FILE*COPIES. Matrix Market files keep the size of their values.
inline Graph bench_graph(const std::string& name, Communicator& comm) {
  if (is_generated(name)) {
    Graph graph = build_graph(generate_edges({.scale = std::stoi(name)}, comm), {}, comm);
    if (name.back() == 'w') give_weights(graph);
    return graph;
  }
  const std::size_t star = name.find('*');
  GraphOptions options;
  options.path = name.substr(0, star);
  const bool is_matrix = options.path.ends_with(".mtx") || options.path.ends_with(".mtx.gz");
  const Graph graph = is_matrix ? graph_of_matrix(options.path) : load_graph(options, comm);
  return side_by_side(graph, star == std::string::npos ? 1 : std::stoull(name.substr(star + 1)));
}

/// In the form that cuSPARSE takes.
struct RenamedCsr {
  std::vector<int> row_offsets;
  std::vector<VertexId> col_indices;
  std::vector<double> weights;  // none: every value is 1

  template <class S>
  std::vector<S> values() const {
    return weights.empty() ? std::vector<S>(col_indices.size(), S{1})
                           : std::vector<S>(weights.begin(), weights.end());
  }
};

/// The elements of a row to `columns` and, where there are some, `weights`; columns ascending.
inline void rename_row(const Graph& graph, VertexId vertex, const std::vector<VertexId>& rank,
                       VertexId* columns, double* weights) {
  const EdgeOffset begin = graph.row_offsets[vertex], end = graph.row_offsets[vertex + 1];
  if (!graph.weighted) {
    for (EdgeOffset e = begin; e < end; ++e) columns[e - begin] = rank[graph.col_indices[e]];
    if (!std::is_sorted(columns, columns + (end - begin))) std::sort(columns, columns + (end - begin));
    return;
  }
  std::vector<std::pair<VertexId, double>> row;
  for (EdgeOffset e = begin; e < end; ++e) row.emplace_back(rank[graph.col_indices[e]], graph.weights[e]);
  std::sort(row.begin(), row.end());
  for (const auto& [column, weight] : row) {
    *columns++ = column;
    *weights++ = weight;
  }
}

/// Row and column i: vertex order[i].
inline RenamedCsr renamed(const Graph& graph, const std::vector<VertexId>& order) {
  const std::uint64_t n = graph.num_vertices;
  RenamedCsr csr{std::vector<int>(n + 1, 0), std::vector<VertexId>(graph.num_edges),
                 std::vector<double>(graph.weighted ? graph.num_edges : 0)};
  std::vector<VertexId> rank(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    rank[order[i]] = static_cast<VertexId>(i);
    csr.row_offsets[i + 1] =
        csr.row_offsets[i] + static_cast<int>(graph.row_offsets[order[i] + 1] - graph.row_offsets[order[i]]);
  }
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::uint64_t i = 0; i < n; ++i)
    rename_row(graph, order[i], rank, csr.col_indices.data() + csr.row_offsets[i],
               graph.weighted ? csr.weights.data() + csr.row_offsets[i] : nullptr);
  return csr;
}

}  // namespace tessera::bench
