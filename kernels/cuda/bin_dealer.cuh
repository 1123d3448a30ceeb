// Elements of an array dealt to bins by a digit, in any order within a bin: what comes next sorts them. That
// saves what a stable radix pass does to keep the order: ranks are what additions in shared memory give.
#pragma once
#include <cub/block/block_scan.cuh>
#include <type_traits>
#include <utility>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/segment_chunks.cuh"

namespace tessera::cuda {

inline constexpr unsigned kBinItems = 16;  // elements of a thread at a time

/// A block's threads and the bins that it may deal to; so many blocks run on a multiprocessor.
template <unsigned kThreadsOfBlock, std::uint32_t kBins, unsigned kBlocksAtOnce>
struct BinShape {
  static constexpr unsigned kThreads = kThreadsOfBlock, kBlocks = kBlocksAtOnce;
  static constexpr std::uint32_t kTile = kThreads * kBinItems;  ///< elements of a block at a time
  static constexpr std::uint32_t kMostBins = kBins, kBinsEach = kBins / kThreads;
};
using UsualBins = BinShape<512, 1024, 2>;
/// So many that half as many elements would be one or two a bin, and what is written at a time too short.
using ManyBins = BinShape<1024, 4096, 1>;

/// cursors[s * num_bins + b]: where the elements of bin b of segment s, of which there are so many in counts,
/// begin. A block a segment.
template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    find_cursors_kernel(Segments segments, std::uint32_t num_bins, const std::uint32_t* counts,
                        std::uint32_t* cursors) {
  wait_for_kernels_before();
  constexpr unsigned kEach = Shape::kBinsEach;
  using Scan = cub::BlockScan<std::uint32_t, Shape::kThreads>;
  __shared__ typename Scan::TempStorage scratch;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * num_bins;
  std::uint32_t sums[kEach];
#pragma unroll
  for (unsigned i = 0; i < kEach; ++i) {
    const std::uint32_t bin = threadIdx.x * kEach + i;
    sums[i] = bin < num_bins ? counts[first + bin] : 0;
  }
  Scan(scratch).ExclusiveSum(sums, sums);
  const std::uint32_t begin = segments[blockIdx.x].first;
#pragma unroll
  for (unsigned i = 0; i < kEach; ++i) {
    const std::uint32_t bin = threadIdx.x * kEach + i;
    if (bin < num_bins) cursors[first + bin] = begin + sums[i];
  }
}

/// counts[s * num_bins + b]: adds how many elements of segment s go to bin b.
template <class Elements>
__global__ void __launch_bounds__(Elements::Shape::kThreads)
    count_bins_kernel(SegmentChunks chunks, std::uint32_t num_bins, Elements elements,
                      std::uint32_t* counts) {
  wait_for_kernels_before();
  constexpr unsigned kLoads = 8, kThreads = Elements::Shape::kThreads;
  __shared__ std::uint32_t own[Elements::Shape::kMostBins];
  if (!chunks.has(blockIdx.x)) return;
  for (std::uint32_t b = threadIdx.x; b < num_bins; b += kThreads) own[b] = 0;
  __syncthreads();
  const std::uint32_t segment = chunks.segment_of(blockIdx.x);
  const Segment given = chunks.elements_of(blockIdx.x, segment);
  std::uint64_t at = std::uint64_t{given.first} + threadIdx.x;
  for (; at + (kLoads - 1) * kThreads < given.end; at += kLoads * kThreads) {
    std::uint32_t bins[kLoads];
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) bins[i] = elements.bin(elements.key(at + i * kThreads));
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) atomicAdd(own + bins[i], 1u);
  }
  for (; at < given.end; at += kThreads) atomicAdd(own + elements.bin(elements.key(at)), 1u);
  __syncthreads();
  for (std::uint32_t b = threadIdx.x; b < num_bins; b += kThreads)
    if (own[b] > 0) atomicAdd(counts + std::uint64_t{segment} * num_bins + b, own[b]);
}

