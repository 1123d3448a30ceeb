// Sums of all elements up to each. Up to some million of them a device adds up in one launch that begins as
// the one before it ends: CUB takes two that do not, and small graphs have many such sums.
#pragma once
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/atomic>
#include <type_traits>

#include "kernels/cuda/build_kernels.cuh"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/sum_words.hpp"

namespace tessera::cuda {

inline constexpr unsigned kRunningSumThreads = 256;
/// Elements of a thread, and of a block.
template <class T>
inline constexpr unsigned kSumEach = 64 / sizeof(T);
template <class T>
inline constexpr unsigned kSumElements = kSumEach<T>* kRunningSumThreads;
/// That are added up in one launch: each block looks at all before it, so that CUB is for more.
template <class T>
inline constexpr std::uint64_t kMostSummed = std::uint64_t{SumWords::kMostBlocks} * kSumElements<T>;

/// What blocks tell those behind them: their sums, of 32 or 64 bits.
template <class T>
class ToldSums {
 public:
  __device__ explicit ToldSums(const SumWords& words) : words_(words) {}

  __device__ void tell(std::uint32_t block, T sum) const {
#pragma unroll
    for (unsigned half = 0; half < kHalves; ++half)
      word(block, half)
          .store(std::uint64_t{words_.launch} << 32 |
                     static_cast<std::uint32_t>(std::uint64_t{sum} >> 32 * half),
                 ::cuda::memory_order_relaxed);
  }
  /// Waits until the block has told it.
  __device__ T told(std::uint32_t block) const {
    std::uint64_t sum = 0;
#pragma unroll
    for (unsigned half = 0; half < kHalves; ++half) {
      unsigned long long found = 0;
      do found = word(block, half).load(::cuda::memory_order_relaxed);
      while (found >> 32 != words_.launch);
      sum |= std::uint64_t{static_cast<std::uint32_t>(found)} << 32 * half;
    }
    return static_cast<T>(sum);
  }

 private:
  static constexpr unsigned kHalves = sizeof(T) / sizeof(std::uint32_t);
  static_assert(std::is_unsigned_v<T> && (kHalves == 1 || kHalves == 2));
  using Word = ::cuda::atomic_ref<unsigned long long, ::cuda::thread_scope_device>;
  __device__ Word word(std::uint32_t block, unsigned half) const {
    return Word(words_.words[half * SumWords::kMostBlocks + block]);
  }

  const SumWords& words_;
};

/// What sees no sums.
struct SeeNoSums {
  __host__ __device__ void operator()(std::uint64_t, std::uint64_t) const {}
};

/// Each block tells its sum and waits for those of all blocks before: no block does so for one behind it, and
/// a device starts blocks in their order, as CUB's scans take it to, too.
template <class T, class ValueOf, class See>
__global__ void __launch_bounds__(kRunningSumThreads, kBlocksBesideOthers)
    sum_up_kernel(std::uint64_t count, ValueOf value_of, T* sums, See see, SumWords words) {
  wait_for_kernels_before();
  constexpr unsigned kEach = kSumEach<T>;
  using Exchange = cub::BlockExchange<T, kRunningSumThreads, kEach>;
  using Scan = cub::BlockScan<T, kRunningSumThreads>;
  using Reduce = cub::BlockReduce<T, kRunningSumThreads>;
  __shared__ union {
    typename Exchange::TempStorage exchange;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
  } scratch;
  __shared__ T before;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kSumElements<T> + threadIdx.x;
  const auto element = [=](unsigned i) { return first + i * kRunningSumThreads; };
  T values[kEach];
#pragma unroll
  for (unsigned i = 0; i < kEach; ++i) values[i] = element(i) < count ? value_of(element(i)) : 0;
  Exchange(scratch.exchange).StripedToBlocked(values, values);
  __syncthreads();
  T sum;
  Scan(scratch.scan).InclusiveSum(values, values, sum);
  const ToldSums<T> told(words);
  if (threadIdx.x == 0) told.tell(blockIdx.x, sum);
  sum = 0;
  for (std::uint32_t b = threadIdx.x; b < blockIdx.x; b += kRunningSumThreads) sum += told.told(b);
  __syncthreads();
  sum = Reduce(scratch.reduce).Sum(sum);
  if (threadIdx.x == 0) before = sum;
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kEach; ++i) values[i] += before;
  Exchange(scratch.exchange).BlockedToStriped(values, values);
#pragma unroll
  for (unsigned i = 0; i < kEach; ++i) {
    if (element(i) >= count) break;
    if (sums != nullptr) sums[element(i)] = values[i];
    see(element(i), values[i]);
  }
}

template <class T, class See>
struct SeeSums {
  const T* sums;
  See see;
  __host__ __device__ void operator()(std::uint64_t i) const { see(i, sums[i]); }
};

/// sums[i]: value_of(0) + ... + value_of(i), for all i < count, in numbers T of 32 or 64 bits. Where value i
/// lies sum i may be stored. Calls see(i, sum) with each. sums: null only as sum_up_seen() has it.
template <class T, class Memory, class ValueOf, class See = SeeNoSums>
void sum_up(std::uint64_t count, const ValueOf& value_of, T* sums, const See& see = {}) {
  if (count == 0) return;
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    if (count <= kMostSummed<T>) {
      launch_early(sum_up_kernel<T, ValueOf, See>,
                   static_cast<unsigned>(ceil_div<std::uint64_t>(count, kSumElements<T>)), kRunningSumThreads,
                   0, count, value_of, sums, see, SumWords::next());
      return;
    }
    const auto values =
        thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0), value_of);
    Memory::with_scratch([&](void* scratch, std::size_t& num_bytes) {
      return cub::DeviceScan::InclusiveSum(scratch, num_bytes, values, sums, count);
    });
    if constexpr (!std::is_same_v<See, SeeNoSums>) Memory::each(count, SeeSums<T, See>{sums, see});
  } else {
    T sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      sum += value_of(i);
      if (sums != nullptr) sums[i] = sum;
      see(i, sum);
    }
  }
}

/// Of at most kMostSummed<T>: see(i, sum) alone.
template <class T, class Memory, class ValueOf, class See>
void sum_up_seen(std::uint64_t count, const ValueOf& value_of, const See& see) {
  require(count <= kMostSummed<T>, "so few are added up in one launch");
  sum_up<T, Memory>(count, value_of, static_cast<T*>(nullptr), see);
}

template <class T>
struct LoadValue {
  const T* values;
  __host__ __device__ T operator()(std::uint64_t i) const { return values[i]; }
};

/// Of an array, there or elsewhere.
template <class Memory, class T>
void sum_up(const BuildVector<Memory, T>& values, BuildVector<Memory, T>& sums) {
  sum_up<T, Memory>(values.size(), LoadValue<T>{values.data()}, sums.data());
}
template <class Memory, class T>
void sum_up(BuildVector<Memory, T>& values) {
  sum_up(values, values);
}

}  // namespace tessera::cuda
