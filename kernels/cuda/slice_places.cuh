// Where the words and parts of slices come among those of all: sums over blocks of slices, and then of the
// blocks and the slices before each.
#pragma once
#include <array>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/std/functional>
#include <span>
#include <type_traits>

#include "kernels/base/error.hpp"
#include "kernels/cuda/build_kernels.cuh"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/side_stream.cuh"
#include "kernels/cuda/slice_sizes.cuh"

namespace tessera::cuda {

/// A slice, whose it is, and where its rows begin in the list of all.
struct NumberedSlice {
  Slice slice;
  std::uint32_t group, first_row;
};

/// Where slices go as they are shaped, before it is known where their words are.
struct ShapedSlices {
  Slice* slices;
  std::uint32_t *groups, *first_rows;

  __host__ __device__ void store(std::uint64_t s, const NumberedSlice& found) const {
    slices[s] = found.slice;
    groups[s] = found.group;
    first_rows[s] = found.first_row;
  }
};

/// Slices that are cut, and what they come to. Arrays have room for more.
template <class Memory>
struct CutSlices {
  template <class T>
  using Vector = BuildVector<Memory, T>;
  Vector<Slice> slices;
  Vector<std::uint32_t> groups;      ///< of each slice
  Vector<std::uint32_t> first_rows;  ///< of each slice, in the list of all rows
  Vector<PartsBefore> parts_before;  ///< of each slice
  SliceSizes sizes;                  ///< of all

  explicit CutSlices(std::uint64_t room) : slices(room), groups(room), first_rows(room), parts_before(room) {}
  /// When it is known how many there are.
  void truncate(std::uint64_t num_slices) {
    require(num_slices <= slices.size(), "there is room for all slices");
    slices.truncate(num_slices);
    groups.truncate(num_slices);
    first_rows.truncate(num_slices);
    parts_before.truncate(num_slices);
  }
  ShapedSlices shaped() { return {slices.data(), groups.data(), first_rows.data()}; }
};

/// Room for slices, and where it is said what lies before each.
struct PlacedSlices {
  std::uint64_t room;
  Slice* slices;
  PartsBefore* parts_before;

  __host__ __device__ void place(std::uint64_t s, const KindsOfSlice& kinds, const SliceSizes& before) const {
    slices[s].first_word = before.words;
    parts_before[s] = PartsBefore::of(kinds, before.parts);
  }
};

inline constexpr unsigned kPlaceSlicesThreads = 256, kSlicesEach = 4,
                          kPlacedAtOnce = kSlicesEach * kPlaceSlicesThreads;  // slices of a block

/// What a list comes to, in words that the host is told.
struct ListTotals {
  static constexpr std::size_t kWords = 2 + kPartKinds;
  SliceSizes sizes;
  std::uint64_t num_slices = 0;

  __host__ __device__ void tell(std::uint64_t* words) const {
    tell_host(words, sizes.words);
    tell_host(words + 1, num_slices);
    for (std::uint32_t i = 0; i < kPartKinds; ++i) tell_host(words + 2 + i, sizes.parts.of_kind[i]);
  }
  static ListTotals told(std::span<const std::uint64_t> words) {
    ListTotals totals{.sizes = {.words = words[0]}, .num_slices = words[1]};
    for (std::uint32_t i = 0; i < kPartKinds; ++i)
      totals.sizes.parts.of_kind[i] = static_cast<std::uint32_t>(words[2 + i]);
    return totals;
  }
};

/// Two lists, one behind the other in blocks of room for slices, each of one list.
struct PlacedLists {
  PlacedSlices lists[2];
  const std::uint64_t *num_first, *num_all;  ///< slices of the first list, and of both

