// HITS: authority a = A^T h, hub h = A a (paper, equation 7), as a matching pair.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/convergence.hpp"
#include "engine/score_order.hpp"
#include "kernels/norm_step.hpp"

namespace tessera {

enum class HitsUpdate {
  alternating,  ///< a from h, then h from the new a
  block,        ///< both at once from the 2n x 2n matrix (equation 8)
};

struct HitsOptions {
  StopRule stop{.max_iterations = 1000};  ///< the rate is the graph's, not a parameter's
  ScoreNorm normalize = ScoreNorm::sum;
  /// Empty = 1/n each; else one number >= 0 a vertex, sum > 0. Steps stay in the components of hubs above 0,
  /// whatever other ones have: give all vertices a part (with_even_part). The block form begins with
  /// authorities of 1/n each, or, where these are given, with those that come of them.
  std::vector<double> start_hubs;
  /// So many of the best authorities alone, with their hub scores: of the alternating form, but for
  /// ScoreNorm::max, this saves two vectors of all scores, and the time to fill them (one
  /// of them where many scores are equal).
  std::optional<std::uint64_t> top = std::nullopt;
  IterationObserver observer;
};

struct HitsResult {
  std::vector<double> authority, hub;  ///< original order; zero where nothing points; none with `top`
  BestScores best;                     ///< authorities; only with `top`
  std::vector<double> hubs_of_best;    ///< hub scores of the best authorities, in their order
  bool has_authorities = false, has_hubs = false;  ///< scores above 0
  IterationReport report;                          ///< residual: larger of the changes of a and of h
  /// Estimate of sigma2 / sigma1 squared from the rate at which the change shrank; near 1 the dominant pair
  /// is not unique (or nearly so) and the result depends on the start.
  double convergence_rate = 0;
  /// False: as far as the steps tell, several components tie for the dominant pair, or nearly so; nobody
  /// looks where the run was stopped. In f32, weights that differ by more than 1e38 may hide one.
  bool unique = true;
};

/// to_authority: A^T; to_hub: A (SpmvOperator::in_and_out_edges). Throws OptionError for parameters out of
/// range, InputError where products leave 1e-150 to 1e150. Collective.
template <class S>
HitsResult hits(SpmvOperator<S>& to_authority, SpmvOperator<S>& to_hub, const HitsOptions& options);
/// block: SpmvOperator::hits_block. Throws as hits(). Collective.
template <class S>
HitsResult hits_block(SpmvOperator<S>& block, const HitsOptions& options);

}  // namespace tessera
