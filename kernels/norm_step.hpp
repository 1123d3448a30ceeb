// Dividing a product by its norm, as HITS does: the formula, for host and device.
#pragma once
#include <cmath>
#include <optional>

#include "kernels/vector_sums.hpp"

namespace tessera {

/// What of all scores is 1: their sum, the largest, or the root of the sum of squares.
enum class ScoreNorm { sum, max, l2 };

/// The norm of a vector whose largest |y| is expected to lie between `least` > 0 and `most`.
struct NormStep {
  ScoreNorm norm = ScoreNorm::sum;
  double least = 0, most = 0;

  bool squares() const { return norm == ScoreNorm::l2; }
  /// Of the sums that norm_sums() makes.
  ExactScale scale() const { return ExactScale(squares() ? most * most : most); }
  TESSERA_HD bool covers(double largest) const { return largest >= least && largest <= most; }
  /// The norm.
  TESSERA_HD double size(const NormSums& sums, const ExactScale& scale) const {
    if (norm == ScoreNorm::max) return sums.largest;
    const double value = scale.value(sums.sum);
    return norm == ScoreNorm::l2 ? std::sqrt(value) : value;
  }
};

/// Of an update that divides by the norm.
struct NormedUpdate {
  NormSums norm;
  std::optional<PendingSums> sums;  ///< none where the largest was not covered: then nothing has changed
};

}  // namespace tessera
