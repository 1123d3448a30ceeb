#include "engine/product_comparison.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

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

/// Rows of A x in double, and what rounding to S may change in any order of summation: with n elements,
/// n + 2 roundings (of products, sums, and values) of the sum of absolute products (Higham, chapter 3).
template <class S>
struct Oracle {
  std::vector<double> y, bound;
  Oracle(const CsrView<double>& a, const std::vector<double>& x) : y(a.num_rows, 0), bound(a.num_rows, 0) {
    constexpr double kUnit = std::numeric_limits<S>::epsilon() / 2;
    for (std::uint64_t row = 0; row < a.num_rows; ++row) {
      double absolute = 0;
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
        const double product = (a.values == nullptr ? 1.0 : a.values[k]) * x[a.col_indices[k]];
        y[row] += product;
        absolute += std::abs(product);
      }
      const double roundings = static_cast<double>(row_length(a, row)) + 2;
      bound[row] = roundings * kUnit * absolute + std::numeric_limits<S>::min();
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

template <class S>
void measure(ProductMeasurement& result, const CsrView<double>& matrix, const std::vector<double>& x,
             const Oracle<S>& oracle, Backend<S>& backend, int repeat) {
  constexpr int kWarmUps = 2;
  const auto start = std::chrono::steady_clock::now();
  const auto product = make_product<S>(result.name, matrix, backend);
  backend.synchronize();
  result.build_seconds = seconds_since(start);
  result.stats = product->stats();
  result.bytes_moved = result.stats.bytes + (matrix.num_cols + matrix.num_rows) * sizeof(S);
  product->set_x(x);
  for (int i = 0; i < kWarmUps; ++i) product->run();
  result.largest_error = oracle.largest_error(product->y());
  std::vector<double> seconds = backend.time_runs([&] { product->run(); }, repeat);
  std::sort(seconds.begin(), seconds.end());
  result.median_seconds = seconds[seconds.size() / 2];
  result.smallest_seconds = seconds.front();
  result.largest_seconds = seconds.back();
}

}  // namespace

template <class S>
std::vector<ProductMeasurement> compare_products(const std::vector<std::string>& names,
                                                 const CsrView<double>& matrix, Backend<S>& backend,
                                                 int repeat,
                                                 const std::function<void(const std::string&)>& progress) {
  default_perf_table();  // read once, which is no form's work
  const std::vector<double> x = test_vector(matrix.num_cols);
  const Oracle<S> oracle(matrix, x);
  std::vector<ProductMeasurement> results;
  for (const std::string& name : names) {
    progress(name);
    ProductMeasurement result;
    result.name = name;
    try {
      measure(result, matrix, x, oracle, backend, repeat);
    } catch (const ResourceError& error) {
      result.refusal = error.what();
    }
    results.push_back(std::move(result));
  }
  return results;
}

template std::vector<ProductMeasurement> compare_products(const std::vector<std::string>&,
                                                          const CsrView<double>&, Backend<float>&, int,
                                                          const std::function<void(const std::string&)>&);
template std::vector<ProductMeasurement> compare_products(const std::vector<std::string>&,
                                                          const CsrView<double>&, Backend<double>&, int,
                                                          const std::function<void(const std::string&)>&);

}  // namespace tessera
