// Counts of digits in shared memory, for warps that sort together: what group_sort.cuh, deal_block.cuh,
// vertex_order.cuh and long_columns.cuh share.
#pragma once
#include <cstdint>

namespace tessera::cuda {

inline constexpr std::uint32_t kDigits = 256, kDigitBits = 8;

/// Warps that sort elements by a digit, one of kOf, together, in shared memory. Each counts a part of the
/// elements, which Count holds the number of all of.
template <unsigned kWarps, class Count = std::uint32_t, std::uint32_t kOf = kDigits>
struct SortingTeam {
  static constexpr unsigned kThreads = 32 * kWarps, kOfThread = kOf / 32;
  static_assert(kOf % 32 == 0);
  alignas(16) Count counts[kOf * kWarps];  ///< digit after digit, in each warp after warp
  std::uint32_t totals[kWarps];

  __device__ static unsigned thread() { return threadIdx.x % kThreads; }
  __device__ static unsigned warp() { return thread() / 32; }
  __device__ static void sync() {
    if constexpr (kWarps == 1)
      __syncwarp();
    else
      __syncthreads();
  }
  /// Elements of a warp, 32 at a time but for the last.
  __device__ static std::uint32_t part_of(std::uint32_t count) {
    return ((count + kWarps - 1) / kWarps + 31) / 32 * 32;
  }
  __device__ Count& count_of(std::uint32_t digit) { return counts[digit * kWarps + warp()]; }

  __device__ void clear() {
    for (unsigned i = 0; i < kOfThread; ++i) counts[thread() + i * kThreads] = 0;
    sync();
  }
  /// Adds what a warp has, an element a thread in each of `rounds` rounds: digit_of(i), kOf for none.
  /// before[i]: those of the same digit that the warp has before.
  template <unsigned kRounds, class DigitOf>
  __device__ __forceinline__ void count_rounds(unsigned rounds, const DigitOf& digit_of,
                                               std::uint32_t (&before)[kRounds]) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned i = 0; i < kRounds; ++i) {
      if (i >= rounds) break;
      const std::uint32_t digit = digit_of(i);
      const unsigned alike = __match_any_sync(~0u, digit), before_lane = __popc(alike & ((1u << lane) - 1));
      before[i] = digit < kOf ? count_of(digit) + before_lane : 0;
      __syncwarp();
      if (digit < kOf && before_lane == 0) count_of(digit) += static_cast<Count>(__popc(alike));
      __syncwarp();
    }
  }
  /// counts: of all before each.
  __device__ void sum_up() {
    Count* const own = counts + thread() * kOfThread;
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < kOfThread; ++i) sum += own[i];
    std::uint32_t up_to = sum;
    for (unsigned step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(~0u, up_to, step);
      if (thread() % 32 >= step) up_to += other;
    }
    std::uint32_t before = up_to - sum;
    if constexpr (kWarps > 1) {
      if (thread() % 32 == 31) totals[warp()] = up_to;
      sync();
      for (unsigned w = 0; w < warp(); ++w) before += totals[w];
    }
    for (unsigned i = 0; i < kOfThread; ++i) {
      const std::uint32_t count = own[i];
      own[i] = static_cast<Count>(before);
      before += count;
    }
    sync();
  }
};

}  // namespace tessera::cuda
