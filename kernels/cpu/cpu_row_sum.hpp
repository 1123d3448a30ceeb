// The sum of one row's elements in the order that the format fixes (kernels/tile_composite_view.hpp), for
// both layouts and for plain CSR: a row is a run of offsets with a stride.
//
// Processing row by row is also the fastest on a CPU in the column-major layout: neighbouring rows find
// their offsets in lines that are already in L1, and eight accumulators stay in registers.
#pragma once
#include <cstdint>

#include "kernels/tile_composite_view.hpp"

namespace tessera::cpu {

static_assert(kSumLanes == 8, "the tree below is written out for eight accumulators");

inline double add_lanes(const double* a) {
  return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
}

/// value * x in double; `values` null means 1.
template <bool kWeighted, class S>
inline double product(const S* values, std::uint64_t position, S x) {
  if constexpr (kWeighted) return static_cast<double>(values[position]) * static_cast<double>(x);
  return static_cast<double>(x);
}

/// Sum over a chunk: `width` <= kSumChunk elements at offsets[0], offsets[stride], ...; values run parallel
/// to offsets.
template <bool kWeighted, class S, class Offset>
inline double chunk_sum(const Offset* offsets, const S* values, std::uint64_t stride, std::uint64_t width,
                        const S* x) {
  double lanes[kSumLanes] = {};
  std::uint64_t k = 0;
  for (; k + kSumLanes <= width; k += kSumLanes)
    for (unsigned j = 0; j < kSumLanes; ++j) {
      const std::uint64_t position = (k + j) * stride;
      lanes[j] += product<kWeighted>(values, position, x[offsets[position]]);
    }
  for (unsigned j = 0; k < width; ++k, ++j)
    lanes[j] += product<kWeighted>(values, k * stride, x[offsets[k * stride]]);
  return add_lanes(lanes);
}

/// Sum over a row: its chunks, one after the other.
template <bool kWeighted, class S, class Offset>
inline double row_sum(const Offset* offsets, const S* values, std::uint64_t stride, std::uint64_t width,
                      const S* x) {
  double sum = 0;
  for (std::uint64_t k = 0; k < width; k += kSumChunk) {
    const std::uint64_t count = width - k < kSumChunk ? width - k : kSumChunk;
    sum += chunk_sum<kWeighted>(offsets + k * stride, kWeighted ? values + k * stride : nullptr, stride,
                                count, x);
  }
  return sum;
}

/// The same for kWidth < kSumLanes elements, unrolled: most rows of a power-law tile are this short.
template <unsigned kWidth, bool kWeighted, class S, class Offset>
inline double short_row_sum(const Offset* offsets, const S* values, std::uint64_t stride, const S* x) {
  double lanes[kSumLanes] = {};
  for (unsigned j = 0; j < kWidth; ++j)
    lanes[j] = product<kWeighted>(values, j * stride, x[offsets[j * stride]]);
  return add_lanes(lanes);
}

/// kCount vectors at once: x holds `num_vectors` adjacent numbers a column, of which the sums of the first
/// kCount over a chunk are added to `sums`. Each vector is summed in the order of chunk_sum.
template <unsigned kCount, bool kWeighted, class S, class Offset>
inline void add_chunk_sums(const Offset* offsets, const S* values, std::uint64_t stride, std::uint64_t width,
                           const S* x, std::uint64_t num_vectors, double* sums) {
  double lanes[kSumLanes][kCount] = {};
  auto add = [&](std::uint64_t k, unsigned j) {
    const S* column = x + std::uint64_t{offsets[k * stride]} * num_vectors;
    for (unsigned q = 0; q < kCount; ++q) lanes[j][q] += product<kWeighted>(values, k * stride, column[q]);
  };
  std::uint64_t k = 0;
  for (; k + kSumLanes <= width; k += kSumLanes)
    for (unsigned j = 0; j < kSumLanes; ++j) add(k + j, j);
  for (unsigned j = 0; k < width; ++k, ++j) add(k, j);
  for (unsigned q = 0; q < kCount; ++q) {
    const double lane_sums[kSumLanes] = {lanes[0][q], lanes[1][q], lanes[2][q], lanes[3][q],
                                         lanes[4][q], lanes[5][q], lanes[6][q], lanes[7][q]};
    sums[q] += add_lanes(lane_sums);
  }
}

/// The same over a row; added to y.
template <unsigned kCount, bool kWeighted, class S, class Offset>
inline void add_row_sums(const Offset* offsets, const S* values, std::uint64_t stride, std::uint64_t width,
                         const S* x, std::uint64_t num_vectors, double* y) {
  double sums[kCount] = {};
  for (std::uint64_t k = 0; k < width; k += kSumChunk) {
    const std::uint64_t count = width - k < kSumChunk ? width - k : kSumChunk;
    add_chunk_sums<kCount, kWeighted>(offsets + k * stride, kWeighted ? values + k * stride : nullptr, stride,
                                      count, x, num_vectors, sums);
  }
  for (unsigned q = 0; q < kCount; ++q) y[q] += sums[q];
}

/// add_row_sums for any number of vectors, eight, then one at a time.
template <bool kWeighted, class S, class Offset>
inline void add_row_sums_block(const Offset* offsets, const S* values, std::uint64_t stride,
                               std::uint64_t width, const S* x, unsigned num_vectors, double* y) {
  unsigned q = 0;
  for (; q + 8 <= num_vectors; q += 8)
    add_row_sums<8, kWeighted>(offsets, values, stride, width, x + q, num_vectors, y + q);
  for (; q < num_vectors; ++q)
    add_row_sums<1, kWeighted>(offsets, values, stride, width, x + q, num_vectors, y + q);
}

}  // namespace tessera::cpu
