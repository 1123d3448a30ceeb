#include "algorithms/vertex_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/base/error.hpp"

namespace tessera {

std::vector<double> normalized(std::span<const double> values, std::uint64_t num_vertices, const char* what) {
  if (values.empty()) return std::vector<double>(num_vertices, 1.0 / static_cast<double>(num_vertices));
  const std::string name = what;
  if (values.size() != num_vertices)
    throw OptionError(name + ": expected one number for each of the " + std::to_string(num_vertices) +
                      " vertices, found " + std::to_string(values.size()));
  double sum = 0;
  for (double value : values) {
    if (!(value >= 0) || std::isinf(value))
      throw OptionError(name + ": expected numbers of 0 or more, found " + std::to_string(value));
    sum += value;
  }
  if (!(sum > 0)) throw OptionError(name + ": all numbers are 0; give at least one vertex a positive one");
  if (std::isinf(sum))
    throw OptionError(name + ": the sum is too large for a double; scale the numbers down");
  std::vector<double> scaled(values.begin(), values.end());
  for (double& value : scaled) value /= sum;
  return scaled;
}

template <class S>
std::vector<double> reciprocals(std::span<const double> out_weights, std::uint64_t num_vertices) {
  require(out_weights.size() == num_vertices, "out_weights has one entry for each vertex");
  std::vector<double> result(num_vertices);
  const auto n = static_cast<std::int64_t>(num_vertices);
  std::int64_t without = n;  // the first vertex that has no reciprocal
#pragma omp parallel for reduction(min : without)
  for (std::int64_t v = 0; v < n; ++v) {
    if (out_weights[v] == 0) continue;
    const S reciprocal = static_cast<S>(1 / out_weights[v]);
    if (!std::isnormal(reciprocal) || !std::isfinite(out_weights[v])) without = std::min(without, v);
    result[v] = static_cast<double>(reciprocal);
  }
  if (without < n)
    throw InputError(fmt::format(
        "the out-weights of a node add up to {}, which has no reciprocal in {}scale the weights",
        std::abs(out_weights[without]), sizeof(S) == 4 ? "f32; use --precision f64 or " : "f64; "));
  return result;
}

template std::vector<double> reciprocals<float>(std::span<const double>, std::uint64_t);
template std::vector<double> reciprocals<double>(std::span<const double>, std::uint64_t);

}  // namespace tessera
