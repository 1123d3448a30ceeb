#include "engine/product_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>

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

template <class S>
void measure(ProductMeasurement& result, MatrixProduct<S>& product, const std::vector<double>& x,
             const Oracle<S>& oracle, Backend<S>& backend, int repeat,
             const std::function<void(const std::string&)>& progress) {
  constexpr int kWarmUps = 2;
  constexpr double kBatchSeconds = 0.1, kMostRuns = 50;
  result.stats = product.stats();
  result.bytes_moved = result.stats.bytes + product.vector_bytes();
  product.set_x(x);
  for (int i = 0; i < kWarmUps; ++i) product.run();
  result.largest_error = oracle.largest_error(product.y());
  // Some at a time, so that the user can stop it between them.
  std::vector<double> seconds;
  while (std::ssize(seconds) < repeat) {
    progress(result.name);
    const double last = seconds.empty() ? kBatchSeconds : seconds.back();
    const auto count = static_cast<int>(std::clamp(kBatchSeconds / last, 1.0, kMostRuns));
    const auto batch =
        backend.time_runs([&] { product.run(); }, std::min(count, repeat - static_cast<int>(seconds.size())));
    seconds.insert(seconds.end(), batch.begin(), batch.end());
  }
  std::sort(seconds.begin(), seconds.end());
  result.median_seconds = seconds[seconds.size() / 2];
  result.smallest_seconds = seconds.front();
  result.largest_seconds = seconds.back();
}

}  // namespace

template <class S>
std::vector<ProductMeasurement> compare_products(const std::vector<std::string>& names,
                                                 const ProductFactory<S>& make, const CsrView<double>& matrix,
                                                 Backend<S>& backend, int repeat,
                                                 const std::function<void(const std::string&)>& progress) {
  default_perf_table();  // read once, which is no form's work
  const std::vector<double> x = test_vector(matrix.num_cols);
  const Oracle<S> oracle(matrix, x);
  std::vector<ProductMeasurement> results;
  for (const std::string& name : names) {
    progress(name);
    ProductMeasurement result;
    result.name = name;
    if (const auto product = build<S>(result, make, backend))
      measure(result, *product, x, oracle, backend, repeat, progress);
    results.push_back(std::move(result));
  }
  return results;
}

template std::vector<ProductMeasurement> compare_products(const std::vector<std::string>&,
                                                          const ProductFactory<float>&,
                                                          const CsrView<double>&, Backend<float>&, int,
                                                          const std::function<void(const std::string&)>&);
template std::vector<ProductMeasurement> compare_products(const std::vector<std::string>&,
                                                          const ProductFactory<double>&,
                                                          const CsrView<double>&, Backend<double>&, int,
                                                          const std::function<void(const std::string&)>&);

}  // namespace tessera
