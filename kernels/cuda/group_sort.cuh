// Sorts the groups of an array each by itself, longest elements first: groups are so small that their digits
// are counted in shared memory, and an array that lies in groups already need not be sorted by them again.
#pragma once
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/sorting_team.cuh"

namespace tessera::cuda {

/// Groups of more elements than this are a block's, all others a warp's: of many groups and of few, which do
/// not fill a device.
inline constexpr std::uint32_t kWarpGroup = 2048, kFewWarpGroup = 256, kManyGroups = 1u << 14;
inline constexpr unsigned kGroupWarps = 16,  ///< of a block
    kLargeGroupBlocks = 1024;                ///< that have large groups

/// An element of a group: its length, and its position in the group as it was.
struct GroupElement {
  static constexpr unsigned kShift = 16;
  __host__ __device__ static std::uint32_t of(std::uint32_t length, std::uint32_t position) {
    return length << kShift | position;
  }
  __host__ __device__ static std::uint32_t length(std::uint32_t element) { return element >> kShift; }
  __host__ __device__ static std::uint32_t position(std::uint32_t element) { return element & 65535u; }
};

/// The largest come first.
__device__ inline std::uint32_t digit_of(std::uint32_t element, unsigned shift) {
  return kDigits - 1 - (GroupElement::length(element) >> shift & (kDigits - 1));
}

/// counts: of each digit among the elements load(i), i < count. Gives whether some length has more bits than
/// `shift` and a digit, to all threads.
template <unsigned kWarps, class Load>
__device__ bool count_digits(SortingTeam<kWarps>& team, std::uint32_t count, unsigned shift,
                             const Load& load) {
  team.clear();
  const std::uint32_t part = team.part_of(count), begin = min(team.warp() * part, count),
                      end = min(begin + part, count);
  bool more = false;
#pragma unroll 4
  for (std::uint32_t i = begin + threadIdx.x % 32; i < end; i += 32) {
    const std::uint32_t element = load(i);
    more |= GroupElement::length(element) >> shift >= kDigits;
    atomicAdd(&team.count_of(digit_of(element, shift)), 1u);
  }
  if constexpr (kWarps == 1) {
    __syncwarp();
    return __any_sync(~0u, more);
  } else {
    return __syncthreads_or(more) != 0;
  }
}

inline constexpr unsigned kDealtAhead = 4;  // elements of a thread that are on their way

/// store(place, load(i)) by counted digits; equal ones in order.
template <unsigned kWarps, class Load, class Store>
__device__ void deal_elements(SortingTeam<kWarps>& team, std::uint32_t count, unsigned shift,
                              const Load& load, const Store& store) {
  team.sum_up();
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t part = team.part_of(count), begin = min(team.warp() * part, count),
                      end = min(begin + part, count);
  const auto ask = [&](std::uint32_t first, std::uint32_t(&elements)[kDealtAhead]) {
#pragma unroll
    for (unsigned i = 0; i < kDealtAhead; ++i)
      elements[i] = first + 32 * i + lane < end ? load(first + 32 * i + lane) : 0;
  };
  std::uint32_t elements[kDealtAhead], next[kDealtAhead];
  ask(begin, elements);
  for (std::uint32_t first = begin; first < end; first += 32 * kDealtAhead) {
    ask(first + 32 * kDealtAhead, next);
#pragma unroll
    for (unsigned i = 0; i < kDealtAhead; ++i) {
      if (first + 32 * i >= end) break;
      const bool is_one = first + 32 * i + lane < end;
      // What is beyond the end has a digit of its own.
      const std::uint32_t digit = is_one ? digit_of(elements[i], shift) : kDigits;
      const unsigned alike = __match_any_sync(~0u, digit), before = __popc(alike & ((1u << lane) - 1));
      std::uint32_t place = 0;
      if (is_one) place = team.count_of(digit) + before;
      __syncwarp();
      if (is_one && before == 0) team.count_of(digit) += __popc(alike);
      __syncwarp();
      if (is_one) store(place, elements[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < kDealtAhead; ++i) elements[i] = next[i];
  }
  team.sync();
}

inline constexpr unsigned kStoredAtOnce = 4;  // of a thread

/// What sort_groups() takes. order, staged: a word an element; the latter only where lengths may have two
/// digits.
template <class LengthOf, class Load, class Store>
struct GroupSort {
  std::uint64_t num_groups;
  const std::uint32_t* firsts;
  LengthOf length_of;
  Load load;
  Store store;
  std::uint32_t *order, *staged;
  std::uint32_t most_of_warp;

  __device__ std::uint32_t size(std::uint64_t group) const { return firsts[group + 1] - firsts[group]; }

  template <unsigned kWarps>
  __device__ void sort(SortingTeam<kWarps>& team, std::uint64_t group) const {
    const std::uint32_t first = firsts[group], count = size(group);
    const auto given = [&](std::uint32_t i) { return GroupElement::of(length_of(first + i), i); };
    const auto halfway = [&](std::uint32_t i) { return staged[first + i]; };
    const auto put = [&](std::uint32_t place, std::uint32_t element) { order[first + place] = element; };
    if (count_digits(team, count, 0, given)) {
      deal_elements(team, count, 0, given,
                    [&](std::uint32_t place, std::uint32_t element) { staged[first + place] = element; });
      count_digits(team, count, kDigitBits, halfway);
      deal_elements(team, count, kDigitBits, halfway, put);
    } else {
      deal_elements(team, count, 0, given, put);
    }
    store_sorted(first, count, team.thread(), team.kThreads);
  }

  /// What elements have comes from anywhere in the group, so that several are waited for together.
  __device__ void store_sorted(std::uint32_t first, std::uint32_t count, unsigned thread,
                               unsigned num_threads) const {
    for (std::uint32_t begin = thread; begin < count; begin += kStoredAtOnce * num_threads) {
      std::uint32_t elements[kStoredAtOnce];
      decltype(load(first)) loaded[kStoredAtOnce];
#pragma unroll
      for (unsigned i = 0; i < kStoredAtOnce; ++i)
        elements[i] = order[first + min(begin + i * num_threads, count - 1)];
#pragma unroll
      for (unsigned i = 0; i < kStoredAtOnce; ++i)
        loaded[i] = load(first + GroupElement::position(elements[i]));
#pragma unroll
      for (unsigned i = 0; i < kStoredAtOnce; ++i)
        if (begin + i * num_threads < count)
          store(first + begin + i * num_threads, loaded[i], GroupElement::length(elements[i]));
    }
  }
};

/// A block's shared memory: warps have a group each, or one together.
struct GroupTeams {
  union {
    SortingTeam<1> of_warps[kGroupWarps];
    SortingTeam<kGroupWarps> of_all;
  };
  std::uint64_t large[32 * kGroupWarps];
  unsigned num_large;
};

/// Block number `block` of num_blocks has one large group after the other, of those that it finds.
template <class Groups>
__device__ void sort_large_groups(GroupTeams& teams, const Groups& groups, unsigned block,
                                  unsigned num_blocks) {
  constexpr unsigned kThreads = 32 * kGroupWarps;
  for (std::uint64_t first = block; first < groups.num_groups;
       first += std::uint64_t{num_blocks} * kThreads) {
    if (threadIdx.x == 0) teams.num_large = 0;
    __syncthreads();
    const std::uint64_t group = first + std::uint64_t{threadIdx.x} * num_blocks;
    if (group < groups.num_groups && groups.size(group) > groups.most_of_warp)
      teams.large[atomicAdd(&teams.num_large, 1u)] = group;
    __syncthreads();
    for (unsigned i = 0; i < teams.num_large; ++i) groups.sort(teams.of_all, teams.large[i]);
    __syncthreads();
  }
}

/// The first num_large_blocks blocks have the large groups, and begin before the warps of others have a small
/// one each: these are there in the end, when some blocks still sort.
template <class Groups>
__global__ void __launch_bounds__(32 * kGroupWarps)
    sort_groups_kernel(Groups groups, unsigned num_large_blocks) {
  wait_for_kernels_before();
  __shared__ GroupTeams teams;
  if (blockIdx.x < num_large_blocks) return sort_large_groups(teams, groups, blockIdx.x, num_large_blocks);
  const unsigned warp = threadIdx.x / 32;
  const std::uint64_t group = std::uint64_t{blockIdx.x - num_large_blocks} * kGroupWarps + warp;
  if (group >= groups.num_groups) return;
  const std::uint32_t size = groups.size(group);
  if (size > 0 && size <= groups.most_of_warp) groups.sort(teams.of_warps[warp], group);
}

/// What a device needs until groups of so many elements are sorted, or of fewer and shorter ones.
template <class Memory>
struct GroupScratch {
  BuildVector<Memory, std::uint32_t> order, staged;

  GroupScratch() = default;
  GroupScratch(std::uint64_t num_elements, std::uint32_t longest)
      : order(num_elements), staged(longest < kDigits ? 0 : num_elements) {}
};

/// store(place, load(i), length) for element i of all, which comes to `place`: those of group g, firsts[g] to
/// firsts[g + 1], stay there, the largest length first and equal ones as they were. Groups have up to 65,536
/// elements and follow each other from 0 on. length_of(i): 0 to 65,535; asked twice. What store() writes
/// neither length_of() nor load() may read. stream: of a device, one beside the default one.
template <class Memory, class LengthOf, class Load, class Store>
void sort_groups(std::uint64_t num_groups, std::uint64_t num_elements, const std::uint32_t* firsts,
                 LengthOf length_of, Load load, Store store, GroupScratch<Memory>& scratch,
                 cudaStream_t stream = nullptr) {
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    if (num_groups == 0) return;
    const std::uint32_t most_of_warp = num_groups < kManyGroups ? kFewWarpGroup : kWarpGroup;
    const GroupSort<LengthOf, Load, Store> groups{
        num_groups,  firsts, length_of, load, store, scratch.order.data(), scratch.staged.data(),
        most_of_warp};
    const auto large_blocks =
        num_elements <= most_of_warp
            ? 0u
            : static_cast<unsigned>(std::min<std::uint64_t>(num_groups, kLargeGroupBlocks));
    const auto small_blocks = static_cast<unsigned>(ceil_div<std::uint64_t>(num_groups, kGroupWarps));
    const auto kernel = sort_groups_kernel<GroupSort<LengthOf, Load, Store>>;
    launch_early(stream, kernel, large_blocks + small_blocks, 32 * kGroupWarps, 0, groups, large_blocks);
  } else {
    BuildVector<Memory, std::uint32_t> positions(num_elements);
    std::uint32_t* const order = positions.data();
    std::iota(order, order + num_elements, 0u);
    for (std::uint64_t g = 0; g < num_groups; ++g)
      std::stable_sort(order + firsts[g], order + firsts[g + 1],
                       [&](std::uint32_t a, std::uint32_t b) { return length_of(a) > length_of(b); });
    for (std::uint32_t i = 0; i < num_elements; ++i) store(i, load(order[i]), length_of(order[i]));
  }
}

}  // namespace tessera::cuda
