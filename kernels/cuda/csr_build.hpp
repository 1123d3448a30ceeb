// Builds CSR with columns turned into slots where it will be used: on the device.
#pragma once
#include "kernels/csr_build_input.hpp"
#include "kernels/tile_composite.hpp"

namespace tessera::cuda {

/// All Buffers of the result lie in device memory; behind columns and values follow kReadAhead more, of 0.
/// Throws ResourceError when that does not suffice.
template <class S>
CsrMatrix<S> build_csr_on_device(const CsrBuildInput& input);

}  // namespace tessera::cuda