  __host__ __device__ std::uint64_t count(unsigned list) const {
    return list == 0 ? *num_first : *num_all - *num_first;
  }
  __host__ __device__ std::uint32_t num_blocks(unsigned list) const {
    return static_cast<std::uint32_t>((lists[list].room + kPlacedAtOnce - 1) / kPlacedAtOnce);
  }
  /// Of a block: its list, whose first slice of the block this is, and how many the list has.
  __device__ const PlacedSlices& of_block(std::uint32_t block, std::uint64_t& first,
                                          std::uint64_t& num_slices) const {
    const std::uint32_t before = num_blocks(0);
    const unsigned list = block < before ? 0 : 1;
    first = std::uint64_t{block - (list == 0 ? 0 : before)} * kPlacedAtOnce;
    num_slices = count(list);
    return lists[list];
  }
};

/// sums[b]: what the slices of block b come to.
inline __global__ void __launch_bounds__(kPlaceSlicesThreads)
    sum_slices_kernel(PlacedLists given, SliceSizes* sums) {
  wait_for_kernels_before();
  using Reduce = cub::BlockReduce<SliceSizes, kPlaceSlicesThreads>;
  __shared__ typename Reduce::TempStorage scratch;
  std::uint64_t first, count;
  const PlacedSlices& list = given.of_block(blockIdx.x, first, count);
  SliceSizes sum;
#pragma unroll
  for (unsigned i = 0; i < kSlicesEach; ++i) {
    const std::uint64_t s = first + i * kPlaceSlicesThreads + threadIdx.x;
    if (s < count) sum = sum + SliceSizes::of(list.slices[s]);
  }
  sum = Reduce(scratch).Sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Of all blocks of a list before this one: its sums of blocks, the list's first block's first. For one
/// thread.
inline __device__ SliceSizes sum_before_block(const SliceSizes* sums, std::uint32_t block) {
  using Reduce = cub::BlockReduce<SliceSizes, kPlaceSlicesThreads>;
  __shared__ typename Reduce::TempStorage scratch;
  SliceSizes before;
  for (std::uint32_t b = threadIdx.x; b < block; b += kPlaceSlicesThreads) before = before + sums[b];
  return Reduce(scratch).Sum(before);
}

/// sums: of the slices of each block. totals: of the lists, told by the last block of each.
inline __global__ void __launch_bounds__(kPlaceSlicesThreads, kBlocksBesideOthers)
    place_slices_kernel(PlacedLists given, const SliceSizes* sums, std::uint64_t* totals) {
  wait_for_kernels_before();
  using Scan = cub::BlockScan<SliceSizes, kPlaceSlicesThreads>;
  __shared__ typename Scan::TempStorage scratch;
  __shared__ SliceSizes before;
  std::uint64_t first, count;
  const PlacedSlices& list = given.of_block(blockIdx.x, first, count);
  const unsigned number = blockIdx.x < given.num_blocks(0) ? 0 : 1;
  const std::uint32_t begin = number == 0 ? 0 : given.num_blocks(0), block = blockIdx.x - begin;
  const SliceSizes found = sum_before_block(sums + begin, block);
  if (threadIdx.x == 0) {
    before = found;
    if (block + 1 == given.num_blocks(number))
      ListTotals{found + sums[blockIdx.x], count}.tell(totals + number * ListTotals::kWords);
  }
  SliceSizes own[kSlicesEach];
  KindsOfSlice kinds[kSlicesEach];
  first += threadIdx.x * kSlicesEach;
#pragma unroll
  for (unsigned i = 0; i < kSlicesEach; ++i) {
    if (first + i >= count) continue;
    const Slice slice = list.slices[first + i];
    own[i] = SliceSizes::of(slice);
    kinds[i] = KindsOfSlice::of(slice);
  }
  SliceSizes sum;
#pragma unroll
  for (unsigned i = 0; i < kSlicesEach; ++i) sum = sum + own[i];
  Scan(scratch).ExclusiveScan(sum, sum, SliceSizes{}, ::cuda::std::plus<>());
  __syncthreads();
  sum = before + sum;
#pragma unroll
  for (unsigned i = 0; i < kSlicesEach; ++i) {
    if (first + i < count) list.place(first + i, kinds[i], sum);
    sum = sum + own[i];
  }
}

/// totals: words that the host is told what all of each list come to in.
template <class Memory>
void sum_up_slices(const PlacedLists& given, std::uint64_t* totals) {
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const std::uint32_t num_blocks = given.num_blocks(0) + given.num_blocks(1);
    BuildVector<Memory, SliceSizes> sums(num_blocks);
    for (unsigned list = 0; list < 2; ++list)
      if (given.num_blocks(list) == 0) ListTotals{}.tell(totals + list * ListTotals::kWords);
    if (num_blocks == 0) return;
    launch_early(sum_slices_kernel, num_blocks, kPlaceSlicesThreads, 0, given, sums.data());
    launch_early(place_slices_kernel, num_blocks, kPlaceSlicesThreads, 0, given, sums.data(), totals);
  } else {
    for (unsigned list = 0; list < 2; ++list) {
      SliceSizes before;
      for (std::uint64_t s = 0; s < given.count(list); ++s) {
        const Slice slice = given.lists[list].slices[s];
        given.lists[list].place(s, KindsOfSlice::of(slice), before);
        before = before + SliceSizes::of(slice);
      }
      ListTotals{before, given.count(list)}.tell(totals + list * ListTotals::kWords);
    }
  }
}

/// Gives shaped slices their words, and parts and sizes to their lists. num_first, num_all: in Memory, slices
/// of the first list and of both. A device may still do so when this ends.
template <class Memory>
void place_slices(std::array<CutSlices<Memory>, 2>& cut, const std::uint64_t* num_first,
                  const std::uint64_t* num_all, SideStream<Memory>& side) {
  const auto placed = [](CutSlices<Memory>& list) -> PlacedSlices {
    return {list.slices.size(), list.slices.data(), list.parts_before.data()};
  };
  sum_up_slices<Memory>({{placed(cut[0]), placed(cut[1])}, num_first, num_all},
                        side.words_to_tell(2 * ListTotals::kWords));
  const std::span<const std::uint64_t> words = side.told_words();
  for (std::size_t list = 0; list < 2; ++list) {
    const ListTotals found = ListTotals::told(words.subspan(list * ListTotals::kWords));
    if (found.sizes.words > kMostSliceWords)
      throw ResourceError("the matrix needs more than 2^34 words; use more ranks");
    cut[list].sizes = found.sizes;
    cut[list].truncate(found.num_slices);
  }
}

}  // namespace tessera::cuda
