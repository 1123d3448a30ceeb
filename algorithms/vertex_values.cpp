#include "algorithms/vertex_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/base/error.hpp"

namespace tessera {

double accurate_sum(std::span<const double> values) {
  double sum = 0, lost = 0;
  for (double value : values) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return std::isfinite(sum) ? sum + lost : sum;  // what an overflow lost is no number
}

std::vector<double> normalized(std::span<const double> values, std::uint64_t num_vertices, const char* what) {
  if (values.empty()) return std::vector<double>(num_vertices, 1.0 / static_cast<double>(num_vertices));
  const std::string name = what;
  if (values.size() != num_vertices)
    throw OptionError(name + ": expected one number for each of the " + std::to_string(num_vertices) +
                      " vertices, found " + std::to_string(values.size()));
  for (double value : values)
    if (!(value >= 0) || std::isinf(value))
      throw OptionError(name + ": expected numbers of 0 or more, found " + std::to_string(value));
  const double sum = accurate_sum(values);
  if (!(sum > 0)) throw OptionError(name + ": all numbers are 0; give at least one vertex a positive one");
  if (std::isinf(sum))
    throw OptionError(name + ": the sum is too large for a double; scale the numbers down");
  std::vector<double> scaled(values.begin(), values.end());
  for (double& value : scaled) value /= sum;
  return scaled;
}

std::vector<double> with_even_part(std::span<const double> values, double share, const char* what) {
  std::vector<double> mixed = normalized(values, values.size(), what);
  for (double& value : mixed) value = (1 - share) * value + share / static_cast<double>(mixed.size());
  return mixed;
}

double raise_negatives(std::span<double> scores) {
  const auto n = static_cast<std::int64_t>(scores.size());
  std::int64_t first = n;
#pragma omp parallel for reduction(min : first)
  for (std::int64_t v = 0; v < n; ++v)
    if (scores[v] < 0) first = std::min(first, v);
  double added = 0;
  for (std::int64_t v = first; v < n; ++v) {
    if (!(scores[v] < 0)) continue;
    added -= scores[v];
    scores[v] = 0;
  }
  return added;
}

/// Scores are multiplied with reciprocals. Above this, what comes of a score down to epsilon is normal: it
/// keeps all bits.
template <class S>
constexpr S kLeastReciprocal = std::numeric_limits<S>::min() / std::numeric_limits<S>::epsilon();

template <class S>
Buffer<S> reciprocals(std::span<const double> out_weights, std::uint64_t num_vertices) {
  if (out_weights.size() != num_vertices)
    throw OptionError(fmt::format("out_weights: expected {} numbers, one a vertex, found {}", num_vertices,
                                  out_weights.size()));
  Buffer<S> result(num_vertices);
  const auto n = static_cast<std::int64_t>(num_vertices);
  std::int64_t wrong = n;    // the first vertex whose weight is negative or no number
  std::int64_t without = n;  // the first one whose reciprocal does not fit
#pragma omp parallel for reduction(min : without, wrong)
  for (std::int64_t v = 0; v < n; ++v) {
    result[v] = 0;
    if (out_weights[v] == 0) continue;
    if (!(out_weights[v] > 0)) {
      wrong = std::min(wrong, v);
      continue;
    }
    result[v] = static_cast<S>(1 / out_weights[v]);
    if (!std::isfinite(result[v]) || !(result[v] >= kLeastReciprocal<S>)) without = std::min(without, v);
  }
  if (wrong < n)
    throw OptionError(
        fmt::format("out_weights: expected numbers of 0 or more, found {}", out_weights[wrong]));
  if (without < n)
    throw InputError(fmt::format(
        "the out-weights of a node add up to {}, too far from 1 for scores in {}scale the weights towards 1",
        out_weights[without], sizeof(S) == 4 ? "f32; use --precision f64 or " : "f64; "));
  return result;
}

template Buffer<float> reciprocals(std::span<const double>, std::uint64_t);
template Buffer<double> reciprocals(std::span<const double>, std::uint64_t);

}  // namespace tessera
