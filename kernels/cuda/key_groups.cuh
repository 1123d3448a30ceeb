// How often each value is among some million keys: grouped by their upper bits some thousand at a time, and
// counted in shared memory range by range. What deals keys to ranges (key_counts.cuh) has to count these
// first, but what it deals can be read as it lies, which pays where keys are more.
#pragma once
#include <algorithm>
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/bin_dealer.cuh"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/key_ranges.hpp"
#include "kernels/cuda/shared_memory_limit.hpp"

namespace tessera::cuda {

/// Threads of a block that groups keys, so many of which run on a multiprocessor; keys of a thread, and of a
/// block's tile.
inline constexpr unsigned kGroupKeyThreads = 512, kGroupKeyBlocks = 3, kGroupKeysEach = 16,
                          kGroupedKeys = kGroupKeysEach * kGroupKeyThreads;
inline constexpr unsigned kCountGroupThreads = 1024;
/// Keys that are grouped, at most, and their ranges: of more a tile would have too few of each.
inline constexpr std::uint64_t kMostGroupedKeys = std::uint64_t{1} << 26;
inline constexpr std::uint32_t kMostGroupRanges = 128;

/// Keys in tiles, those of each grouped by range: their bits below the range alone.
struct GroupedKeys {
  std::uint64_t num_keys;
  std::uint32_t num_tiles;
  KeyRanges ranges;
  std::uint16_t* begins;  ///< of range r in tile t, from the tile's first key on: r * num_tiles + t
  std::uint16_t* lows;

  __host__ __device__ std::uint32_t tile_size(std::uint32_t tile) const {
    const std::uint64_t left = num_keys - std::uint64_t{tile} * kGroupedKeys;
    return left < kGroupedKeys ? static_cast<std::uint32_t>(left) : kGroupedKeys;
  }
};

/// In shared memory.
struct KeyTile {
  static constexpr std::uint32_t kRanges = kMostGroupRanges;
  using Scan = cub::BlockScan<std::uint32_t, kGroupKeyThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  static_assert(kRanges <= kGroupKeyThreads, "a thread has a range at most");
  std::uint32_t counts[kRanges];  ///< of keys in each range; then in all before it
  typename Scan::TempStorage scan;
  alignas(16) std::uint16_t lows[kGroupedKeys];
};

/// A block a tile.
inline __global__ void __launch_bounds__(kGroupKeyThreads, kGroupKeyBlocks)
    group_keys_kernel(const VertexId* keys, GroupedKeys grouped) {
  wait_for_kernels_before();
  __shared__ KeyTile tile;
  const std::uint32_t size = grouped.tile_size(blockIdx.x), range = threadIdx.x;
  const unsigned shift = grouped.ranges.shift;
  const bool has_range = range < grouped.ranges.count;
  keys += std::uint64_t{blockIdx.x} * kGroupedKeys;
  const auto is_one = [=](unsigned i) { return i * kGroupKeyThreads + threadIdx.x < size; };
  VertexId own[kGroupKeysEach];
  std::uint32_t places[kGroupKeysEach / 2];  // among those of the range, two a register
#pragma unroll
  for (unsigned i = 0; i < kGroupKeysEach; ++i)
    own[i] = __ldcs(keys + min(i * kGroupKeyThreads + threadIdx.x, size - 1));
  if (has_range) tile.counts[range] = 0;
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kGroupKeysEach; ++i) {
    const std::uint32_t place = is_one(i) ? atomicAdd(tile.counts + (own[i] >> shift), 1u) : 0;
    places[i / 2] = i % 2 == 0 ? place : places[i / 2] | place << 16;
  }
  __syncthreads();
  std::uint32_t before = has_range ? tile.counts[range] : 0;
  KeyTile::Scan(tile.scan).ExclusiveSum(before, before);  // all have read counts when it ends
  if (has_range) {
    tile.counts[range] = before;
    grouped.begins[std::uint64_t{range} * grouped.num_tiles + blockIdx.x] =
        static_cast<std::uint16_t>(before);
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kGroupKeysEach; ++i)
    if (is_one(i))
      tile.lows[tile.counts[own[i] >> shift] + (places[i / 2] >> i % 2 * 16 & 0xffff)] =
          static_cast<std::uint16_t>(own[i] & ((1u << shift) - 1));
  __syncthreads();
  // Whole words of sixteen bytes, for which all tiles have room.
  constexpr std::uint32_t kOfWord = sizeof(uint4) / sizeof(std::uint16_t);
  auto* const to = reinterpret_cast<uint4*>(grouped.lows + std::uint64_t{blockIdx.x} * kGroupedKeys);
  const auto* const from = reinterpret_cast<const uint4*>(tile.lows);
  for (std::uint32_t i = threadIdx.x; i * kOfWord < size; i += kGroupKeyThreads) to[i] = from[i];
}

/// Counts the keys of a range in some tiles.
class GroupCounter {
 public:
  /// counts: of the range's values, in shared memory.
  __device__ GroupCounter(const GroupedKeys& grouped, std::uint32_t range, std::uint32_t* counts)
      : grouped_(grouped), range_(range), counts_(counts) {}

