// Forms of a product side by side: each is built, checked against a plain sum in double, and timed.
// Used by `tessera spmv` and `tessera batch`.
#pragma once
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/matrix_product.hpp"

namespace tessera {

struct ProductMeasurement {
  std::string name;
  std::string refusal;  ///< why the form was not built; then nothing below holds
  double build_seconds = 0;
  double median_seconds = 0, smallest_seconds = 0, largest_seconds = 0;  ///< of one product
  FormatStats stats;
  std::uint64_t bytes_moved = 0;  ///< matrix, x and y once
  double largest_error = 0;       ///< over the bound for sums in any order: at most 1 is right
  bool is_right() const { return largest_error <= 1; }
};

/// Makes the product of this name; throws ResourceError when it would be too large.
template <class S>
using ProductFactory = std::function<std::unique_ptr<MatrixProduct<S>>(const std::string& name)>;

struct ComparisonOptions {
  int repeat = 500;  ///< products that are timed, after a few that are not
  /// After which no more products of one form are timed, three at least.
  double most_seconds = std::numeric_limits<double>::infinity();
  bool check = true;  ///< else largest_error stays 0
  /// Called with a name before its turn and now and then while it is timed; may throw.
  std::function<void(const std::string& name)> progress;
};

/// Once for each of `names`, in order; each has to be the product with `matrix`. Throws InputError for a
/// matrix that S cannot hold, when it checks.
template <class S>
std::vector<ProductMeasurement> compare_products(const std::vector<std::string>& names,
                                                 const ProductFactory<S>& make, const CsrView<double>& matrix,
                                                 Backend<S>& backend, const ComparisonOptions& options = {});

/// What a choice by trial takes: some products of each form, which nobody checks.
ComparisonOptions trial_options(std::function<void(const std::string& name)> progress = nullptr);
/// Null where all were refused or wrong.
const ProductMeasurement* fastest(std::span<const ProductMeasurement> results);

}  // namespace tessera
