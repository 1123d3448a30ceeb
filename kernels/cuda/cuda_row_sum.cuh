// The format's sum of one row on the device (kernels/tile_composite_view.hpp): by one thread; by groups of 8
// threads, each of which is one accumulator of a chunk; by a warp or a block of groups, each with a chunk.
// The bits are those of kernels/cpu/cpu_row_sum.hpp.
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

/// One thread: a chunk of `width` elements at offsets[0], offsets[stride], ...; x holds `num_vectors` numbers
/// a column.
template <bool kWeighted, class S, class Offset>
__device__ inline double thread_chunk_sum(const Offset* __restrict__ offsets, const S* __restrict__ values,
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

/// One thread, a whole row.
template <bool kWeighted, class S, class Offset>
__device__ inline double thread_row_sum(const Offset* offsets, const S* values, EdgeOffset stride,
                                        std::uint64_t width, const S* x, unsigned num_vectors) {
  double sum = 0;
  for (std::uint64_t k = 0; k < width; k += kSumChunk) {
    const auto count = static_cast<std::uint32_t>(width - k < kSumChunk ? width - k : kSumChunk);
    sum += thread_chunk_sum<kWeighted>(offsets + k * stride, kWeighted ? values + k * stride : nullptr,
                                       stride, count, x, num_vectors);
  }
  return sum;
}

/// Eight neighbouring threads of a warp, `lane` 0 to 7: every one returns the sum of a chunk with stride 1.
/// All 32 threads take part.
template <bool kWeighted, class S, class Offset>
__device__ inline double group_chunk_sum(const Offset* __restrict__ offsets, const S* __restrict__ values,
                                         std::uint32_t width, const S* x, unsigned lane) {
  double sum = 0;
#pragma unroll 8
  for (std::uint32_t k = lane; k < width; k += kSumLanes) sum += product<kWeighted>(values, k, x[offsets[k]]);
  __syncwarp();
  // Pairs, then fours, then eights: addition commutes, so both partners get the same bits.
#pragma unroll
  for (unsigned distance = 1; distance < kSumLanes; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

/// A group's chunk `chunk` of a row of `width` elements; 0 past its end.
template <bool kWeighted, class S, class Offset>
__device__ inline double group_sum_of(std::uint64_t chunk, const Offset* offsets, const S* values,
                                      std::uint64_t width, const S* x, unsigned lane) {
  const std::uint64_t begin = chunk * kSumChunk;
  const bool is_there = begin < width;
  const auto count = static_cast<std::uint32_t>(!is_there                   ? 0
                                                : width - begin < kSumChunk ? width - begin
                                                                            : kSumChunk);
  return group_chunk_sum<kWeighted>(offsets + (is_there ? begin : 0),
                                    kWeighted && is_there ? values + begin : values, count, x, lane);
}

/// A whole warp, one row with stride 1: its four groups take four chunks at a time.
template <bool kWeighted, class S, class Offset>
__device__ inline double warp_row_sum(const Offset* offsets, const S* values, std::uint64_t width, const S* x,
                                      unsigned lane) {
  constexpr unsigned kGroups = 32 / kSumLanes;
  double sum = 0;
  for (std::uint64_t chunk = 0; chunk * kSumChunk < width; chunk += kGroups) {
    const double mine =
        group_sum_of<kWeighted>(chunk + lane / kSumLanes, offsets, values, width, x, lane % kSumLanes);
#pragma unroll
    for (unsigned g = 0; g < kGroups; ++g) {
      const double part = __shfl_sync(0xffffffffu, mine, g * kSumLanes);
      if ((chunk + g) * kSumChunk < width) sum += part;
    }
  }
  return sum;
}

/// A whole block, one row with stride 1; `parts` is shared memory for one double a group. Only thread 0 gets
/// the sum. Ends with a barrier.
template <bool kWeighted, class S, class Offset>
__device__ inline double block_row_sum(const Offset* offsets, const S* values, std::uint64_t width,
                                       const S* x, double* parts) {
  const unsigned num_groups = blockDim.x / kSumLanes, group = threadIdx.x / kSumLanes;
  double sum = 0;
  for (std::uint64_t chunk = 0; chunk * kSumChunk < width; chunk += num_groups) {
    const double mine =
        group_sum_of<kWeighted>(chunk + group, offsets, values, width, x, threadIdx.x % kSumLanes);
    if (threadIdx.x % kSumLanes == 0) parts[group] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
      for (unsigned g = 0; g < num_groups && (chunk + g) * kSumChunk < width; ++g) sum += parts[g];
    __syncthreads();
  }
  return sum;
}

}  // namespace tessera::cuda
