// Kernels that begin while the one before them in the stream ends, on devices that can (compute capability
// 9.0): a launch costs less then, and what a kernel reads that no kernel writes can be on its way.
#pragma once
#include <array>
#include <utility>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/l1_share.hpp"

namespace tessera::cuda {

/// Whatever earlier kernels of the stream write may be read, and what they read written, behind this; in
/// every thread that does so of a kernel that launch_early starts, and in some thread of each of its blocks.
__device__ inline void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// The next kernel of the stream may begin, when all blocks have said so.
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Whether the device can, and the kernels were compiled for one that can: compiled for older ones they do
/// not wait.
template <class Kernel>
bool launches_early(Kernel* kernel) {
  int device = 0, major = 0;
  cudaFuncAttributes compiled{};
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  TESSERA_CUDA_CALL(cudaFuncGetAttributes(&compiled, kernel));
  return major >= 9 && compiled.ptxVersion >= 90;
}

inline int driver_version() {
  int version = 0;
  TESSERA_CUDA_CALL(cudaDriverGetVersion(&version));
  return version;
}

/// On another stream than the default one a kernel begins as ever. shared: L1 gets what it leaves.
template <class... Parameters, class... Arguments>
void launch_early(cudaStream_t stream, SharedPercent shared, void (*kernel)(Parameters...), dim3 blocks,
                  unsigned threads, std::size_t shared_bytes, Arguments&&... arguments) {
  // All GPUs of a process are taken to be alike, and kernels with the same parameters compiled for the same.
  static const bool early = launches_early(kernel);
  std::array<cudaLaunchAttribute, 2> attributes{};
  unsigned num_attributes = 0;
  if (early && stream == nullptr) {
    attributes[num_attributes].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[num_attributes++].val.programmaticStreamSerializationAllowed = 1;
  }
#if CUDART_VERSION >= 12080  // older ones may not know the attribute, nor older drivers under a newer program
  static const bool takes_shares = driver_version() >= 12080;
  if (shared.value > 0 && takes_shares) {
    attributes[num_attributes].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    attributes[num_attributes++].val.sharedMemCarveout = shared.value;
  }
#endif
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = num_attributes;
  TESSERA_CUDA_CALL(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}
template <class... Parameters, class... Arguments>
void launch_early(cudaStream_t stream, void (*kernel)(Parameters...), dim3 blocks, unsigned threads,
                  std::size_t shared_bytes, Arguments&&... arguments) {
  launch_early(stream, SharedPercent{}, kernel, blocks, threads, shared_bytes,
               std::forward<Arguments>(arguments)...);
}
/// On the default stream.
template <class... Parameters, class... Arguments>
void launch_early(SharedPercent shared, void (*kernel)(Parameters...), dim3 blocks, unsigned threads,
                  std::size_t shared_bytes, Arguments&&... arguments) {
  launch_early(nullptr, shared, kernel, blocks, threads, shared_bytes, std::forward<Arguments>(arguments)...);
}
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), dim3 blocks, unsigned threads, std::size_t shared_bytes,
                  Arguments&&... arguments) {
  launch_early(nullptr, SharedPercent{}, kernel, blocks, threads, shared_bytes,
               std::forward<Arguments>(arguments)...);
}

}  // namespace tessera::cuda
