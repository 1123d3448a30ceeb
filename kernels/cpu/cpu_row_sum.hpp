// The sum of one row's elements in the order that the format fixes (kernels/tile_composite_view.hpp), for
// both layouts and for plain CSR: a row is a run of offsets with a stride.
//
// Processing row by row is also the fastest on a CPU in the column-major layout: neighbouring rows find
// their offsets in lines that are already in L1, and eight accumulators stay in registers.
#pragma once
#include <cstdint>
#include <type_traits>

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

/// work(width) with the width as a constant, where it is 1 to kSumLanes - 1: whether it is.
template <class Work>
inline bool with_short_width(std::uint64_t width, const Work& work) {
  switch (width) {
    case 1:
      work(std::integral_constant<unsigned, 1>());
      return true;
    case 2:
      work(std::integral_constant<unsigned, 2>());
      return true;
    case 3:
      work(std::integral_constant<unsigned, 3>());
      return true;
    case 4:
      work(std::integral_constant<unsigned, 4>());
      return true;
    case 5:
      work(std::integral_constant<unsigned, 5>());
      return true;
    case 6:
      work(std::integral_constant<unsigned, 6>());
      return true;
    case 7:
      work(std::integral_constant<unsigned, 7>());
      return true;
    default:
      return false;
  }
}

// Several vectors at once: x holds `num_vectors` adjacent numbers a column, of which the first kCount are
// worked on. Each vector is summed in the order of one by itself.

/// A block's column is a line of memory or more, and blocks fit caches less often than vectors do: so columns
/// are asked for ahead, so many elements before they are added.
inline constexpr std::uint64_t kElementsAhead = 16;

template <class S>
inline void ask_for(const S* column, std::uint64_t num_vectors) {
  constexpr std::uint64_t kLine = 64 / sizeof(S);
  for (std::uint64_t q = 0; q < num_vectors; q += kLine) __builtin_prefetch(column + q);
}

/// For the first elements of a row that comes soon; add_chunk_sums does it for the others.
template <class S, class Offset>
inline void ask_for_row(const Offset* offsets, std::uint64_t stride, std::uint64_t width, const S* x,
                        std::uint64_t num_vectors) {
  const std::uint64_t count = width < 2 * kElementsAhead ? width : 2 * kElementsAhead;
  for (std::uint64_t k = 0; k < count; ++k)
    ask_for(x + std::uint64_t{offsets[k * stride]} * num_vectors, num_vectors);
}

/// sums += the sums over a chunk of at least kSumLanes elements.
template <unsigned kCount, bool kWeighted, class S, class Offset>
inline void add_chunk_sums(const Offset* offsets, const S* values, std::uint64_t stride, std::uint64_t width,
                           const S* x, std::uint64_t num_vectors, double* sums) {
  double lanes[kSumLanes][kCount];
  const auto column = [&](std::uint64_t k) { return x + std::uint64_t{offsets[k * stride]} * num_vectors; };
  for (unsigned j = 0; j < kSumLanes; ++j)
    for (unsigned q = 0; q < kCount; ++q) lanes[j][q] = product<kWeighted>(values, j * stride, column(j)[q]);
  const auto add = [&](std::uint64_t k, unsigned j) {
    const S* const numbers = column(k);
    for (unsigned q = 0; q < kCount; ++q) lanes[j][q] += product<kWeighted>(values, k * stride, numbers[q]);
  };
  std::uint64_t k = kSumLanes;
  for (; k + kSumLanes <= width; k += kSumLanes) {
    if (k + kElementsAhead + kSumLanes <= width)
      for (unsigned j = 0; j < kSumLanes; ++j) ask_for(column(k + kElementsAhead + j), num_vectors);
    for (unsigned j = 0; j < kSumLanes; ++j) add(k + j, j);
  }
  for (unsigned j = 0; k < width; ++k, ++j) add(k, j);
  for (unsigned q = 0; q < kCount; ++q)
    sums[q] += ((lanes[0][q] + lanes[1][q]) + (lanes[2][q] + lanes[3][q])) +
               ((lanes[4][q] + lanes[5][q]) + (lanes[6][q] + lanes[7][q]));
}

/// sums += the sums over kWidth < kSumLanes elements: the tree of eight accumulators without those that are
/// empty.
template <unsigned kCount, unsigned kWidth, bool kWeighted, class S, class Offset>
inline void add_short_sums(const Offset* offsets, const S* values, std::uint64_t stride, const S* x,
                           std::uint64_t num_vectors, double* sums) {
  const S* columns[kWidth];
  for (unsigned j = 0; j < kWidth; ++j) columns[j] = x + std::uint64_t{offsets[j * stride]} * num_vectors;
  const auto term = [&](unsigned j, unsigned q) {
    return product<kWeighted>(values, j * stride, columns[j][q]);
  };
  const auto pair = [&](unsigned j, unsigned q) {
    return j + 1 < kWidth ? term(j, q) + term(j + 1, q) : term(j, q);
  };
  const auto four = [&](unsigned j, unsigned q) {
    return j + 2 < kWidth ? pair(j, q) + pair(j + 2, q) : pair(j, q);
  };
  for (unsigned q = 0; q < kCount; ++q) sums[q] += 4 < kWidth ? four(0, q) + four(4, q) : four(0, q);
}

/// y += the sums over a row.
template <unsigned kCount, bool kWeighted, class S, class Offset>
inline void add_row_sums(const Offset* offsets, const S* values, std::uint64_t stride, std::uint64_t width,
                         const S* x, std::uint64_t num_vectors, double* y) {
  double sums[kCount] = {};
  for (std::uint64_t k = 0; k < width; k += kSumChunk) {
    const std::uint64_t count = width - k < kSumChunk ? width - k : kSumChunk;
    const Offset* const from = offsets + k * stride;
    const S* const of = kWeighted ? values + k * stride : nullptr;
    const bool is_short = with_short_width(count, [&](auto width_of_row) {
      add_short_sums<kCount, width_of_row, kWeighted>(from, of, stride, x, num_vectors, sums);
    });
    if (!is_short) add_chunk_sums<kCount, kWeighted>(from, of, stride, count, x, num_vectors, sums);
  }
  for (unsigned q = 0; q < kCount; ++q) y[q] += sums[q];
}

/// add_row_sums for any number of vectors: eight at a time, then what is left in powers of two.
template <bool kWeighted, class S, class Offset>
inline void add_row_sums_block(const Offset* offsets, const S* values, std::uint64_t stride,
                               std::uint64_t width, const S* x, unsigned num_vectors, double* y) {
  unsigned q = 0;
  for (; q + 8 <= num_vectors; q += 8)
    add_row_sums<8, kWeighted>(offsets, values, stride, width, x + q, num_vectors, y + q);
  if (num_vectors & 4u) {
    add_row_sums<4, kWeighted>(offsets, values, stride, width, x + q, num_vectors, y + q);
    q += 4;
  }
  if (num_vectors & 2u) {
    add_row_sums<2, kWeighted>(offsets, values, stride, width, x + q, num_vectors, y + q);
    q += 2;
  }
  if (num_vectors & 1u) add_row_sums<1, kWeighted>(offsets, values, stride, width, x + q, num_vectors, y + q);
}

}  // namespace tessera::cpu