/// counts[bin], which each lane adds its element to; gives how many were there before that. Lanes behind
/// those that have one (is_one) have none. Neighbours in the same bin are added by the first of them, as
/// additions to the same address come one after the other.
__device__ inline std::uint32_t add_neighbours(std::uint32_t* counts, std::uint32_t bin, bool is_one) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t last = __shfl_up_sync(~0u, bin, 1);
  const unsigned firsts = __ballot_sync(~0u, lane == 0 || bin != last || !is_one),
                 first = 31 - __clz(firsts & (~0u >> (31 - lane))), behind = firsts & (~1u << lane);
  std::uint32_t before = 0;
  if (is_one && first == lane)
    before = atomicAdd(counts + bin, (behind == 0 ? 32 : __ffs(behind) - 1) - lane);
  return __shfl_sync(~0u, before, first) + (lane - first);
}

/// In shared memory.
template <class Elements>
struct BinTile {
  using Shape = typename Elements::Shape;
  using Rest = typename Elements::Rest;
  static constexpr bool kHasRest = !std::is_void_v<Rest>;
  using Scan = cub::BlockScan<std::uint32_t, Shape::kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  std::uint32_t counts[Shape::kMostBins];  ///< of elements in each bin; then in all before it
  std::uint32_t shifts[Shape::kMostBins];  ///< from places in the tile to those in the result
  typename Scan::TempStorage scan;
  std::uint32_t keys[Shape::kTile];
  std::conditional_t<kHasRest, Rest, char> rests[kHasRest ? Shape::kTile : 1];
};

/// Deals a tile of elements, `first` and those behind it. kFull: kTile of them, so that no load is by
/// itself. cursors: where the next element of each bin goes.
template <bool kFull, class Elements>
class TileDealer {
 public:
  using Tile = BinTile<Elements>;

  __device__ TileDealer(Tile& tile, const Elements& elements, std::uint32_t num_bins, std::uint64_t first,
                        std::uint32_t size)
      : tile_(tile), elements_(elements), num_bins_(num_bins), first_(first), size_(size) {}

  __device__ __forceinline__ void run(std::uint32_t* cursors) {
    std::uint32_t keys[kBinItems], places[kBinItems], to[kBinsEach];
#pragma unroll
    for (unsigned i = 0; i < kBinItems; ++i) keys[i] = elements_.key(position(i));
    for (std::uint32_t b = threadIdx.x; b < num_bins_; b += kThreads) tile_.counts[b] = 0;
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < kBinItems; ++i) places[i] = add_to_bin(elements_.bin(keys[i]), is_one(i));
    __syncthreads();
    reserve(cursors, to);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < kBinItems; ++i) {
      places[i] += tile_.counts[elements_.bin(keys[i])];
      if (is_one(i)) tile_.keys[places[i]] = keys[i];
    }
    if constexpr (Tile::kHasRest) {
      put_rests(places);
    }
    // Only here is it waited for what reserve() asked for.
