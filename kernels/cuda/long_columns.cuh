// The longest columns of a graph among themselves: sorted by length in one kernel, which need not wait until
// the host knows how many they are. Its blocks all run at the same time and meet after each digit.
#pragma once
#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/side_stream.cuh"
#include "kernels/cuda/sorting_team.cuh"
#include "kernels/cuda/vertex_links.cuh"

namespace tessera::cuda {

inline constexpr unsigned kLongWarps = 16, kLongThreads = 32 * kLongWarps, kLongRounds = 16;
/// The fewer blocks meet, the sooner they have met.
inline constexpr unsigned kLeastLongBlocks = 16, kMostLongBlocks = 64;

/// By how much a column is shorter than the longest, and whose it is.
struct LongColumn {
  std::uint32_t shorter_by;
  VertexId vertex;
};

/// The first found->num_long vertices in order, so far in the order as given. If these are more than `most`,
/// nothing is done.
struct LongColumns {
  GivenVertices given;
  PlacedVertices placed;
  const VertexFindings* found;
  std::uint32_t most;
  LongColumn* lists[2];   ///< room for `most` each
  std::uint32_t* counts;  ///< room for kDigits of each block

  __device__ LongColumn first(std::uint32_t i) const {
    return {found->longest_column - placed.column_lengths[i], placed.vertices[i]};
  }
};

/// What a block has of all columns, in shared memory.
struct LongBlock {
  SortingTeam<kLongWarps, std::uint16_t> team;
  cub::BlockScan<std::uint32_t, kLongThreads>::TempStorage scan;
  std::uint32_t shifts[kDigits];  ///< of each digit, from places in the block to those of all
  std::uint32_t first, size, rounds;

  __device__ std::uint32_t place(unsigned round) const {
    return (threadIdx.x / 32 * rounds + round) * 32 + threadIdx.x % 32;
  }

  /// before: of the thread's columns, how many of the same digit its warp has before each.
  __device__ void count(const LongColumn (&own)[kLongRounds], unsigned shift,
                        std::uint32_t (&before)[kLongRounds]) {
    team.clear();
    team.count_rounds(
        rounds,
        [&](unsigned i) { return place(i) < size ? own[i].shorter_by >> shift & (kDigits - 1) : kDigits; },
        before);
    __syncthreads();
  }

  /// The block's columns of each digit, told to others.
  __device__ void tell(std::uint32_t* counts) const {
    if (threadIdx.x >= kDigits) return;
    std::uint32_t sum = 0;
    for (unsigned w = 0; w < kLongWarps; ++w) sum += team.counts[threadIdx.x * kLongWarps + w];
    counts[blockIdx.x * kDigits + threadIdx.x] = sum;
  }

  /// When all have told theirs.
  __device__ void find_shifts(const std::uint32_t* counts) {
    std::uint32_t before = 0, all = 0;
    if (threadIdx.x < kDigits) {
#pragma unroll 8
      for (unsigned b = 0; b < gridDim.x; ++b) {
        const std::uint32_t own = counts[b * kDigits + threadIdx.x];
        if (b < blockIdx.x) before += own;
        all += own;
      }
    }
    cub::BlockScan<std::uint32_t, kLongThreads>(scan).ExclusiveSum(all, all);
    team.sum_up();
    if (threadIdx.x < kDigits) shifts[threadIdx.x] = all + before - team.counts[threadIdx.x * kLongWarps];
    __syncthreads();
  }
};

static_assert(sizeof(LongBlock) <= 48u << 10, "a multiprocessor has room for a block");

/// counts are those that all blocks tell each other. Digits come one after the other, the lowest first.
inline __global__ void __launch_bounds__(kLongThreads) sort_long_kernel(LongColumns columns) {
  const auto grid = cooperative_groups::this_grid();
  __shared__ LongBlock block;
  const std::uint32_t count = columns.found->num_long;
  if (count > columns.most) return;
  if (threadIdx.x == 0) {
    block.rounds = ceil_div(ceil_div(count, gridDim.x), kLongThreads);
    block.first = min(blockIdx.x * block.rounds * kLongThreads, count);
    block.size = min(block.rounds * kLongThreads, count - block.first);
  }
  __syncthreads();
  const std::uint32_t most_shorter = columns.found->longest_column - OrderKey::kLong;
  unsigned digit = 0;
  for (; count > 1 && digit < 4 && most_shorter >> digit * kDigitBits > 0; ++digit) {
    const LongColumn* const from = columns.lists[digit % 2];
    LongColumn own[kLongRounds];
    std::uint32_t before[kLongRounds];
#pragma unroll
    for (unsigned i = 0; i < kLongRounds; ++i)
      if (i < block.rounds && block.place(i) < block.size) {
        const std::uint32_t at = block.first + block.place(i);
        own[i] = digit == 0 ? columns.first(at) : from[at];
      }
    block.count(own, digit * kDigitBits, before);
    block.tell(columns.counts);
    grid.sync();
    block.find_shifts(columns.counts);
#pragma unroll
    for (unsigned i = 0; i < kLongRounds; ++i)
      if (i < block.rounds && block.place(i) < block.size) {
        const std::uint32_t value = own[i].shorter_by >> digit * kDigitBits & (kDigits - 1);
        columns.lists[(digit + 1) % 2][block.shifts[value] + block.team.count_of(value) + before[i]] = own[i];
      }
    grid.sync();
  }
  if (digit == 0) return;
  for (std::uint32_t i = blockIdx.x * kLongThreads + threadIdx.x; i < count; i += gridDim.x * kLongThreads)
    columns.placed.put_in_order(columns.given, i, columns.lists[digit % 2][i].vertex);
}

/// Room for the columns, for all that there can be if they are not too many, and a launch for them. Blocks
/// that the device has multiprocessors for run together. num_elements: of all columns.
class LongColumnSort {
 public:
  LongColumnSort(std::uint64_t num_vertices, std::uint64_t num_elements)
      : blocks_(std::min(blocks_beside(), blocks_for(num_elements / OrderKey::kLong))),
        most_(static_cast<std::uint32_t>(
            std::min<std::uint64_t>(num_vertices, blocks_ * kLongRounds * kLongThreads))),
        lists_(2 * std::uint64_t{most_}),
        counts_(std::uint64_t{blocks_} * kDigits) {}

  std::uint32_t most() const { return most_; }
  void run(const GivenVertices& given, const PlacedVertices& placed, const VertexFindings* found) {
    LongColumns columns{given, placed, found, most_, {lists_.data(), lists_.data() + most_}, counts_.data()};
    void* arguments[] = {&columns};
    TESSERA_CUDA_CALL(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(sort_long_kernel), blocks_,
                                                  kLongThreads, arguments, 0, nullptr));
  }

 private:
  static unsigned blocks_for(std::uint64_t num_columns) {
    return static_cast<unsigned>(std::clamp<std::uint64_t>(
        ceil_div(num_columns, std::uint64_t{kLongRounds * kLongThreads}), kLeastLongBlocks, kMostLongBlocks));
  }

  unsigned blocks_;
  std::uint32_t most_;
  BuildVector<DeviceMemory, LongColumn> lists_;
  BuildVector<DeviceMemory, std::uint32_t> counts_;
};

}  // namespace tessera::cuda
