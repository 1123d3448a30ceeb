// Elements of segments that become items, most of them one, some several: numbered, so that the items of each
// can be written side by side.
#pragma once
#include <cub/block/block_scan.cuh>
#include <numeric>
#include <type_traits>
#include <utility>

#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/running_sums.cuh"
#include "kernels/cuda/segment_chunks.cuh"

namespace tessera::cuda {

inline constexpr unsigned kExpandThreads = 256, kExpandRounds = 4, kExpandBatches = 2,
                          kExpandBatch = kExpandRounds * kExpandThreads,
                          kExpandElements = kExpandBatches * kExpandBatch;  // of a block

/// A batch of a block's elements, of one segment: a thread's are all on their way together.
template <class Load>
struct ExpandedBatch {
  using Element = decltype(std::declval<Load>()(std::uint32_t{}, std::uint64_t{}));
  Element elements[kExpandRounds];
  std::uint32_t size;

  /// first < end: of the block's segment.
  __device__ ExpandedBatch(const Load& load, std::uint32_t segment, std::uint32_t first, std::uint32_t end)
      : size(min(end - first, kExpandBatch)) {
#pragma unroll
    for (unsigned round = 0; round < kExpandRounds; ++round)
      elements[round] = load(segment, std::uint64_t{first} + min(place(round), size - 1));
  }
  __device__ static std::uint32_t place(unsigned round) { return round * kExpandThreads + threadIdx.x; }
  __device__ bool has(unsigned round) const { return place(round) < size; }
};

/// items_of_chunk[c], c < num_chunks: of the elements in chunk c, 0 of chunks that there are not.
template <class Load, class SizeOf, class See>
__global__ void __launch_bounds__(kExpandThreads)
    count_items_kernel(SegmentChunks chunks, Load load, SizeOf size_of, See see,
                       std::uint32_t* items_of_chunk, std::uint32_t num_chunks) {
  wait_for_kernels_before();
  __shared__ std::uint32_t sum;
  for (std::uint32_t c = chunks.count() + blockIdx.x * kExpandThreads + threadIdx.x; c < num_chunks;
       c += gridDim.x * kExpandThreads)
    items_of_chunk[c] = 0;
  for (std::uint32_t c = blockIdx.x; chunks.has(c); c += gridDim.x) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const std::uint32_t segment = chunks.segment_of(c);
    const Segment given = chunks.elements_of(c, segment);
    std::uint32_t mine = 0;
    for (std::uint32_t done = 0; done < given.end - given.first; done += kExpandBatch) {
      const ExpandedBatch<Load> batch(load, segment, given.first + done, given.end);
#pragma unroll
      for (unsigned round = 0; round < kExpandRounds; ++round) {
        if (!batch.has(round)) break;
        const std::uint32_t size = size_of(batch.elements[round]);
        see(batch.elements[round], size);
        mine += size;
      }
    }
    mine = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) items_of_chunk[c] = sum;
  }
}

/// ends[c]: items of the elements in all chunks up to c.
template <class Load, class SizeOf, class Body>
__global__ void __launch_bounds__(kExpandThreads)
    each_expanded_kernel(SegmentChunks chunks, Load load, SizeOf size_of, const std::uint32_t* ends,
                         Body body) {
  wait_for_kernels_before();
  using Scan = cub::BlockScan<std::uint32_t, kExpandThreads>;
  __shared__ typename Scan::TempStorage scratch;
  for (std::uint32_t c = blockIdx.x; chunks.has(c); c += gridDim.x) {
    const std::uint32_t segment = chunks.segment_of(c);
    const Segment given = chunks.elements_of(c, segment);
    std::uint32_t before = c == 0 ? 0 : ends[c - 1];
    const bool is_one_each = ends[c] - before == given.end - given.first;  // as none becomes none
    for (std::uint32_t done = 0; done < given.end - given.first; done += kExpandBatch) {
      const ExpandedBatch<Load> batch(load, segment, given.first + done, given.end);
#pragma unroll
      for (unsigned round = 0; round < kExpandRounds; ++round) {
        std::uint32_t own = threadIdx.x, all = kExpandThreads;
        if (!is_one_each) {
          Scan(scratch).ExclusiveSum(batch.has(round) ? size_of(batch.elements[round]) : 0, own, all);
          __syncthreads();
        }
        if (batch.has(round)) body(batch.elements[round], std::uint64_t{before} + own);
        before += all;
      }
    }
  }
}

