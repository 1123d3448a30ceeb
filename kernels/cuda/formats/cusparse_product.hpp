// The vendor's products beside ours: cusparse-csr1, -csr2, -coo and -sell (docs/formats.md).
#pragma once
#include <memory>

#include "kernels/formats/sparse_product.hpp"

namespace tessera::cuda {

enum class CusparseKind { csr1, csr2, coo, sell };

/// Columns ascend in every row; at most 2^31 - 1 elements. Throws ResourceError where the library is not
/// there.
template <class S>
std::unique_ptr<SparseProduct<S>> make_cusparse_product(CusparseKind kind, const CsrView<double>& matrix);

}  // namespace tessera::cuda
