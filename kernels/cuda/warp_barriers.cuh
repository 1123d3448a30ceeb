// Barriers of some warps of a block, by number from 1 on; 0 is that of __syncthreads().
#pragma once
#include <cuda_runtime.h>

namespace tessera::cuda {

/// Until num_threads have come here; whole warps call.
__device__ inline void wait_at(unsigned number, unsigned num_threads) {
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(num_threads) : "memory");
}

}  // namespace tessera::cuda
