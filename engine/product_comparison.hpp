// Forms of a product side by side: each is built, checked against a plain sum in double, and timed.
// Used by `tessera spmv` and `tessera batch`.
#pragma once
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/matrix_product.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

struct ProductMeasurement {
  std::string name;
  std::string refusal;  ///< why the form was not built; then nothing below holds but refused_as
  ErrorCategory refused_as = ErrorCategory::resource;  ///< or usage: the matrix does not suit the form
  double build_seconds = 0;
  double median_seconds = 0, smallest_seconds = 0, largest_seconds = 0;  ///< of one product
  std::size_t num_timed = 0;                                             ///< products
  FormatStats stats;
  std::uint64_t bytes_moved = 0;  ///< matrix, x and y once
  double largest_error = 0;       ///< over the bound for sums in any order: at most 1 is right
  bool is_right() const { return largest_error <= 1; }
};

/// Makes the product of this name; throws OptionError when the matrix does not suit it, ResourceError when it
/// would be too large.
template <class S>
using ProductFactory = std::function<std::unique_ptr<MatrixProduct<S>>(const std::string& name)>;

struct ComparisonOptions {
  int repeat = 500;  ///< products that are timed, after two that are not
  /// After which no more products of one form are begun, when three have been timed.
  double most_seconds = std::numeric_limits<double>::infinity();
  /// Called with a name before its turn and now and then while it is timed; may throw.
  std::function<void(const std::string& name)> progress;
};
/// For a choice by trial: less time a form than loading a matrix takes.
ComparisonOptions trial_options(std::function<void(const std::string& name)> progress = nullptr);

template <class S>
class ProductComparison {
 public:
  /// Computes what every product is checked against. Throws InputError for a matrix that S cannot hold.
  explicit ProductComparison(const CsrView<double>& matrix);
  /// Once for each of `names`, in order; each has to be the product with the matrix.
  std::vector<ProductMeasurement> measure(const std::vector<std::string>& names,
                                          const ProductFactory<S>& make, Backend<S>& backend,
                                          const ComparisonOptions& options = {}) const;

 private:
  void measure_one(ProductMeasurement& result, MatrixProduct<S>& product, Backend<S>& backend,
                   const ComparisonOptions& options) const;
  double largest_error(const std::vector<double>& found) const;

  /// Columns, rows, rows: y = A x, and what rounding to S may change in any order of summation: with n
  /// elements, n + 2 roundings (of products, sums, and values) of the sum of absolute products (Higham,
  /// chapter 3).
  std::vector<double> x_, y_, bound_;
};

/// Null where all were refused or wrong.
const ProductMeasurement* fastest(std::span<const ProductMeasurement> results);

}  // namespace tessera
