// Products of any m x n matrix in every form there is, to be set side by side: the formats of
// kernels/formats and the engine's own kernels. Used by `tessera spmv` and `tessera batch`.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/formats/sparse_product.hpp"

namespace tessera {

/// A matrix in one form where a backend computes, with an input and an output.
template <class S>
class MatrixProduct {
 public:
  virtual ~MatrixProduct() = default;
  virtual FormatStats stats() const = 0;
  virtual std::uint64_t vector_bytes() const = 0;     ///< of x and y
  virtual void set_x(std::span<const double> x) = 0;  ///< num_cols numbers, rounded to S
  virtual void run() = 0;                             ///< may return before it is done
  virtual std::vector<double> y() const = 0;          ///< num_rows numbers
};

struct ProductForm {
  std::string name, summary;
};
/// tile-composite and tile-messages, then the formats of the registry that are there on a device, or on the
/// host.
std::vector<ProductForm> product_forms(bool on_device);

/// Columns ascend in every row. Throws OptionError for an unknown name and for a matrix that does not suit
/// the form, ResourceError when the form would be too large.
template <class S>
std::unique_ptr<MatrixProduct<S>> make_product(const std::string& name, const CsrView<double>& matrix,
                                               Backend<S>& backend);

/// A product that lies where the backend computes, with num_rows and num_cols numbers as y and x.
template <class S>
std::unique_ptr<MatrixProduct<S>> with_vectors(std::unique_ptr<SparseProduct<S>> product,
                                               std::uint64_t num_rows, std::uint64_t num_cols,
                                               Backend<S>& backend);

}  // namespace tessera
