// PageRank: p = c W^T p + (1 - c) v, with W the row-normalised adjacency matrix (paper, equation 6) and a
// named rule for the mass of vertices without out-links, which the paper leaves open.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/convergence.hpp"
#include "engine/score_order.hpp"
#include "kernels/rank_rule.hpp"

namespace tessera {

struct PageRankOptions {
  double damping = 0.85;  ///< probability to follow a link, in [0, 1)
  StopRule stop;
  Dangling dangling = Dangling::uniform;
  std::vector<double> personalization;  ///< empty = uniform; else one number >= 0 a vertex, sum > 0
  std::vector<double> start;  ///< empty = personalization; else one number >= 0 a vertex, scaled to sum 1
  /// Only for undirected graphs, each of whose edges has its reverse of the same weight: fewer steps where
  /// scores settle slowly (algorithms/step_acceleration.hpp), to the same tolerance; accelerates() says when
  /// not.
  bool accelerate = false;
  /// The best so many scores alone, which mostly saves a vector of all and the time to fill it: not behind
  /// accelerated steps, nor where scores of vertices without links are among the best.
  std::optional<std::uint64_t> top = std::nullopt;
  IterationObserver observer;
};

struct PageRankResult {
  std::vector<double> scores;  ///< original order, all vertices, on every rank; none with `top`
  BestScores best;             ///< only with `top`
  IterationReport report;
  /// (damping * last change in L1 + rounding) / (1 - damping): bounds the true L1 error (not for `rescale`,
  /// where it is NaN). Where the last step was accelerated, scores are those that it began with (but none
  /// below 0), and the first damping is missing.
  double error_bound = 0;
  double sum = 0;  ///< of the scores
};

/// Whether steps may be accelerated: options.accelerate asks for it, their number is not fixed, they are not
/// rescaled, and the damping is at most about 0.99999.
bool accelerates(const PageRankOptions& options);

/// op: SpmvOperator::in_edges of the graph. out_weights: original order, out-degree or sum of out-weights (0
/// exactly where a vertex has no out-links).
/// Throws OptionError for parameters out of range, InputError for out-weights whose reciprocals do not
/// fit S with room for scores (vertex_values.hpp). Collective.
template <class S>
PageRankResult pagerank(SpmvOperator<S>& op, std::span<const double> out_weights,
                        const PageRankOptions& options);

}  // namespace tessera
