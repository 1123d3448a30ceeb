// The format's sum of one row on the device (kernels/tile_composite_view.hpp): by one thread, or by a group
// of 8 threads, each of which is one accumulator. The bits are those of kernels/cpu/cpu_row_sum.hpp.
#pragma once
#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {

static_assert(kSumLanes == 8, "the trees below are written out for eight accumulators");

/// value * x in double, rounded once; never fused with the addition that follows.
template <bool kWeighted, class S>
__device__ inline double product(const S* values, EdgeOffset position, S x) {
  if constexpr (kWeighted) return __dmul_rn(static_cast<double>(values[position]), static_cast<double>(x));
  return static_cast<double>(x);
}

__device__ inline double add_lanes(const double* a) {
  return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
}

/// One thread: elements at offsets[0], offsets[stride], ...; x holds `num_vectors` numbers a column.
template <bool kWeighted, class S, class Offset>
__device__ inline double thread_row_sum(const Offset* __restrict__ offsets, const S* __restrict__ values,
                                        EdgeOffset stride, std::uint32_t width, const S* x,
                                        unsigned num_vectors) {
  double lanes[kSumLanes] = {};
  std::uint32_t k = 0;
  for (; k + kSumLanes <= width; k += kSumLanes) {
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) {
      const EdgeOffset at = (k + j) * stride;
      lanes[j] += product<kWeighted>(values, at, x[EdgeOffset{offsets[at]} * num_vectors]);
    }
  }
#pragma unroll
  for (unsigned j = 0; j < kSumLanes - 1; ++j)
    if (k + j < width) {
      const EdgeOffset at = (k + j) * stride;
      lanes[j] += product<kWeighted>(values, at, x[EdgeOffset{offsets[at]} * num_vectors]);
    }
  return add_lanes(lanes);
}

/// Eight neighbouring threads of a warp, `lane` 0 to 7: every one returns the sum. All 32 threads take part.
template <bool kWeighted, class S, class Offset>
__device__ inline double group_row_sum(const Offset* __restrict__ offsets, const S* __restrict__ values,
                                       std::uint64_t width, const S* x, unsigned lane) {
  double sum = 0;
#pragma unroll 4
  for (std::uint64_t k = lane; k < width; k += kSumLanes) sum += product<kWeighted>(values, k, x[offsets[k]]);
  // Pairs, then fours, then eights: addition commutes, so both partners get the same bits.
  __syncwarp();
#pragma unroll
  for (unsigned distance = 1; distance < kSumLanes; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

}  // namespace tessera::cuda
