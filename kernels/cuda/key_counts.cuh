// How often each value is among keys. Additions at random places of a large array are what a device does
// slowest, so keys are sorted by their upper bits first, and counted in shared memory range by range.
#pragma once
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"

namespace tessera::cuda {

inline constexpr unsigned kCountThreads = 1024, kCountLoads = 8;  // loads of a thread under way together
/// Bits of what is counted in shared memory at a time, and those that one pass of a radix sort orders.
inline constexpr unsigned kCountedBits = 15, kPassBits = 8;

/// Keys sorted by the bits from `shift` on: range r, of those whose upper bits are r, begins at firsts[r],
/// and its chunks of `chunk` keys at chunks_before[r]; one more of both behind the last.
template <class Key>
struct KeyRanges {
  const Key* keys;
  const std::uint64_t *firsts, *chunks_before;
  std::uint64_t count, chunk;
  unsigned shift;
};

/// Blocks (x: chunks, maybe more than there are, y: parts of a range of 2^kCountedBits values).
template <class Key>
__global__ void __launch_bounds__(kCountThreads)
    count_ranges_kernel(KeyRanges<Key> ranges, std::uint64_t num_values, std::uint32_t* counts) {
  extern __shared__ std::uint32_t own[];
  if (blockIdx.x >= ranges.chunks_before[ranges.count]) return;
  const std::uint64_t range = last_not_above(ranges.chunks_before, ranges.count, blockIdx.x),
                      first =
                          ranges.firsts[range] + (blockIdx.x - ranges.chunks_before[range]) * ranges.chunk,
                      end = min(first + ranges.chunk, ranges.firsts[range + 1]);
  const unsigned bits = min(ranges.shift, kCountedBits), size = 1u << bits;
  const std::uint64_t base = (range << ranges.shift) + (std::uint64_t{blockIdx.y} << bits);
  for (unsigned i = threadIdx.x; i < size; i += kCountThreads) own[i] = 0;
  __syncthreads();
  for (std::uint64_t at = first + threadIdx.x; at < end; at += kCountLoads * kCountThreads) {
    std::uint64_t values[kCountLoads];
#pragma unroll
    for (unsigned j = 0; j < kCountLoads; ++j)
      values[j] = ranges.keys[min(at + j * kCountThreads, end - 1)] - base;  // below `base`: very large
#pragma unroll
    for (unsigned j = 0; j < kCountLoads; ++j)
      if (at + j * kCountThreads < end && values[j] < size) atomicAdd(own + values[j], 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += kCountThreads)
    if (own[i] > 0 && base + i < num_values) atomicAdd(counts + base + i, own[i]);
}

/// As count_keys(), for at least one key. 4 bytes a key of device memory meanwhile, 8 of more than 2^25
/// values.
inline void count_sorted_keys(const VertexId* keys, std::uint64_t num_keys, std::uint64_t num_values,
                              std::uint32_t* counts) {
  const unsigned bits = num_values < 2 ? 0 : bits_for(num_values - 1);
  // Two passes where parts of a range, each of which reads all of its keys, would be too many.
  const unsigned passes = bits <= kCountedBits                   ? 0
                          : bits <= kCountedBits + kPassBits + 2 ? 1
                                                                 : 2,
                 shift = bits - std::min(bits, passes * kPassBits), counted = std::min(shift, kCountedBits);
  BuildVector<DeviceMemory, VertexId> sorted(passes == 0 ? 0 : num_keys);
  if (passes > 0)
    DeviceMemory::with_scratch([&](void* scratch, std::size_t& num_bytes) {
      return cub::DeviceRadixSort::SortKeys(scratch, num_bytes, keys, sorted.data(), num_keys,
                                            static_cast<int>(shift), static_cast<int>(bits));
    });
  const VertexId* ordered = passes == 0 ? keys : sorted.data();
  const std::uint64_t num_ranges = ((num_values - 1) >> shift) + 1,
                      chunk = std::uint64_t{16} << std::max(counted, kCountedBits - 3);
  BuildVector<DeviceMemory, std::uint64_t> firsts(num_ranges + 1), chunks(num_ranges + 1);
  std::uint64_t *first = firsts.data(), *chunks_before = chunks.data();
  const auto first_of = [=] __device__(std::uint64_t range) {
    return range == num_ranges ? num_keys : first_not_below(ordered, num_keys, range << shift);
  };
  DeviceMemory::each(num_ranges + 1, [=] __device__(std::uint64_t range) {
    first[range] = first_of(range);
    chunks_before[range] = range == 0 ? 0 : (first[range] - first_of(range - 1) + chunk - 1) / chunk;
  });
  sum_up(chunks);
  const std::size_t num_bytes = sizeof(std::uint32_t) << counted;
  allow_shared_bytes<count_ranges_kernel<VertexId>>(num_bytes);
  count_ranges_kernel<VertexId>
      <<<dim3(static_cast<unsigned>(num_keys / chunk + num_ranges), 1u << (shift - counted)), kCountThreads,
         num_bytes>>>({ordered, first, chunks_before, num_ranges, chunk, shift}, num_values, counts);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

/// Adds to counts[k], k < num_values, how often k is among the keys, all of which are < num_values. A device
/// sorts them first where there are least_sorted of them.
template <class Memory>
void count_keys(const VertexId* keys, std::uint64_t num_keys, std::uint64_t num_values,
                std::uint64_t least_sorted, std::uint32_t* counts) {
  if constexpr (std::is_same_v<Memory, DeviceMemory>)
    if (num_keys >= least_sorted && num_keys > 0)
      return count_sorted_keys(keys, num_keys, num_values, counts);
  Memory::each(num_keys, [=] __host__ __device__(std::uint64_t e) { add_to(counts + keys[e], 1); });
}

}  // namespace tessera::cuda
