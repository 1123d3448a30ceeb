#include "kernels/cuda/device_memory.hpp"

#include <atomic>
#include <string>

#include "kernels/base/error.hpp"

namespace tessera::cuda {
namespace {

std::atomic<bool> abandoned = false;

}  // namespace

void abandon_device_memory() { abandoned = true; }

std::shared_ptr<void> allocate_device(std::size_t num_bytes) {
  void* memory = nullptr;
  if (num_bytes == 0) return nullptr;
  if (cudaMalloc(&memory, num_bytes) == cudaErrorMemoryAllocation) {
    std::size_t free_bytes = 0, all_bytes = 0;
    (void)cudaGetLastError();
    TESSERA_CUDA_CALL(cudaMemGetInfo(&free_bytes, &all_bytes));
    throw ResourceError("the GPU has " + std::to_string(free_bytes) + " of " + std::to_string(all_bytes) +
                        " bytes free, " + std::to_string(num_bytes) +
                        " more are needed; use --precision f32 or --backend cpu");
  }
  TESSERA_CUDA_CALL(cudaGetLastError());
  return {memory, [](void* pointer) {
            if (!abandoned) (void)cudaFree(pointer);
          }};
}

}  // namespace tessera::cuda
