// Normalising a product for HITS, and the change against the scores before.
#pragma once
#include "algorithms/hits.hpp"

namespace tessera {

/// Scores are at most 2 (see hits.cpp), changes and their squares at most 4.
inline const ExactScale& hits_scale() {
  static const ExactScale scale(4.0);
  return scale;
}

/// 1 / norm of y over all ranks, 0 when y is 0. Throws InputError when the numbers leave what a double can
/// square. Collective.
template <class S>
double norm_factor(const SpmvOperator<S>& op, const Buffer<double>& y, ScoreNorm norm);

/// score = y * norm_factor * size; collective.
template <class S>
StepChange update_scores(const SpmvOperator<S>& op, const Buffer<double>& y, const HitsOptions& options,
                         double size, Buffer<S>& score);

/// values / norm, in original order; zeros stay.
void normalize(ScoreNorm norm, std::vector<double>& values);

}  // namespace tessera