  /// Eight lanes a tile: each loads words of the keys there that are asked for together.
  __device__ void count(std::uint32_t first_tile, std::uint32_t end_tile) const {
    const unsigned lane = threadIdx.x % 32;
    constexpr std::uint32_t kStep = kTilesOfWarp * kCountGroupThreads / 32;
    std::uint32_t tile = first_tile + threadIdx.x / 32 * kTilesOfWarp;
    Segment next = part_of(tile + lane % kTilesOfWarp, end_tile);
    for (; tile < end_tile; tile += kStep) {
      const Segment own = next;
      next = part_of(tile + kStep + lane % kTilesOfWarp, end_tile);
#pragma unroll
      for (unsigned t = 0; t < kTilesOfWarp; t += 32 / kLanes) {
        const unsigned from = t + lane / kLanes;
        count_part(tile + from, {__shfl_sync(~0u, own.first, from), __shfl_sync(~0u, own.end, from)});
      }
    }
  }

 private:
  static constexpr unsigned kLanes = 8, kTilesOfWarp = 8, kLoads = 4, kOfWord = 2;

  /// In a tile, of its keys: the range's; none where there is no such tile.
  __device__ Segment part_of(std::uint32_t tile, std::uint32_t end_tile) const {
    if (tile >= end_tile) return {0, 0};
    const std::uint16_t* const begin = grouped_.begins + std::uint64_t{range_} * grouped_.num_tiles + tile;
    return {begin[0],
            range_ + 1 < grouped_.ranges.count ? begin[grouped_.num_tiles] : grouped_.tile_size(tile)};
  }
  __device__ void count_part(std::uint32_t tile, const Segment& part) const {
    const auto* const words =
        reinterpret_cast<const std::uint32_t*>(grouped_.lows + std::uint64_t{tile} * kGroupedKeys);
    const std::uint32_t end = (part.end + kOfWord - 1) / kOfWord;
    for (std::uint32_t word = part.first / kOfWord + threadIdx.x % kLanes; word < end;
         word += kLoads * kLanes) {
      std::uint32_t found[kLoads];
#pragma unroll
      for (unsigned i = 0; i < kLoads; ++i) found[i] = words[min(word + i * kLanes, end - 1)];
#pragma unroll
      for (unsigned i = 0; i < kLoads; ++i)
        if (word + i * kLanes < end) count_word(found[i], (word + i * kLanes) * kOfWord, part);
    }
  }
  /// Of keys `at` and behind.
  __device__ void count_word(std::uint32_t word, std::uint32_t at, const Segment& part) const {
#pragma unroll
    for (unsigned i = 0; i < kOfWord; ++i)
      if (at + i >= part.first && at + i < part.end) atomicAdd(counts_ + (word >> 16 * i & 0xffff), 1u);
  }

  const GroupedKeys& grouped_;
  std::uint32_t range_;
  std::uint32_t* counts_;
};

/// A block some tiles of a range. counts: added to.
inline __global__ void __launch_bounds__(kCountGroupThreads)
    count_groups_kernel(GroupedKeys grouped, std::uint32_t tiles_of_block, std::uint64_t num_values,
                        std::uint32_t* counts) {
  wait_for_kernels_before();
  extern __shared__ std::uint32_t own_counts[];
  const std::uint32_t size = 1u << grouped.ranges.shift, range = blockIdx.x % grouped.ranges.count,
                      first_tile = blockIdx.x / grouped.ranges.count * tiles_of_block;
  for (unsigned i = threadIdx.x; i < size; i += kCountGroupThreads) own_counts[i] = 0;
  __syncthreads();
  GroupCounter(grouped, range, own_counts)
      .count(first_tile, min(first_tile + tiles_of_block, grouped.num_tiles));
  __syncthreads();
  const std::uint64_t first = std::uint64_t{range} << grouped.ranges.shift;
  for (unsigned i = threadIdx.x; i < size; i += kCountGroupThreads)
    if (own_counts[i] > 0 && first + i < num_values) atomicAdd(counts + first + i, own_counts[i]);
}

/// Whether so few are grouped, which their ranges allow.
inline bool are_grouped(std::uint64_t num_keys, const KeyRanges& ranges) {
  return num_keys <= kMostGroupedKeys && ranges.count > 0 && ranges.count <= kMostGroupRanges &&
         ranges.shift <= kCountedBits;
}

/// counts: of num_values values, all 0. 2 bytes a key of device memory meanwhile.
inline void count_grouped_keys(const VertexId* keys, std::uint64_t num_keys, std::uint64_t num_values,
                               const KeyRanges& ranges, std::uint32_t* counts) {
  const auto num_tiles = static_cast<std::uint32_t>(ceil_div<std::uint64_t>(num_keys, kGroupedKeys));
  BuildVector<DeviceMemory, std::uint16_t> lows(std::uint64_t{num_tiles} * kGroupedKeys),
      begins(std::uint64_t{num_tiles} * ranges.count);
  const GroupedKeys grouped{num_keys, num_tiles, ranges, begins.data(), lows.data()};
  launch_early(group_keys_kernel, num_tiles, kGroupKeyThreads, 0, keys, grouped);
  // Some keys for each value that a block counts, or it would be the values that take the time.
  const std::uint64_t tiles_of_block =
      ceil_div<std::uint64_t>((std::uint64_t{8} << ranges.shift) * ranges.count, kGroupedKeys);
  const auto blocks =
      static_cast<unsigned>(ceil_div<std::uint64_t>(num_tiles, tiles_of_block) * ranges.count);
  const std::size_t num_bytes = sizeof(std::uint32_t) << ranges.shift;
  allow_shared_bytes<count_groups_kernel>(num_bytes);
  launch_early(count_groups_kernel, blocks, kCountGroupThreads, num_bytes, grouped,
               static_cast<std::uint32_t>(tiles_of_block), num_values, counts);
}

}  // namespace tessera::cuda
