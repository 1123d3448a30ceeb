// Elements that become items, most of them one, some several: numbered, so that the items of each can be
// written side by side.
#pragma once
#include <cub/block/block_scan.cuh>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"

namespace tessera::cuda {

inline constexpr unsigned kExpandThreads = 256, kExpandRounds = 4,
                          kExpandElements = kExpandRounds * kExpandThreads;  // of a block

/// items_of_block[b]: of the elements from b * kExpandElements on.
template <class Load, class SizeOf, class See>
__global__ void __launch_bounds__(kExpandThreads)
    count_items_kernel(std::uint64_t count, Load load, SizeOf size_of, See see,
                       std::uint32_t* items_of_block) {
  __shared__ std::uint32_t sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kExpandElements + threadIdx.x;
  decltype(load(first)) elements[kExpandRounds];
#pragma unroll
  for (unsigned round = 0; round < kExpandRounds; ++round) {
    const std::uint64_t e = first + round * kExpandThreads;
    elements[round] = load(e < count ? e : count - 1);
  }
  std::uint32_t mine = 0;
#pragma unroll
  for (unsigned round = 0; round < kExpandRounds; ++round) {
    if (first + round * kExpandThreads >= count) break;
    const std::uint32_t size = size_of(elements[round]);
    see(elements[round], size);
    mine += size;
  }
  mine = __reduce_add_sync(~0u, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) items_of_block[blockIdx.x] = sum;
}

/// ends[b]: items of the elements in all blocks up to b.
template <class Load, class SizeOf, class Body>
__global__ void __launch_bounds__(kExpandThreads)
    each_expanded_kernel(std::uint64_t count, Load load, SizeOf size_of, const std::uint32_t* ends,
                         Body body) {
  using Scan = cub::BlockScan<std::uint32_t, kExpandThreads>;
  __shared__ typename Scan::TempStorage scratch;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kExpandElements + threadIdx.x;
  decltype(load(first)) elements[kExpandRounds];
  bool is_one_each = true;
#pragma unroll
  for (unsigned round = 0; round < kExpandRounds; ++round) {
    const std::uint64_t e = first + round * kExpandThreads;
    elements[round] = load(e < count ? e : count - 1);
  }
#pragma unroll
  for (unsigned round = 0; round < kExpandRounds; ++round) is_one_each &= size_of(elements[round]) == 1;
  is_one_each = __syncthreads_and(is_one_each) != 0;
  std::uint32_t before = blockIdx.x == 0 ? 0 : ends[blockIdx.x - 1];
#pragma unroll
  for (unsigned round = 0; round < kExpandRounds; ++round) {
    const bool is_element = first + round * kExpandThreads < count;
    std::uint32_t own = threadIdx.x, all = kExpandThreads;
    if (!is_one_each) {
      Scan(scratch).ExclusiveSum(is_element ? size_of(elements[round]) : 0, own, all);
      __syncthreads();
    }
    if (is_element) body(elements[round], std::uint64_t{before} + own);
    before += all;
  }
}

/// Items up to each block of elements, the last number that of all: load(e) of element e < `count` becomes
/// size_of() that, and see() is called with both. At least one element, and fewer than 2^32 items.
template <class Memory, class Load, class SizeOf, class See>
BuildVector<Memory, std::uint32_t> item_ends(std::uint64_t count, Load load, SizeOf size_of, See see) {
  BuildVector<Memory, std::uint32_t> ends(ceil_div<std::uint64_t>(count, kExpandElements));
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    count_items_kernel<<<static_cast<unsigned>(ends.size()), kExpandThreads>>>(count, load, size_of, see,
                                                                               ends.data());
    TESSERA_CUDA_CALL(cudaGetLastError());
    sum_up(ends);
  } else {
    std::uint32_t sum = 0;
    for (std::uint64_t e = 0; e < count; ++e) {
      const auto element = load(e);
      const std::uint32_t size = size_of(element);
      see(element, size);
      ends.data()[e / kExpandElements] = sum += size;
    }
  }
  return ends;
}

/// body(load(e), the number of its first item) for all elements. ends: of item_ends().
template <class Memory, class Load, class SizeOf, class Body>
void each_expanded(std::uint64_t count, Load load, SizeOf size_of,
                   const BuildVector<Memory, std::uint32_t>& ends, Body body) {
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    each_expanded_kernel<<<static_cast<unsigned>(ends.size()), kExpandThreads>>>(count, load, size_of,
                                                                                 ends.data(), body);
    TESSERA_CUDA_CALL(cudaGetLastError());
  } else {
    std::uint64_t first = 0;
    for (std::uint64_t e = 0; e < count; ++e) {
      if (e > 0 && e % kExpandElements == 0) first = ends.data()[e / kExpandElements - 1];
      const auto element = load(e);
      body(element, first);
      first += size_of(element);
    }
  }
}

}  // namespace tessera::cuda