#pragma unroll
    for (unsigned i = 0; i < kBinsEach; ++i)
      if (bin(i) < num_bins_) tile_.shifts[bin(i)] = to[i] - tile_.counts[bin(i)];
    __syncthreads();
    store();
    __syncthreads();
  }

 private:
  static constexpr unsigned kThreads = Elements::Shape::kThreads, kBinsEach = Elements::Shape::kBinsEach;

  /// Neighbours to neighbouring threads, as additions to cursors of a line go to L2 as one.
  __device__ static std::uint32_t bin(unsigned i) { return i * kThreads + threadIdx.x; }
  __device__ bool is_one(unsigned i) const { return kFull || i * kThreads + threadIdx.x < size_; }
  __device__ std::uint64_t position(unsigned i) const {
    return kFull ? first_ + threadIdx.x + i * kThreads : first_ + min(i * kThreads + threadIdx.x, size_ - 1);
  }

  __device__ __forceinline__ std::uint32_t add_to_bin(std::uint32_t bin, bool is_one) const {
    if constexpr (Elements::kNeighboursAlike)
      return add_neighbours(tile_.counts, bin, is_one);
    else
      return is_one ? atomicAdd(&tile_.counts[bin], 1u) : 0;
  }

  /// to: where a thread's bins have room for their elements. counts: of elements in all bins before.
  __device__ __forceinline__ void reserve(std::uint32_t* cursors, std::uint32_t (&to)[kBinsEach]) const {
#pragma unroll
    for (unsigned i = 0; i < kBinsEach; ++i) {
      const std::uint32_t count = bin(i) < num_bins_ ? tile_.counts[bin(i)] : 0;
      to[i] = count > 0 ? atomicAdd(cursors + bin(i), count) : 0;
    }
    std::uint32_t before[kBinsEach];
    const std::uint32_t first = threadIdx.x * kBinsEach;
#pragma unroll
    for (unsigned i = 0; i < kBinsEach; ++i) before[i] = first + i < num_bins_ ? tile_.counts[first + i] : 0;
    typename Tile::Scan(tile_.scan).ExclusiveSum(before, before);  // all have read counts when it ends
#pragma unroll
    for (unsigned i = 0; i < kBinsEach; ++i)
      if (first + i < num_bins_) tile_.counts[first + i] = before[i];
  }

  /// Half of them at a time: all would not fit registers beside the keys.
  __device__ __forceinline__ void put_rests(const std::uint32_t (&places)[kBinItems]) const {
    constexpr unsigned kHalf = kBinItems / 2;
#pragma unroll
    for (unsigned half = 0; half < kBinItems; half += kHalf) {
      typename Elements::Rest rests[kHalf];
#pragma unroll
      for (unsigned i = 0; i < kHalf; ++i) rests[i] = elements_.rest(position(half + i));
#pragma unroll
      for (unsigned i = 0; i < kHalf; ++i)
        if (is_one(half + i)) tile_.rests[places[half + i]] = rests[i];
    }
  }

  __device__ __forceinline__ void store() const {
#pragma unroll 4
    for (std::uint32_t i = threadIdx.x; i < size_; i += kThreads) {
      const std::uint32_t key = tile_.keys[i], place = tile_.shifts[elements_.bin(key)] + i;
      if constexpr (Tile::kHasRest)
        elements_.store(place, key, tile_.rests[i]);
      else
        elements_.store(place, key);
    }
  }

  Tile& tile_;
  const Elements& elements_;
  const std::uint32_t num_bins_;
  const std::uint64_t first_;
  const std::uint32_t size_;
};

template <class Elements>
__global__ void __launch_bounds__(Elements::Shape::kThreads, Elements::Shape::kBlocks)
    deal_to_bins_kernel(SegmentChunks chunks, std::uint32_t num_bins, Elements elements,
                        std::uint32_t* cursors) {
  wait_for_kernels_before();
  extern __shared__ __align__(16) unsigned char bin_memory[];
  auto& tile = *reinterpret_cast<BinTile<Elements>*>(bin_memory);
  constexpr std::uint32_t kTile = Elements::Shape::kTile;
  if (!chunks.has(blockIdx.x)) return;
  const std::uint32_t segment = chunks.segment_of(blockIdx.x);
  const Segment given = chunks.elements_of(blockIdx.x, segment);
  cursors += std::uint64_t{segment} * num_bins;
  std::uint64_t first = given.first;
  for (; given.end - first >= kTile; first += kTile)
    TileDealer<true, Elements>(tile, elements, num_bins, first, kTile).run(cursors);
  if (first < given.end)
    TileDealer<false, Elements>(tile, elements, num_bins, first,
                                static_cast<std::uint32_t>(given.end - first))
        .run(cursors);
}

