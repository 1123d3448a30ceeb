// What the kernels of the formats share: the size of a launch and sums over neighbouring threads.
#pragma once
#include <cstdint>

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::cuda {

inline constexpr unsigned kBlockThreads = 256, kWarpThreads = 32;

/// One thread an item; kernels go on in steps of the whole launch.
inline unsigned blocks_for(std::uint64_t num_threads) {
  constexpr std::uint64_t kMostBlocks = 1u << 20;
  const std::uint64_t blocks = (num_threads + kBlockThreads - 1) / kBlockThreads;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

__device__ inline std::uint64_t thread_index() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t num_threads() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// The sum over kThreads neighbours, a power of two; their first thread gets it. All lanes of the warp call.
template <unsigned kThreads, class S>
__device__ S add_neighbours(S sum) {
#pragma unroll
  for (unsigned distance = kThreads / 2; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance, kThreads);
  return sum;
}

/// Adds `value` to y[row] for each lane, whose rows ascend; lanes of one row are added first, so that a row
/// takes one atomic a warp. kNoRow: nothing. All lanes of the warp call.
inline constexpr std::uint32_t kNoRow = ~std::uint32_t{0};
template <class S>
__device__ void add_by_row(std::uint32_t row, S value, S* y) {
  const unsigned lane = threadIdx.x % kWarpThreads;
#pragma unroll
  for (unsigned distance = 1; distance < kWarpThreads; distance *= 2) {
    const std::uint32_t other_row = __shfl_up_sync(0xffffffffu, row, distance);
    const S other = __shfl_up_sync(0xffffffffu, value, distance);
    if (lane >= distance && other_row == row) value += other;
  }
  const std::uint32_t next_row = __shfl_down_sync(0xffffffffu, row, 1);
  if (row != kNoRow && (lane == kWarpThreads - 1 || next_row != row)) atomicAdd(y + row, value);
}

}  // namespace tessera::cuda
