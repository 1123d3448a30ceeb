#include "algorithms/hits_norm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Squares of numbers between these bounds, and sums of them, are normal doubles.
constexpr double kLargest = 1e150, kSmallest = 1e-150;
/// A product may grow or shrink by this much before its size is looked at anew.
constexpr double kHeadroom = 2;

double norm_of(const ExactScale& scale, ScoreNorm norm, const ExactSum& sum) {
  const double value = scale.value(sum);
  return norm == ScoreNorm::l2 ? std::sqrt(value) : value;
}

}  // namespace

template <class S>
double norm_factor(const SpmvOperator<S>& op, const Buffer<double>& y, ScoreNorm norm, double& largest) {
  const bool squares = norm == ScoreNorm::l2;
  const auto scale_for = [&](double value) { return ExactScale(squares ? value * value : value); };
  const double before = largest, most = std::min(kHeadroom * before, kLargest);
  ExactScale scale = scale_for(most);
  NormSums sums = op.backend().norm_sums(y, squares, scale);
  largest = all_max(op.comm(), sums.largest);
  if (largest == 0) return 0;
  if (!(largest >= kSmallest && largest <= kLargest))
    throw InputError(fmt::format(
        "HITS: a product with the weights reaches {}, where doubles cannot be squared; scale the weights "
        "towards 1",
        largest));
  if (norm == ScoreNorm::max) return 1 / largest;
  if (!(largest <= most && largest >= before / kHeadroom)) {
    scale = scale_for(largest);
    sums = op.backend().norm_sums(y, squares, scale);
  }
  op.comm().all_sum(std::span<std::int64_t>(sums.sum.limbs));
  return 1 / norm_of(scale, norm, sums.sum);
}

template <class S>
StepChange change_over_ranks(PendingSums pending, const SpmvOperator<S>& op, const HitsOptions& options) {
  VectorSums sums = pending.take().front();
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

template double norm_factor(const SpmvOperator<float>&, const Buffer<double>&, ScoreNorm, double&);
template double norm_factor(const SpmvOperator<double>&, const Buffer<double>&, ScoreNorm, double&);
template StepChange change_over_ranks(PendingSums, const SpmvOperator<float>&, const HitsOptions&);
template StepChange change_over_ranks(PendingSums, const SpmvOperator<double>&, const HitsOptions&);

}  // namespace tessera
