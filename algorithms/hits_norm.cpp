#include "algorithms/hits_norm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Squares of numbers between these bounds, and sums of them, are normal doubles.
constexpr double kLargest = 1e150, kSmallest = 1e-150;
/// A product may grow or shrink by this much before its size is looked at anew.
constexpr double kHeadroom = 2;

}  // namespace

NormStep step_after(ScoreNorm norm, double largest) {
  return {norm, std::max(largest / kHeadroom, kSmallest), std::min(kHeadroom * largest, kLargest)};
}

template <class S>
double norm_factor(const SpmvOperator<S>& op, const Buffer<double>& y, ScoreNorm norm, double& largest) {
  NormStep step = step_after(norm, largest);
  NormSums sums = op.backend().norm_sums(y, step.squares(), step.scale());
  largest = sums.largest = all_max(op.comm(), sums.largest);
  if (largest == 0) return 0;
  if (!(largest >= kSmallest && largest <= kLargest))
    throw InputError(fmt::format(
        "HITS: a product with the weights reaches {}, where doubles cannot be squared; scale the weights "
        "towards 1",
        largest));
  if (norm == ScoreNorm::max) return 1 / step.size(sums, step.scale());
  if (!step.covers(largest)) {
    step = step_after(norm, largest);
    sums = op.backend().norm_sums(y, step.squares(), step.scale());
  }
  op.comm().all_sum(std::span<std::int64_t>(sums.sum.limbs));
  return 1 / step.size(sums, step.scale());
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
  const NormStep step = step_after(norm, largest);
  const ExactScale scale = step.scale();
  NormSums sums{.largest = largest, .sum = {}};
  if (norm != ScoreNorm::max)
    for (double value : values) scale.add(step.squares() ? value * value : value, sums.sum);
  const double size = step.size(sums, scale);
  for (double& value : values) value /= size;
}

template double norm_factor(const SpmvOperator<float>&, const Buffer<double>&, ScoreNorm, double&);
template double norm_factor(const SpmvOperator<double>&, const Buffer<double>&, ScoreNorm, double&);
template StepChange change_over_ranks(PendingSums, const SpmvOperator<float>&, const HitsOptions&);
template StepChange change_over_ranks(PendingSums, const SpmvOperator<double>&, const HitsOptions&);

}  // namespace tessera
