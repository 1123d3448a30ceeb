// The elements of an array that no bit marks, in their order. Bits are counted by words, which is less work
// than a look at each element.
#pragma once
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/running_sums.cuh"
#include "kernels/cuda/side_stream.cuh"

namespace tessera::cuda {

inline constexpr unsigned kMarkThreads = 256, kMarkLoads = 8, kMarkElements = kMarkThreads * kMarkLoads,
                          kMarkWords = kMarkElements / 32;  // of a part

/// Parts of a block, and of many, as each block adds to the counts of all ranges.
inline constexpr unsigned kMarkParts = 4, kManyMarkPartsEach = 16;
inline constexpr std::uint64_t kManyMarkParts = 1u << 15;

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

/// ends[p]: unmarked elements of part p; a warp each.
inline __global__ void __launch_bounds__(kMarkThreads)
    count_unmarked_kernel(ElementMarks marks, std::uint64_t num_parts, std::uint32_t* ends) {
  wait_for_kernels_before();
  static_assert(kMarkWords == 64);
  const std::uint64_t part = (std::uint64_t{blockIdx.x} * kMarkThreads + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  if (part >= num_parts) return;
  const std::uint64_t word = part * kMarkWords + lane;
  const int sum = __reduce_add_sync(~0u, __popc(marks.unmarked(word)) + __popc(marks.unmarked(word + 32)));
  if (lane == 0) ends[part] = static_cast<std::uint32_t>(sum);
}

/// Adds how many elements are in each range of 2^shift values.
struct RangeCounts {
  static constexpr std::uint32_t kMost = 1024;
  unsigned shift;
  std::uint32_t num_ranges;  ///< up to kMost; 0: none are counted
  std::uint32_t* counts;
};

/// A part of the elements: kMarkElements of them.
struct UnmarkedPart {
  std::uint32_t words[kMarkWords], before[kMarkWords];

  /// For a warp, two words a lane. end_before: unmarked elements of all parts before.
  __device__ void find(const ElementMarks& marks, std::uint64_t first_word, std::uint32_t end_before) {
    const unsigned lane = threadIdx.x % 32;
    const std::uint64_t word = first_word + 2 * lane;
    const std::uint32_t lower = marks.unmarked(word), upper = marks.unmarked(word + 1),
                        both = __popc(lower) + __popc(upper);
    std::uint32_t sum = both;
    for (unsigned step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(~0u, sum, step);
      if (lane >= step) sum += other;
    }
    words[2 * lane] = lower;
    words[2 * lane + 1] = upper;
    before[2 * lane] = end_before + sum - both;
    before[2 * lane + 1] = end_before + sum - both + __popc(lower);
  }
};

/// ends[p]: unmarked elements up to part p. A block has some parts.
inline __global__ void __launch_bounds__(kMarkThreads)
    copy_unmarked_kernel(const std::uint32_t* from, ElementMarks marks, std::uint64_t num_parts,
                         unsigned parts_of_block, const std::uint32_t* ends, std::uint32_t* to,
                         RangeCounts ranges) {
  wait_for_kernels_before();
  __shared__ UnmarkedPart unmarked;
  __shared__ std::uint32_t in_ranges[RangeCounts::kMost];
  for (unsigned i = threadIdx.x; i < ranges.num_ranges; i += kMarkThreads) in_ranges[i] = 0;
  const std::uint64_t end_part = min((std::uint64_t{blockIdx.x} + 1) * parts_of_block, num_parts);
  for (std::uint64_t part = std::uint64_t{blockIdx.x} * parts_of_block; part < end_part; ++part) {
    std::uint32_t elements[kMarkLoads];
#pragma unroll
    for (unsigned i = 0; i < kMarkLoads; ++i)
      elements[i] = from[min(part * kMarkElements + i * kMarkThreads + threadIdx.x, marks.count - 1)];
    __syncthreads();
    if (threadIdx.x < 32) unmarked.find(marks, part * kMarkWords, part == 0 ? 0 : ends[part - 1]);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < kMarkLoads; ++i) {
      const unsigned word = (i * kMarkThreads + threadIdx.x) / 32, lane = threadIdx.x % 32;
      const std::uint32_t bits = unmarked.words[word];
      if ((bits >> lane & 1) == 0) continue;
      to[unmarked.before[word] + __popc(bits & ((1u << lane) - 1))] = elements[i];
      if (ranges.num_ranges > 0) atomicAdd(in_ranges + (elements[i] >> ranges.shift), 1u);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < ranges.num_ranges; i += kMarkThreads)
    if (in_ranges[i] > 0) atomicAdd(ranges.counts + i, in_ranges[i]);
}

/// What is beyond this share of the room that a result was given lies in memory in vain, and is given back.
inline constexpr std::uint64_t kRoomToSpare = 8;

/// elements: freed as they are copied. marks: a bit for each. Fewer than 2^32 elements. ranges: of the
/// result. The host hears how many there are beside their copy and what meanwhile() launches; so there is
/// room for all elements at first.
template <class F>
BuildVector<DeviceMemory, std::uint32_t> unmarked_elements(
    BuildVector<DeviceMemory, std::uint32_t>&& elements, const std::uint32_t* marks,
    const RangeCounts& ranges, SideStream<DeviceMemory>& side, const F& meanwhile) {
  require(ranges.num_ranges <= RangeCounts::kMost, "a block counts elements of so many ranges");
  if (elements.empty()) {
    meanwhile();
    return {};
  }
  const ElementMarks all{marks, elements.size()};
  const std::uint64_t num_parts = ceil_div<std::uint64_t>(elements.size(), kMarkElements);
  BuildVector<DeviceMemory, std::uint32_t> ends(num_parts), result(elements.size());
  launch_early(count_unmarked_kernel,
               static_cast<unsigned>(ceil_div<std::uint64_t>(num_parts, kMarkThreads / 32)), kMarkThreads, 0,
               all, num_parts, ends.data());
  sum_up(ends);
  const unsigned parts_of_block = num_parts < kManyMarkParts ? kMarkParts : kManyMarkPartsEach;
  const std::uint32_t count = side.to_host(ends.data() + num_parts - 1, 1, [&] {
    launch_early(copy_unmarked_kernel,
                 static_cast<unsigned>(ceil_div<std::uint64_t>(num_parts, parts_of_block)), kMarkThreads, 0,
                 elements.data(), all, num_parts, parts_of_block, ends.data(), result.data(), ranges);
    meanwhile();
  })[0];
  elements = {};
  if (result.size() - count > result.size() / kRoomToSpare) {
    BuildVector<DeviceMemory, std::uint32_t> fitting(count);
    DeviceMemory::copy(result.data(), fitting.data(), count * sizeof(std::uint32_t));
    return fitting;
  }
  result.truncate(count);
  return result;
}

}  // namespace tessera::cuda
