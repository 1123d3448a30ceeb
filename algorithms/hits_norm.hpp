// Normalising a product for HITS.
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

/// What the scores of a product do to the sum of the next one, which multiplies them with the transposed
/// matrix (or the same one, if that is symmetric): that is the sum of score * column sum, and columns of the
/// next matrix are rows of this one. So the norm of a product is known from the scores that it is made of,
/// but for the product's own roundings.
template <class S>
struct ColumnSums {
  Buffer<S> sums;   ///< of each local row of this matrix, in units, at most 1
  double unit = 0;  ///< a power of two; 0: the sums are not known

  bool are_known() const { return unit > 0; }
  /// From which size on a norm is found well enough: what is lost of so many terms, beside it, is below a
  /// rounding of the scores by far in f32, and 2^-44 in f64. Infinite where the sums are not known.
  double least_norm(std::uint64_t num_terms) const;
};

/// Not known where products leave what doubles can square. By a product with numbers as large as scores may
/// be. x, y: of op.make_x(), op.make_y(); what they hold is lost. Collective.
template <class S>
ColumnSums<S> column_sums(SpmvOperator<S>& op, Buffer<S>& x, Buffer<double>& y);

/// values / norm, in original order; zeros stay.
void normalize(ScoreNorm norm, std::vector<double>& values);

}  // namespace tessera
