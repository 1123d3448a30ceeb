// The elements of an array that no bit marks, in their order. Bits are counted by words, which is less work
// than a look at each element.
#pragma once
#include "kernels/cuda/build_memory.cuh"

namespace tessera::cuda {

inline constexpr unsigned kMarkThreads = 256, kMarkLoads = 8, kMarkElements = kMarkThreads * kMarkLoads,
                          kMarkWords = kMarkElements / 32;  // of a block

/// A bit for each of `count` elements; what is behind them counts as marked.
struct ElementMarks {
  const std::uint32_t* words;
  std::uint64_t count;

  __device__ std::uint32_t unmarked(std::uint64_t word) const {
    const std::uint64_t first = word * 32;
    if (first >= count) return 0;
    return ~words[word] & (count - first < 32 ? (1u << (count - first)) - 1 : ~0u);
  }
};

/// ends[b]: unmarked elements of the kMarkElements from b * kMarkElements on; a warp each.
inline __global__ void __launch_bounds__(kMarkThreads)
    count_unmarked_kernel(ElementMarks marks, std::uint64_t num_blocks, std::uint32_t* ends) {
  static_assert(kMarkWords == 64);
  const std::uint64_t block = (std::uint64_t{blockIdx.x} * kMarkThreads + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  if (block >= num_blocks) return;
  const std::uint64_t word = block * kMarkWords + lane;
  const int sum = __reduce_add_sync(~0u, __popc(marks.unmarked(word)) + __popc(marks.unmarked(word + 32)));
  if (lane == 0) ends[block] = static_cast<std::uint32_t>(sum);
}

/// ends[b]: unmarked elements up to block b.
inline __global__ void __launch_bounds__(kMarkThreads)
    copy_unmarked_kernel(const std::uint32_t* from, ElementMarks marks, const std::uint32_t* ends,
                         std::uint32_t* to) {
  __shared__ std::uint32_t words[kMarkWords], before[kMarkWords];
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kMarkElements;
  std::uint32_t elements[kMarkLoads];
#pragma unroll
  for (unsigned i = 0; i < kMarkLoads; ++i)
    elements[i] = from[min(first + i * kMarkThreads + threadIdx.x, marks.count - 1)];
  if (threadIdx.x < 32) {  // two words a lane
    const std::uint64_t word = std::uint64_t{blockIdx.x} * kMarkWords + 2 * threadIdx.x;
    const std::uint32_t lower = marks.unmarked(word), upper = marks.unmarked(word + 1),
                        both = __popc(lower) + __popc(upper);
    std::uint32_t sum = both;
    for (unsigned step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(~0u, sum, step);
      if (threadIdx.x >= step) sum += other;
    }
    const std::uint32_t base = (blockIdx.x == 0 ? 0 : ends[blockIdx.x - 1]) + sum - both;
    words[2 * threadIdx.x] = lower;
    words[2 * threadIdx.x + 1] = upper;
    before[2 * threadIdx.x] = base;
    before[2 * threadIdx.x + 1] = base + __popc(lower);
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kMarkLoads; ++i) {
    const unsigned word = (i * kMarkThreads + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (words[word] >> lane & 1) to[before[word] + __popc(words[word] & ((1u << lane) - 1))] = elements[i];
  }
}

/// marks: a bit for each element. Fewer than 2^32 elements.
inline BuildVector<DeviceMemory, std::uint32_t> unmarked_elements(
    const BuildVector<DeviceMemory, std::uint32_t>& elements, const std::uint32_t* marks) {
  if (elements.empty()) return {};
  const ElementMarks all{marks, elements.size()};
  const std::uint64_t num_blocks = ceil_div<std::uint64_t>(elements.size(), kMarkElements);
  BuildVector<DeviceMemory, std::uint32_t> ends(num_blocks);
  count_unmarked_kernel<<<static_cast<unsigned>(ceil_div<std::uint64_t>(num_blocks, kMarkThreads / 32)),
                          kMarkThreads>>>(all, num_blocks, ends.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  sum_up(ends);
  BuildVector<DeviceMemory, std::uint32_t> result(DeviceMemory::read(ends.data() + num_blocks - 1));
  copy_unmarked_kernel<<<static_cast<unsigned>(num_blocks), kMarkThreads>>>(elements.data(), all, ends.data(),
                                                                            result.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  return result;
}

}  // namespace tessera::cuda
