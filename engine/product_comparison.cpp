#include "engine/product_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "engine/perf_table.hpp"
#include "kernels/base/error.hpp"

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

/// Rows of A x, and what rounding to S may change in any order of summation: with n elements, n + 2 roundings
/// (of products, sums, and values) of the sum of absolute products (Higham, chapter 3).
template <class S>
struct Oracle {
  std::vector<double> y, bound;
  /// Throws InputError for a matrix whose values or products S cannot hold.
  Oracle(const CsrView<double>& a, const std::vector<double>& x) : y(a.num_rows), bound(a.num_rows) {
    constexpr double kUnit = std::numeric_limits<S>::epsilon() / 2, kLargest = std::numeric_limits<S>::max();
    for (std::uint64_t row = 0; row < a.num_rows; ++row) {
      long double sum = 0, absolute = 0;
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
        const double value = a.values == nullptr ? 1.0 : a.values[k];
        const long double product = static_cast<long double>(value) * x[a.col_indices[k]];
        sum += product;
        absolute += std::abs(product);
      }
      if (absolute > kLargest)
        throw InputError(fmt::format("the values of row {} are too large for {}; {}scale them towards 1",
                                     row + 1, sizeof(S) == 4 ? "f32" : "f64",
                                     sizeof(S) == 4 ? "use --precision f64 or " : ""));
      const double roundings = static_cast<double>(row_length(a, row)) + 2;
      y[row] = static_cast<double>(sum);
      bound[row] = roundings * kUnit * static_cast<double>(absolute) + std::numeric_limits<S>::min();
    }
  }
  double largest_error(const std::vector<double>& found) const {
    double largest = 0;
    for (std::uint64_t row = 0; row < y.size(); ++row) {
      const double error = std::abs(found[row] - y[row]) / bound[row];
      largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
    }
    return largest;
  }
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Null, and `refusal` says why, where the form would be too large.
template <class S>
std::unique_ptr<MatrixProduct<S>> build(ProductMeasurement& result, const ProductFactory<S>& make,
                                        Backend<S>& backend) {
  try {
    const auto start = std::chrono::steady_clock::now();
    auto product = make(result.name);
    backend.synchronize();
    result.build_seconds = seconds_since(start);
    return product;
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

template <class S>
void measure(ProductMeasurement& result, MatrixProduct<S>& product, const std::vector<double>& x,
             const std::optional<Oracle<S>>& oracle, Backend<S>& backend, const ComparisonOptions& options) {
  constexpr int kWarmUps = 2;
  result.stats = product.stats();
  result.bytes_moved = result.stats.bytes + product.vector_bytes();
  product.set_x(x);
  for (int i = 0; i < kWarmUps; ++i) product.run();
  if (oracle) result.largest_error = oracle->largest_error(product.y());
  const std::vector<double> seconds = time_product(result.name, product, backend, options);
  result.median_seconds = seconds[seconds.size() / 2];
  result.smallest_seconds = seconds.front();
  result.largest_seconds = seconds.back();
}

}  // namespace

template <class S>
std::vector<ProductMeasurement> compare_products(const std::vector<std::string>& names,
                                                 const ProductFactory<S>& make, const CsrView<double>& matrix,
                                                 Backend<S>& backend, const ComparisonOptions& options) {
  default_perf_table();  // read once, which is no form's work
  const std::vector<double> x = test_vector(matrix.num_cols);
  std::optional<Oracle<S>> oracle;
  if (options.check) oracle.emplace(matrix, x);
  std::vector<ProductMeasurement> results;
  for (const std::string& name : names) {
    if (options.progress) options.progress(name);
    ProductMeasurement result;
    result.name = name;
    if (const auto product = build<S>(result, make, backend))
      measure(result, *product, x, oracle, backend, options);
    results.push_back(std::move(result));
  }
  return results;
}

ComparisonOptions trial_options(std::function<void(const std::string& name)> progress) {
  constexpr int kRepeat = 300;
  constexpr double kMostSeconds = 0.05;
  return {.repeat = kRepeat, .most_seconds = kMostSeconds, .check = false, .progress = std::move(progress)};
}

const ProductMeasurement* fastest(std::span<const ProductMeasurement> results) {
  const ProductMeasurement* best = nullptr;
  for (const ProductMeasurement& m : results)
    if (m.refusal.empty() && m.is_right() && (best == nullptr || m.median_seconds < best->median_seconds))
      best = &m;
  return best;
}

template std::vector<ProductMeasurement> compare_products(const std::vector<std::string>&,
                                                          const ProductFactory<float>&,
                                                          const CsrView<double>&, Backend<float>&,
                                                          const ComparisonOptions&);
template std::vector<ProductMeasurement> compare_products(const std::vector<std::string>&,
                                                          const ProductFactory<double>&,
                                                          const CsrView<double>&, Backend<double>&,
                                                          const ComparisonOptions&);

}  // namespace tessera
