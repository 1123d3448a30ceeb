// The vendor's product of a batch: SpMM of matrices at even distances, each with one column of inputs.
#pragma once
#include <memory>
#include <span>

#include "kernels/formats/sparse_product.hpp"

namespace tessera::cuda {

/// The matrices agree in rows, columns and lengths of rows, else ResourceError says which does not; also
/// where the library is not there.
template <class S>
std::unique_ptr<SparseProduct<S>> make_cusparse_batch(std::span<const CsrView<double>> matrices);

}  // namespace tessera::cuda
