// Plain CSR on a device, products of one vector and of several, and steps of walks.
#pragma once
#include <memory>

#include "kernels/backend.hpp"

namespace tessera::cuda {

template <class S>
std::unique_ptr<Matrix<S>> make_csr(CsrMatrix<S> host, unsigned num_multiprocessors);
/// Built on the device (csr_build.hpp).
template <class S>
std::unique_ptr<Matrix<S>> make_built_csr(CsrMatrix<S> built, unsigned num_multiprocessors);

}  // namespace tessera::cuda
