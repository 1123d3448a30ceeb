#include "tests/reference/oracle.hpp"

#include <cmath>
#include <utility>

namespace tessera::test {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Entry [u][v]: weight of all edges u -> v.
Matrix adjacency(const OracleGraph& graph) {
  Matrix a(graph.num_vertices, std::vector<double>(graph.num_vertices, 0.0));
  for (const OracleEdge& edge : graph.edges) a[edge.source][edge.target] += edge.weight;
  return a;
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}

/// I - c W with column u of W taken from row u of the adjacency matrix; `columns_without` stands in for the
/// columns of vertices without out-edges.
Matrix system_matrix(const OracleGraph& graph, double c, const std::vector<double>& columns_without) {
  const Matrix a = adjacency(graph);
  const std::size_t n = graph.num_vertices;
  Matrix m(n, std::vector<double>(n, 0.0));
  for (std::size_t u = 0; u < n; ++u) {
    const double out = sum_of(a[u]);
    for (std::size_t v = 0; v < n; ++v) m[v][u] = -c * (out > 0 ? a[u][v] / out : columns_without[v]);
    m[u][u] += 1;
  }
  return m;
}

void scale_to_one(std::vector<double>& values) {
  const double sum = sum_of(values);
  if (sum == 0) return;
  for (double& value : values) value /= sum;
}

}  // namespace

std::vector<double> solve(Matrix m, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
    std::swap(m[k], m[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j < n; ++j) m[i][j] -= factor * m[k][j];
      b[i] -= factor * b[k];
    }
  }
  std::vector<double> x(n);
  for (std::size_t k = n; k-- > 0;) {
    double value = b[k];
    for (std::size_t j = k + 1; j < n; ++j) value -= m[k][j] * x[j];
    x[k] = value / m[k][k];
  }
  return x;
}

std::vector<double> oracle_pagerank(const OracleGraph& graph, double c, OracleDangling rule,
                                    const std::vector<double>& jump) {
  const std::size_t n = graph.num_vertices;
  std::vector<double> columns_without(n, 0.0);
  if (rule == OracleDangling::uniform) columns_without.assign(n, 1.0 / static_cast<double>(n));
  if (rule == OracleDangling::personalization) columns_without = jump;
  std::vector<double> right_side = jump;
  for (double& value : right_side) value *= 1 - c;
  return solve(system_matrix(graph, c, columns_without), right_side);
}

std::vector<double> oracle_rescaled_pagerank(const OracleGraph& graph, double c,
                                             const std::vector<double>& jump, int steps) {
  const Matrix a = adjacency(graph);
  const std::size_t n = graph.num_vertices;
  std::vector<double> score = jump;
  for (int step = 0; step < steps; ++step) {
    std::vector<double> next(n);
    for (std::size_t v = 0; v < n; ++v) next[v] = (1 - c) * jump[v];
    for (std::size_t u = 0; u < n; ++u) {
      const double out = sum_of(a[u]);
      for (std::size_t v = 0; out > 0 && v < n; ++v) next[v] += c * a[u][v] / out * score[u];
    }
    scale_to_one(next);
    score = next;
  }
  return score;
}

std::vector<double> oracle_walk(const OracleGraph& graph, double c, std::size_t query) {
  std::vector<double> right_side(graph.num_vertices, 0.0);
  right_side[query] = 1 - c;
  return solve(system_matrix(graph, c, std::vector<double>(graph.num_vertices, 0.0)), right_side);
}

OracleHits oracle_hits(const OracleGraph& graph, int steps, const std::vector<double>& start) {
  const Matrix a = adjacency(graph);
  const std::size_t n = graph.num_vertices;
  OracleHits result{std::vector<double>(n, 0.0), start};
  if (start.empty()) result.hub.assign(n, 1.0 / static_cast<double>(n));
  for (int step = 0; step < steps; ++step) {
    result.authority.assign(n, 0.0);
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = 0; v < n; ++v) result.authority[v] += a[u][v] * result.hub[u];
    scale_to_one(result.authority);
    result.hub.assign(n, 0.0);
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = 0; v < n; ++v) result.hub[u] += a[u][v] * result.authority[v];
    scale_to_one(result.hub);
  }
  return result;
}

double l1_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double distance = a.size() == b.size() ? 0.0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) distance += std::abs(a[i] - b[i]);
  return distance;
}

}  // namespace tessera::test
