// Shared memory by its 32-bit address: the compiler works the address of an array out anew before every use,
// which takes longer than the use.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace tessera::cuda {

using SharedAddress = std::uint32_t;

/// All lanes of a warp call with the same pointer; what a shuffle gives is not worked out anew.
__device__ inline SharedAddress shared_address(const void* pointer) {
  return __shfl_sync(0xffffffffu, static_cast<SharedAddress>(__cvta_generic_to_shared(pointer)), 0);
}

/// The same address, which the compiler does not work out anew before every use.
__device__ inline SharedAddress kept(SharedAddress address) {
  asm("mov.u32 %0, %0;" : "+r"(address));
  return address;
}

/// What other threads or copies write meanwhile is read where this stands in the program.
__device__ inline std::uint32_t load_word(SharedAddress address) {
  std::uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}

/// This and what follows is in the program's order with load_word() alone, not with what is read and written
/// through pointers; __syncwarp() and __syncthreads() stand between threads as usual.
__device__ inline void store_word(SharedAddress address, std::uint32_t word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(word));
}
/// Not waited for, as what a load gives would be.
__device__ inline void set_bits(SharedAddress address, std::uint32_t bits) {
  asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(address), "r"(bits));
}

/// load_word() of what nobody changes that this thread does not wait for otherwise: the compiler may move
/// these loads. In a window one row alone reads what its sum overwrites.
__device__ inline void load_constant(SharedAddress address, float& value) {
  asm("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
}
__device__ inline void load_constant(SharedAddress address, double& value) {
  asm("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address));
}

}  // namespace tessera::cuda
