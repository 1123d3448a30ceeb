// Half-steps of HITS that follow one another without the host, for host and device: by norms that the scores
// of one side tell of the other's product.
#pragma once
#include <algorithm>

#include "kernels/rank_rule.hpp"

namespace tessera {

/// What the sum of scores times masses (VectorSums::dangling) of one side is in the norm of the other side's
/// product.
struct PairNorm {
  double unit = 1;   ///< norm: unit * sum
  double least = 0;  ///< of this side's own product: from which norm on its updates may go by that
};

/// The product of the first side (even half-steps) and of the second one in turn, each divided by its norm
/// (Backend::run_pair_steps). For one rank that has all rows.
struct PairRun {
  static constexpr unsigned kMostSteps = RankRun::kMostSteps;  ///< half-steps

  PairNorm norms[2];
  double first_norm = 1;    ///< of the first product; may not be below its least
  unsigned most_steps = 2;  ///< half-steps, 1 to kMostSteps
  Norm norm = Norm::l1;
  double tolerance = -1;  ///< ends where two half-steps of a step change at most that

  /// Of the product that follows after so many half-steps, of which the last left that sum.
  TESSERA_HD double norm_after(unsigned num_steps, const ExactSum& masses, const ExactScale& scale) const {
    return norms[(num_steps + 1) % 2].unit * scale.value(masses);
  }
  TESSERA_HD static RankUpdate update_by(double norm) { return {.link = 1 / norm}; }
  TESSERA_HD RankUpdate first_update() const { return update_by(first_norm); }
  /// Whether a run is over after so many half-steps, the last two of which changed so much.
  TESSERA_HD bool ends_after(unsigned num_steps, double change, double change_before,
                             double next_norm) const {
    if (num_steps >= most_steps || !(next_norm >= norms[num_steps % 2].least)) return true;
    return num_steps % 2 == 0 && change <= tolerance && change_before <= tolerance;
  }
};

}  // namespace tessera
