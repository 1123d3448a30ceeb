// How often each value is among keys. Additions at random places of a large array are what a device does
// slowest, so keys are dealt by their upper bits first, and counted in shared memory range by range.
#pragma once
#include <type_traits>

#include "kernels/cuda/bin_dealer.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/key_groups.cuh"
#include "kernels/cuda/key_ranges.hpp"

namespace tessera::cuda {

inline constexpr unsigned kCountThreads = 1024, kCountLoads = 8;  // loads of a thread under way together
/// Keys by their bits from `shift` on, to the bits below.
template <class Low>
struct KeysToRanges {
  using Rest = void;
  using Shape = UsualBins;
  static constexpr bool kNeighboursAlike = true;
  const VertexId* keys;
  unsigned shift;
  Low* lows;

  __device__ VertexId key(std::uint64_t i) const { return __ldcs(keys + i); }
  __device__ std::uint32_t bin(VertexId key) const { return key >> shift; }
  __device__ void store(std::uint32_t place, VertexId key) const {
    lows[place] = static_cast<Low>(key & ((1u << shift) - 1));
  }
};

/// Blocks: chunks of ranges, maybe more than there are, and of each the parts of a range, of 2^kCountedBits
/// values, one behind the other: what they all read is still in L2. lows: of 16 or 32 bits, in whole words.
template <class Low>
__global__ void __launch_bounds__(kCountThreads)
    count_ranges_kernel(const Low* lows, SegmentChunks ranges, unsigned shift, std::uint64_t num_values,
                        std::uint32_t* counts) {
  wait_for_kernels_before();
  const unsigned bits = min(shift, kCountedBits), size = 1u << bits, part_bits = shift - bits;
  const std::uint32_t chunk = blockIdx.x >> part_bits, part = blockIdx.x & ((1u << part_bits) - 1),
                      base = part << bits;
  constexpr unsigned kOfWord = sizeof(std::uint32_t) / sizeof(Low);
  extern __shared__ std::uint32_t own[];
  if (!ranges.has(chunk)) return;
  const std::uint32_t range = ranges.segment_of(chunk);
  const Segment given = ranges.elements_of(chunk, range);
  for (unsigned i = threadIdx.x; i < size; i += kCountThreads) own[i] = 0;
  __syncthreads();
  const auto count = [&](std::uint32_t low) {
    if (low - base < size) atomicAdd(own + (low - base), 1u);  // below `base`: very large
  };
  const auto count_word = [&](std::uint32_t word) {
#pragma unroll
    for (unsigned i = 0; i < kOfWord; ++i) count(static_cast<Low>(word >> 16 * i));
  };
  // Whole words, but for keys that share theirs with another chunk.
  const std::uint32_t begin = given.first + given.first % kOfWord, end = given.end - given.end % kOfWord;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(lows);
  std::uint64_t at = begin / kOfWord + threadIdx.x;
  const std::uint64_t behind = end / kOfWord;
  std::uint32_t found[kCountLoads], next[kCountLoads];
  const auto has_all = [&](std::uint64_t first) {
    return first + (kCountLoads - 1) * kCountThreads < behind;
  };
  const auto ask = [&](std::uint64_t first, std::uint32_t(&of)[kCountLoads]) {
#pragma unroll
    for (unsigned j = 0; j < kCountLoads; ++j) of[j] = words[first + j * kCountThreads];
  };
  if (has_all(at)) ask(at, next);
  while (has_all(at)) {
#pragma unroll
    for (unsigned j = 0; j < kCountLoads; ++j) found[j] = next[j];
    at += kCountLoads * kCountThreads;
    if (has_all(at)) ask(at, next);
#pragma unroll
    for (unsigned j = 0; j < kCountLoads; ++j) count_word(found[j]);
  }
  for (; at < behind; at += kCountThreads) count_word(words[at]);
  if (threadIdx.x == 0 && begin > given.first) count(lows[given.first]);
  if (threadIdx.x == 1 && end < given.end) count(lows[end]);
  __syncthreads();
  const std::uint64_t first = (std::uint64_t{range} << shift) + base;
  for (unsigned i = threadIdx.x; i < size; i += kCountThreads)
    if (own[i] > 0 && first + i < num_values) atomicAdd(counts + first + i, own[i]);
}

/// Range r, of 2^shift values, has the keys of segment r. counts: of num_values values, all 0.
template <class Low>
void count_ranges(const Low* lows, const Segments& ranges, unsigned shift, std::uint64_t num_keys,
                  std::uint64_t num_values, std::uint32_t* counts) {
  const unsigned counted = std::min(shift, kCountedBits);
  const std::uint32_t size = 16u << std::max(counted, kCountedBits - 3);  // of a chunk
  const auto before = list_chunks(ranges, size);
  const std::size_t num_bytes = sizeof(std::uint32_t) << counted;
  const auto blocks = static_cast<unsigned>((num_keys / size + ranges.count()) << (shift - counted));
  allow_shared_bytes<count_ranges_kernel<Low>>(num_bytes);
  launch_early(count_ranges_kernel<Low>, blocks, kCountThreads, num_bytes, lows,
               SegmentChunks{ranges, before.data(), size}, shift, num_values, counts);
}

template <class Low>
void count_dealt_keys(const VertexId* keys, std::uint64_t num_keys, std::uint64_t num_values,
                      const KeyRanges& ranges, const std::uint32_t* in_ranges, std::uint32_t* counts) {
  BuildVector<DeviceMemory, Low> lows(num_keys);
  const KeysToRanges<Low> elements{keys, ranges.shift, lows.data()};
  const auto ends = deal_to_bins(
      plan_bins(Segments::whole(num_keys), ranges.count, num_keys, elements, in_ranges), elements);
  count_ranges(lows.data(), Segments::until(ends), ranges.shift, num_keys, num_values, counts);
}

/// As count_keys(), for at least one key and fewer than 2^32. Each of the 2^(shift - kCountedBits) parts of a
/// range reads all of it: 2 of 2^26 values, 4 of 2^27, 32 of 2^30. 2 bytes a key of device memory meanwhile,
/// 4 of more than 2^26 values.
inline void count_many_keys(const VertexId* keys, std::uint64_t num_keys, std::uint64_t num_values,
                            const std::uint32_t* in_ranges, std::uint32_t* counts) {
  const KeyRanges ranges = KeyRanges::of(num_values);
  if (in_ranges == nullptr && are_grouped(num_keys, ranges))
    count_grouped_keys(keys, num_keys, num_values, ranges, counts);
  else if (ranges.count == 0)
    count_ranges(keys, Segments::whole(num_keys), ranges.shift, num_keys, num_values, counts);
  else if (ranges.shift <= 16)
    count_dealt_keys<std::uint16_t>(keys, num_keys, num_values, ranges, in_ranges, counts);
  else
    count_dealt_keys<std::uint32_t>(keys, num_keys, num_values, ranges, in_ranges, counts);
}

/// A functor instead of a lambda, so that it may be used in more than one translation unit.
struct CountKey {
  const VertexId* keys;
  std::uint32_t* counts;
  __host__ __device__ void operator()(std::uint64_t e) const { add_to(counts + keys[e], 1); }
};

/// counts: how often each k < num_values is among the keys, all of which are < num_values; all 0 at first. A
/// device deals keys to ranges, or groups them by these, where there are least_dealt of them. in_ranges: how
/// many are in each of KeyRanges; null: not known.
template <class Memory>
void count_keys(const VertexId* keys, std::uint64_t num_keys, std::uint64_t num_values,
                std::uint64_t least_dealt, const std::uint32_t* in_ranges, std::uint32_t* counts) {
  if constexpr (std::is_same_v<Memory, DeviceMemory>)
    if (num_keys >= least_dealt && num_keys > 0) {
      count_many_keys(keys, num_keys, num_values, in_ranges, counts);
      return;
    }
  Memory::each(num_keys, CountKey{keys, counts});
}

}  // namespace tessera::cuda
