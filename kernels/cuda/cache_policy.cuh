// Copies and stores that say how long the cache of the device is to keep what they touch. The policies are
// made where they are used, so that the compiler knows them: from registers every copy and store would have
// to wait for them, and the policy that is called normal takes longer for windows than none.
#pragma once
#include "kernels/cuda/shared_address.cuh"

namespace tessera::cuda {

/// Starts a copy of 16 bytes; kOnce: they are the first to make room.
template <bool kOnce>
__device__ inline void start_copy(SharedAddress to, const void* from) {
  if constexpr (kOnce) {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "l"(policy)
                 : "memory");
  } else {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  }
}

/// Stores what is the last to make room.
__device__ inline void store_to_keep(float* to, float value) {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(value), "l"(policy) : "memory");
}
__device__ inline void store_to_keep(double* to, double value) {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(value), "l"(policy) : "memory");
}

}  // namespace tessera::cuda
