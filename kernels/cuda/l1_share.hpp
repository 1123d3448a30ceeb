// L1 and shared memory are parts of one memory on devices, which is divided kernel by kernel. What a driver
// chooses by itself may be more for shared memory than is used: 102 of 228 KB on an H200 for blocks that need
// 42 (docs/performance.md).
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

/// Percent of the most that shared memory may have; 0: as the driver chooses.
struct SharedPercent {
  unsigned value = 0;
};

/// What blocks_each blocks a multiprocessor of a kernel without dynamic shared memory use. All GPUs of a
/// process are taken to be alike; a wrong share costs time only.
template <class... Parameters>
SharedPercent shared_percent(void (*kernel)(Parameters...), unsigned blocks_each) {
  int device = 0, most = 0, reserved = 0;
  cudaFuncAttributes attributes{};
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
  TESSERA_CUDA_CALL(cudaFuncGetAttributes(&attributes, kernel));
  const std::size_t used = blocks_each * (attributes.sharedSizeBytes + static_cast<std::size_t>(reserved));
  return {static_cast<unsigned>(
      std::clamp<std::size_t>(used * 100 / static_cast<std::size_t>(most) + 1, 1, 100))};
}

}  // namespace tessera::cuda
