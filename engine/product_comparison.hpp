// Forms of a product side by side: each is built, checked against a plain sum in double, and timed.
// Used by `tessera spmv` and `tessera batch`.
#pragma once
#include <functional>
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

/// Once for each of `names`, in order; each has to be the product with `matrix`. repeat: products that are
/// timed, after a few that are not. `progress` is called with a name before its turn and now and then while
/// it is timed; it may throw. Throws InputError for a matrix that S cannot hold.
template <class S>
std::vector<ProductMeasurement> compare_products(const std::vector<std::string>& names,
                                                 const ProductFactory<S>& make, const CsrView<double>& matrix,
                                                 Backend<S>& backend, int repeat,
                                                 const std::function<void(const std::string&)>& progress);

}  // namespace tessera
