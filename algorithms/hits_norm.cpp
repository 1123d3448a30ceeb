#include "algorithms/hits_norm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Squares of numbers between these bounds, and sums of them, are normal doubles.
constexpr double kLargest = 1e150, kSmallest = 1e-150;
/// A product may grow or shrink by this much before its size is looked at anew.
constexpr double kHeadroom = 2;
/// Of a score.
constexpr double kLargestScore = 2;
/// Products are this much smaller than sums of columns at most, where norms are taken from these.
constexpr double kLeastShare = 0x1p-64;

/// What the norm is made of.
ExactSum sum_of(const NormStep& step, const ExactScale& scale, std::span<const double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  ExactSum sum;
#pragma omp parallel
  {
    ExactSum own;
#pragma omp for nowait
    for (std::int64_t v = 0; v < n; ++v) scale.add(step.squares() ? values[v] * values[v] : values[v], own);
#pragma omp critical
    sum += own;
  }
  return sum;
}

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
double ColumnSums<S>::least_norm(std::uint64_t num_terms) const {
  if (!are_known()) return std::numeric_limits<double>::infinity();
  constexpr double kMostLost = sizeof(S) == sizeof(float) ? 0x1p-30 : 0x1p-44;
  const double lost_of_term =
      std::ldexp(hits_scale().bound(), -ExactScale::kBitsPerFold * ExactSum::kFolds - 1);
  return unit * std::max(kLeastShare, static_cast<double>(num_terms) * lost_of_term / kMostLost);
}

template <class S>
ColumnSums<S> column_sums(SpmvOperator<S>& op, Buffer<S>& x, Buffer<double>& y) {
  Backend<S>& backend = op.backend();
  Buffer<S> inputs = backend.template allocate<S>(op.num_local_inputs());
  backend.fill(inputs, static_cast<S>(kLargestScore));
  op.replicate(inputs, nullptr, x);
  op.apply(x, y);
  const double largest = all_max(op.comm(), backend.norm_sums(y, false, ExactScale(0)).largest);
  if (!(largest <= kLargest && kLeastShare * largest >= kSmallest)) return {};
  ColumnSums<S> columns{.sums = backend.template allocate<S>(op.num_local_rows()),
                        .unit = std::ldexp(1.0, std::ilogb(largest / kLargestScore) + 1)};
  backend.clear(columns.sums);
  (void)backend
      .rank_update({.link = 1 / (kLargestScore * columns.unit)}, y, op.row_places(), {}, {}, hits_scale(),
                   false, columns.sums, {})
      .take();
  return columns;
}

void normalize(ScoreNorm norm, std::vector<double>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  double largest = 0;
#pragma omp parallel for reduction(max : largest)
  for (std::int64_t v = 0; v < n; ++v) largest = std::max(largest, values[v]);
  if (largest == 0) return;
  const NormStep step = step_after(norm, largest);
  const ExactScale scale = step.scale();
  NormSums sums{.largest = largest, .sum = norm == ScoreNorm::max ? ExactSum() : sum_of(step, scale, values)};
  const double size = step.size(sums, scale);
#pragma omp parallel for
  for (std::int64_t v = 0; v < n; ++v) values[v] /= size;
}

template double norm_factor(const SpmvOperator<float>&, const Buffer<double>&, ScoreNorm, double&);
template double norm_factor(const SpmvOperator<double>&, const Buffer<double>&, ScoreNorm, double&);
template struct ColumnSums<float>;
template struct ColumnSums<double>;
template ColumnSums<float> column_sums(SpmvOperator<float>&, Buffer<float>&, Buffer<double>&);
template ColumnSums<double> column_sums(SpmvOperator<double>&, Buffer<double>&, Buffer<double>&);

}  // namespace tessera
