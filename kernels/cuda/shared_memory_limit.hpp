// Kernels that use more than 48 KB of shared memory a block must be allowed to.
#pragma once
#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

/// What a block may have of shared memory on the device in use.
inline std::size_t most_shared_bytes() {
  int device = 0, num_bytes = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&num_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(num_bytes);
}

/// Launches of kKernel on the device in use may take so many bytes a block from now on. Throws ResourceError
/// where the device has fewer. The limit belongs to the kernel and is never lowered: another thread may be
/// about to launch it with more.
template <auto kKernel>
void allow_shared_bytes(std::size_t num_bytes) {
  constexpr std::size_t kMostDevices = 64;
  static std::array<std::atomic<std::size_t>, kMostDevices> allowed{};
  static std::mutex one_at_a_time;
  int device = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  std::atomic<std::size_t>& most = allowed.at(static_cast<std::size_t>(device));
  if (most >= num_bytes) return;
  const std::lock_guard lock(one_at_a_time);
  if (most >= num_bytes) return;
  const std::size_t of_device = most_shared_bytes();
  if (num_bytes > of_device)
    throw ResourceError("a kernel needs blocks with " + std::to_string(num_bytes) +
                        " bytes of shared memory, and this GPU's have " + std::to_string(of_device) +
                        "; use --kernel csr");
  TESSERA_CUDA_CALL(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(num_bytes)));
  most = num_bytes;
}

}  // namespace tessera::cuda