/// Of an Expansion.
struct ItemsBefore {
  /// Chunks of all segments before each; items up to each chunk.
  const std::uint32_t *chunks_before = nullptr, *ends = nullptr;

  /// s: up to as many as there are segments.
  __host__ __device__ std::uint32_t before_segment(std::uint32_t s) const {
    const std::uint32_t chunks = chunks_before[s];
    return chunks == 0 ? 0 : ends[chunks - 1];
  }
};

/// Of the elements of segments, one segment after the other: load(segment, element) becomes size_of() that,
/// one item at least. Fewer than 2^32 items.
template <class Memory>
class Expansion {
 public:
  template <class T>
  using Vector = BuildVector<Memory, T>;

  /// Calls see() with each element and how many items it becomes. most_elements: of all segments, or more;
  /// not 0. usual_elements: blocks are for so many, and loop where there are more.
  template <class Load, class SizeOf, class See>
  void count(const Vector<Segment>& segments, std::uint64_t most_elements, std::uint64_t usual_elements,
             const Load& load, const SizeOf& size_of, const See& see) {
    if constexpr (std::is_same_v<Memory, DeviceMemory>) {
      before_ = list_chunks(Segments::listed(segments), kExpandElements);
      ends_ = Vector<std::uint32_t>(most_elements / kExpandElements + segments.size());
      num_blocks_ = static_cast<unsigned>(
          std::min<std::uint64_t>(ends_.size(), usual_elements / kExpandElements + segments.size()));
      launch_early(count_items_kernel<Load, SizeOf, See>, num_blocks_, kExpandThreads, 0, chunks_of(segments),
                   load, size_of, see, ends_.data(), static_cast<std::uint32_t>(ends_.size()));
      is_summed_up_ = false;
    } else {
      before_ = Vector<std::uint32_t>(segments.size() + 1);  // each is one chunk
      std::iota(before_.data(), before_.data() + before_.size(), 0u);
      ends_ = Vector<std::uint32_t>(segments.size());
      std::uint32_t sum = 0;
      for (std::uint32_t s = 0; s < segments.size(); ends_.data()[s++] = sum)
        each_element(segments, s, load, [&](const auto& element) {
          const std::uint32_t size = size_of(element);
          see(element, size);
          sum += size;
        });
    }
  }
  /// After count(), as long as this is there.
  ItemsBefore items_before() {
    sum_up_items();
    return {before_.data(), ends_.data()};
  }
  /// After count().
  std::uint64_t num_items() {
    sum_up_items();
    return Memory::read(ends_.data() + ends_.size() - 1);
  }

  /// After count() of the same: body(element, the number of its first item) for all elements.
  template <class Load, class SizeOf, class Body>
  void each(const Vector<Segment>& segments, const Load& load, const SizeOf& size_of, const Body& body) {
    sum_up_items();
    if constexpr (std::is_same_v<Memory, DeviceMemory>) {
      launch_early(each_expanded_kernel<Load, SizeOf, Body>, num_blocks_, kExpandThreads, 0,
                   chunks_of(segments), load, size_of, ends_.data(), body);
    } else {
      std::uint64_t first = 0;
      for (std::uint32_t s = 0; s < segments.size(); ++s)
        each_element(segments, s, load, [&](const auto& element) {
          body(element, first);
          first += size_of(element);
        });
    }
  }

 private:
  /// Only when it is asked for, as others wait for what count() calls see() for.
  void sum_up_items() {
    if (!std::exchange(is_summed_up_, true)) sum_up(ends_);
  }
  SegmentChunks chunks_of(const Vector<Segment>& segments) const {
    return {Segments::listed(segments), before_.data(), kExpandElements};
  }
  template <class Load, class F>
  static void each_element(const Vector<Segment>& segments, std::uint32_t s, const Load& load,
                           const F& body) {
    for (std::uint64_t e = segments.data()[s].first; e < segments.data()[s].end; ++e) body(load(s, e));
  }

  unsigned num_blocks_ = 0;
  bool is_summed_up_ = true;
  Vector<std::uint32_t> before_, ends_;  // chunks of segments before each; items up to each chunk
};

}  // namespace tessera::cuda
