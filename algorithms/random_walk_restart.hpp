// Random walk with restart: r = c W r + (1 - c) e_i with W column-normalised (paper, equation 9), for many
// query vertices i at once: a block of vectors through one pass over the matrix.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "algorithms/convergence.hpp"
#include "kernels/backend.hpp"

namespace tessera {

/// Queries that share one pass over the matrix, at most: whether steps may be accelerated or not.
inline constexpr unsigned kMostWalks = kMostFurtherVectors;

struct RwrOptions {
  double continue_probability = 0.9;     ///< the paper's c, which it calls the restart probability; in [0, 1)
  StopRule stop{.max_iterations = 200};  ///< 0.9^k is below the default tolerance at k = 138
  /// Queries at a time, at most (kMostWalks): fewer where products are faster so.
  unsigned batch_size = 32;
  /// Fewer steps where walks forget slowly where they began (algorithms/step_acceleration.hpp), to the same
  /// tolerance: mostly half as many or fewer on networks and the web. fixed_iterations are plain.
  bool accelerate = true;
  /// Of each query the best so many scores alone, which saves a vector of all a query, and the time to fill
  /// it.
  std::optional<std::uint64_t> top = std::nullopt;
  IterationObserver observer = {};
};

struct RwrResult {
  std::vector<double> scores;  ///< original order; none where `top` was asked for
  BestScores best;             ///< only where it was
  IterationReport report;
  /// Bounds the true L1 error: (c * last change in L1 + rounding) / (1 - c); where the last step was
  /// accelerated, scores are those that it began with (but none below 0), and the first c is missing.
  double error_bound = 0;
};

/// op: SpmvOperator::in_edges of the symmetrised graph; weights: its out_weights. One result a query, in
/// the order of `queries`. The result of a query does not depend on what else is in the batch, but for one
/// thing: in f32 on a GPU walks that go more than 16 together are added up in another order
/// (kernels/rows_in_fours.hpp), so that last digits differ from those of smaller batches. Throws OptionError
/// for parameters out of range and vertices that the graph has not, InputError for weights that no float
/// holds the reciprocal of. Collective.
template <class S>
std::vector<RwrResult> random_walk_restart(SpmvOperator<S>& op, std::span<const double> out_weights,
                                           std::span<const VertexId> queries, const RwrOptions& options);

}  // namespace tessera
