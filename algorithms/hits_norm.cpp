#include "algorithms/hits_norm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Squares of numbers between these bounds, and sums of them, are normal doubles.
constexpr double kLargest = 1e150, kSmallest = 1e-150;

double norm_of(const ExactScale& scale, ScoreNorm norm, const ExactSum& sum) {
  const double value = scale.value(sum);
  return norm == ScoreNorm::l2 ? std::sqrt(value) : value;
}

}  // namespace

template <class S>
double norm_factor(const SpmvOperator<S>& op, const Buffer<double>& y, ScoreNorm norm) {
  const double largest = all_max(op.comm(), op.backend().max_abs(y));
  if (largest == 0) return 0;
  if (!(largest >= kSmallest && largest <= kLargest))
    throw InputError(fmt::format(
        "HITS: a product with the weights reaches {}, where doubles cannot be squared; scale the weights "
        "towards 1",
        largest));
  if (norm == ScoreNorm::max) return 1 / largest;
  const bool squares = norm == ScoreNorm::l2;
  const ExactScale scale(squares ? largest * largest : largest);
  ExactSum sum = op.backend().sum(y, squares, scale);
  op.comm().all_sum(std::span<std::int64_t>(sum.limbs));
  return 1 / norm_of(scale, norm, sum);
}

template <class S>
StepChange update_scores(const SpmvOperator<S>& op, const Buffer<double>& y, const HitsOptions& options,
                         double size, Buffer<S>& score) {
  const double factor = size * norm_factor(op, y, options.normalize);
  VectorSums sums = op.backend().scale_update(factor, y, op.row_places(), hits_scale(),
                                              options.stop.norm == Norm::l2, score);
  reduce_over_ranks({&sums, 1}, op.comm());
  return change_of(options.stop.norm, sums, hits_scale());
}

void normalize(ScoreNorm norm, std::vector<double>& values) {
  double largest = 0;
  for (double value : values) largest = std::max(largest, value);
  if (largest == 0) return;
  double size = largest;
  if (norm != ScoreNorm::max) {
    const ExactScale scale(norm == ScoreNorm::l2 ? largest * largest : largest);
    ExactSum sum;
    for (double value : values) scale.add(norm == ScoreNorm::l2 ? value * value : value, sum);
    size = norm_of(scale, norm, sum);
  }
  for (double& value : values) value /= size;
}

template double norm_factor(const SpmvOperator<float>&, const Buffer<double>&, ScoreNorm);
template double norm_factor(const SpmvOperator<double>&, const Buffer<double>&, ScoreNorm);
template StepChange update_scores(const SpmvOperator<float>&, const Buffer<double>&, const HitsOptions&,
                                  double, Buffer<float>&);
template StepChange update_scores(const SpmvOperator<double>&, const Buffer<double>&, const HitsOptions&,
                                  double, Buffer<double>&);

}  // namespace tessera
