// Copies and stores that say how long the cache of the device is to keep what they touch.
#pragma once
#include "kernels/cuda/cache_policy.hpp"
#include "kernels/cuda/shared_address.cuh"

namespace tessera::cuda {

/// Starts a copy of 16 bytes.
__device__ inline void start_copy(SharedAddress to, const void* from, CachePolicy policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "l"(policy)
               : "memory");
}

__device__ inline void store(float* to, float value, CachePolicy policy) {
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(value), "l"(policy));
}
__device__ inline void store(double* to, double value, CachePolicy policy) {
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(value), "l"(policy));
}

}  // namespace tessera::cuda
