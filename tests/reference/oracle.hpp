// What the algorithms must give, written from the formulas and nothing of the project: dense matrices in
// double, and for PageRank and RWR a direct solution of the linear system instead of an iteration.
#pragma once
#include <vector>

namespace tessera::test {

struct OracleEdge {
  std::size_t source, target;
  double weight = 1;
};

struct OracleGraph {
  std::size_t num_vertices = 0;
  std::vector<OracleEdge> edges;  ///< repeated edges add up
};

/// x with M x = b, by elimination with row pivots.
std::vector<double> solve(std::vector<std::vector<double>> matrix, std::vector<double> right_side);

enum class OracleDangling { uniform, personalization, drop };

/// p = c P p + (1 - c) v, where column u of P holds u's out-weights divided by their sum, or the rule's
/// distribution when u has none.
std::vector<double> oracle_pagerank(const OracleGraph& graph, double c, OracleDangling rule,
                                    const std::vector<double>& jump);
/// p' = c P p + (1 - c) v scaled to sum 1, where u's column is 0 when u has no out-weights; `steps` times
/// from v.
std::vector<double> oracle_rescaled_pagerank(const OracleGraph& graph, double c,
                                             const std::vector<double>& jump, int steps);
/// r = c W r + (1 - c) e_query; the graph must already have both directions.
std::vector<double> oracle_walk(const OracleGraph& graph, double c, std::size_t query);

struct OracleHits {
  std::vector<double> authority, hub;  ///< sum 1 each
};
/// a = A^T h, h = A a, `steps` times; from equal hubs, where no start is given.
OracleHits oracle_hits(const OracleGraph& graph, int steps, const std::vector<double>& start = {});

/// sum |a - b|
double l1_distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tessera::test
