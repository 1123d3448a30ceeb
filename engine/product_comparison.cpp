#include "engine/product_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <utility>

#include "engine/perf_table.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/seconds_since.hpp"

namespace tessera {
namespace {

/// Numbers of both signs between 0.5 and 1, exact in f32.
std::vector<double> test_vector(std::uint64_t size) {
  std::vector<double> x(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    const double fraction = static_cast<double>(i * 2654435761u % 1024) / 2048;
    x[i] = i % 3 == 0 ? -0.5 - fraction : 0.5 + fraction;
  }
  return x;
}

/// Null, and `refusal` says why, where the matrix does not suit the form or the form would be too large.
template <class S>
std::unique_ptr<MatrixProduct<S>> build(ProductMeasurement& result, const ProductFactory<S>& make,
                                        Backend<S>& backend) {
  try {
    const auto start = std::chrono::steady_clock::now();
    auto product = make(result.name);
    backend.synchronize();
    result.build_seconds = seconds_since(start);
    return product;
  } catch (const OptionError& error) {
    result.refusal = error.what();
    result.refused_as = error.category();
  } catch (const ResourceError& error) {
    result.refusal = error.what();
  } catch (const std::bad_alloc&) {
    result.refusal = "there is not enough memory to build it";
  }
  backend.synchronize();  // throws where it is the device that has failed
  return nullptr;
}

/// Of one product each, in order of size.
template <class S>
std::vector<double> time_product(const std::string& name, MatrixProduct<S>& product, Backend<S>& backend,
                                 const ComparisonOptions& options) {
  constexpr double kBatchSeconds = 0.1, kMostRuns = 50;
  constexpr int kLeastRuns = 3;
  const double batch_seconds = std::min(kBatchSeconds, options.most_seconds);
  const auto start = std::chrono::steady_clock::now();
  const auto is_enough = [&](std::ptrdiff_t runs) {
    return runs >= options.repeat || (runs >= kLeastRuns && seconds_since(start) > options.most_seconds);
  };
  // Some at a time, so that the user can stop it between them.
  std::vector<double> seconds;
  while (!is_enough(std::ssize(seconds))) {
    if (options.progress) options.progress(name);
    const double last = seconds.empty() ? batch_seconds : seconds.back();
    const auto count = static_cast<int>(std::clamp(batch_seconds / last, 1.0, kMostRuns));
    const auto batch = backend.time_runs([&] { product.run(); },
                                         std::min(count, options.repeat - static_cast<int>(seconds.size())));
    seconds.insert(seconds.end(), batch.begin(), batch.end());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace

template <class S>
ProductComparison<S>::ProductComparison(const CsrView<double>& matrix)
    : x_(test_vector(matrix.num_cols)), y_(matrix.num_rows), bound_(matrix.num_rows) {
  constexpr double kUnit = std::numeric_limits<S>::epsilon() / 2, kLargest = std::numeric_limits<S>::max();
  for (std::uint64_t row = 0; row < matrix.num_rows; ++row) {
    long double sum = 0, absolute = 0;
    for (EdgeOffset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
      const double value = matrix.values == nullptr ? 1.0 : matrix.values[k];
      const long double product = static_cast<long double>(value) * x_[matrix.col_indices[k]];
      sum += product;
      absolute += std::abs(product);
    }
    if (absolute > kLargest)
      throw InputError(fmt::format("the values of row {} are too large for {}; {}scale them towards 1",
                                   row + 1, sizeof(S) == 4 ? "f32" : "f64",
                                   sizeof(S) == 4 ? "use --precision f64 or " : ""));
    const double roundings = static_cast<double>(row_length(matrix, row)) + 2;
    y_[row] = static_cast<double>(sum);
    bound_[row] = roundings * kUnit * static_cast<double>(absolute) + std::numeric_limits<S>::min();
  }
}

template <class S>
double ProductComparison<S>::largest_error(const std::vector<double>& found) const {
  double largest = 0;
  for (std::uint64_t row = 0; row < y_.size(); ++row) {
    const double error = std::abs(found[row] - y_[row]) / bound_[row];
    largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
  }
  return largest;
}

template <class S>
void ProductComparison<S>::measure_one(ProductMeasurement& result, MatrixProduct<S>& product,
                                       Backend<S>& backend, const ComparisonOptions& options) const {
  constexpr int kWarmUps = 2;
  result.stats = product.stats();
  result.bytes_moved = result.stats.bytes + product.vector_bytes();
  product.set_x(x_);
  for (int i = 0; i < kWarmUps; ++i) product.run();
  result.largest_error = largest_error(product.y());
  const std::vector<double> seconds = time_product(result.name, product, backend, options);
  result.num_timed = seconds.size();
  result.median_seconds = seconds[seconds.size() / 2];
  result.smallest_seconds = seconds.front();
  result.largest_seconds = seconds.back();
}

template <class S>
std::vector<ProductMeasurement> ProductComparison<S>::measure(const std::vector<std::string>& names,
                                                              const ProductFactory<S>& make,
                                                              Backend<S>& backend,
                                                              const ComparisonOptions& options) const {
  default_perf_table();  // read once, which is no form's work
  std::vector<ProductMeasurement> results;
  for (const std::string& name : names) {
    if (options.progress) options.progress(name);
    ProductMeasurement result;
    result.name = name;
    if (const auto product = build<S>(result, make, backend)) measure_one(result, *product, backend, options);
    results.push_back(std::move(result));
  }
  return results;
}

ComparisonOptions trial_options(std::function<void(const std::string& name)> progress) {
  constexpr int kRepeat = 300;
  constexpr double kMostSeconds = 0.05;
  return {.repeat = kRepeat, .most_seconds = kMostSeconds, .progress = std::move(progress)};
}

const ProductMeasurement* fastest(std::span<const ProductMeasurement> results) {
  const ProductMeasurement* best = nullptr;
  for (const ProductMeasurement& m : results)
    if (m.refusal.empty() && m.is_right() && (best == nullptr || m.median_seconds < best->median_seconds))
      best = &m;
  return best;
}

template class ProductComparison<float>;
template class ProductComparison<double>;

}  // namespace tessera
