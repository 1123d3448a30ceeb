// Normalising a product for HITS, and the change against the scores before.
#pragma once
#include "algorithms/hits.hpp"

namespace tessera {

/// Scores are at most 2 (see hits.cpp), changes and their squares at most 4.
inline const ExactScale& hits_scale() {
  static const ExactScale scale(4.0);
  return scale;
}

/// For a product whose largest number is expected to be like that of the one before; 0: covers none.
NormStep step_after(ScoreNorm norm, double largest);

/// 1 / norm of y over all ranks, 0 when y is 0. `largest` is that of the product before (0: none), and
/// becomes that of y: where they are alike, one look at y is enough. Throws InputError when the numbers leave
/// what a double can square. Collective.
template <class S>
double norm_factor(const SpmvOperator<S>& op, const Buffer<double>& y, ScoreNorm norm, double& largest);

/// The change that the sums of an update make, over all ranks; collective.
template <class S>
StepChange change_over_ranks(PendingSums pending, const SpmvOperator<S>& op, const HitsOptions& options);

/// values / norm, in original order; zeros stay.
void normalize(ScoreNorm norm, std::vector<double>& values);

}  // namespace tessera