/// How the elements of segments go to bins, and where the next of each bin goes.
struct BinPlan {
  Segments segments;
  std::uint32_t num_bins, chunk_size;
  unsigned num_blocks;
  BuildVector<DeviceMemory, std::uint32_t> before, cursors;

  SegmentChunks chunks() const { return {segments, before.data(), chunk_size}; }
};

/// Adds to the plan's cursors.
template <class Elements>
void count_bins(BinPlan& plan, const Elements& elements) {
  using Shape = typename Elements::Shape;
  SegmentChunks chunks = plan.chunks();
  unsigned num_blocks = plan.num_blocks;
  if (plan.segments.are_whole()) {  // larger chunks where bins are many: a block adds to those of all
    chunks.size *= Shape::kMostBins / UsualBins::kMostBins;
    num_blocks = chunks.count();
  }
  launch_early(count_bins_kernel<Elements>, num_blocks, Shape::kThreads, 0, chunks, plan.num_bins, elements,
               plan.cursors.data());
}

/// num_elements: of all segments, or more; what segments are known by lives as long as the plan. Elements has
/// key(i) of element i, 32 bits, bin(key) < num_bins, and a Shape that takes as many. counts: how many of the
/// only segment's go to each bin; null: they are counted.
template <class Elements>
BinPlan plan_bins(const Segments& segments, std::uint32_t num_bins, std::uint64_t num_elements,
                  const Elements& elements, const std::uint32_t* counts = nullptr) {
  require(counts == nullptr || segments.count() == 1, "only one segment's bins are counted beforehand");
  using Shape = typename Elements::Shape;
  require(num_bins <= Shape::kMostBins, "a block deals to so many bins");
  constexpr std::uint64_t kManyElements = std::uint64_t{1} << 26;
  const std::uint32_t size = num_elements < kManyElements ? Shape::kTile : 4 * Shape::kTile;
  BinPlan plan{
      .segments = segments,
      .num_bins = num_bins,
      .chunk_size = size,
      .num_blocks = static_cast<unsigned>(num_elements / size + segments.count()),  // at most
      .before = list_chunks(segments, size),
      .cursors = BuildVector<DeviceMemory, std::uint32_t>(std::uint64_t{segments.count()} * num_bins)};
  if (counts == nullptr) {
    DeviceMemory::clear(plan.cursors.data(), plan.cursors.size() * sizeof(std::uint32_t));
    count_bins(plan, elements);
    counts = plan.cursors.data();
  }
  launch_early(find_cursors_kernel<Shape>, segments.count(), Shape::kThreads, 0, segments, num_bins, counts,
               plan.cursors.data());
  return plan;
}

/// Deals the elements of every segment to its bins, which follow each other in the segment's part of the
/// result. Gives where they end, those of segment s from s * num_bins on. Elements has, beside what
/// plan_bins() asks for, a type Rest, void or of 32 bits with rest(i), store(place, key[, rest]), and
/// kNeighboursAlike: whether neighbours often go to the same bin.
template <class Elements>
BuildVector<DeviceMemory, std::uint32_t> deal_to_bins(BinPlan plan, const Elements& elements) {
  constexpr std::size_t kBytes = sizeof(BinTile<Elements>);
  allow_shared_bytes<deal_to_bins_kernel<Elements>>(kBytes);
  launch_early(deal_to_bins_kernel<Elements>, plan.num_blocks, Elements::Shape::kThreads, kBytes,
               plan.chunks(), plan.num_bins, elements, plan.cursors.data());
  return std::move(plan.cursors);
}

/// Both at once.
template <class Elements>
BuildVector<DeviceMemory, std::uint32_t> deal_to_bins(const Segments& segments, std::uint32_t num_bins,
                                                      std::uint64_t num_elements, const Elements& elements) {
  return deal_to_bins(plan_bins(segments, num_bins, num_elements, elements), elements);
}

}  // namespace tessera::cuda
