// Kernels that use more than 48 KB of shared memory a block must be allowed to.
#pragma once
#include <mutex>

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

/// Launches of `kernel` may use so many bytes a block from now on. The limit belongs to the kernel and is
/// never lowered: another thread may be about to launch it with more.
template <class... Parameters>
void allow_shared_bytes(void (*kernel)(Parameters...), std::size_t num_bytes) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  cudaFuncAttributes found{};
  TESSERA_CUDA_CALL(cudaFuncGetAttributes(&found, kernel));
  if (static_cast<std::size_t>(found.maxDynamicSharedSizeBytes) < num_bytes)
    TESSERA_CUDA_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(num_bytes)));
}

}  // namespace tessera::cuda
