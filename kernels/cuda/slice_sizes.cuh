// What slices come to: words, and parts that are arranged, which lists and results are made for.
#pragma once
#include <cstdint>

#include "kernels/base/types.hpp"
#include "kernels/slice_builder.hpp"
#include "kernels/word_arrangement.hpp"

namespace tessera::cuda {

/// Parts (ArrangedPart) of one, two, three and four words a lane.
struct PartCounts {
  std::uint32_t of_words[kArrangedWords] = {};

  __host__ __device__ static PartCounts of(const Slice& s) {
    PartCounts counts;
    if (is_single(s)) return counts;
    counts.of_words[kArrangedWords - 1] = blocks_of(s) * (s.num_words / kArrangedWords);
    const std::uint32_t left = s.num_words % kArrangedWords;
    for (std::uint32_t w = 1; w < kArrangedWords; ++w) counts.of_words[w - 1] = left == w ? blocks_of(s) : 0;
    return counts;
  }
  __host__ __device__ std::uint32_t all() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t count : of_words) sum += count;
    return sum;
  }
};

/// What slices come to.
struct SliceSizes {
  std::uint64_t words = 0;
  PartCounts parts;

  __host__ __device__ static SliceSizes of(const Slice& s) {
    return {.words = aligned_words(s), .parts = PartCounts::of(s)};
  }
  __host__ __device__ SliceSizes operator+(const SliceSizes& other) const {
    SliceSizes sum{.words = words + other.words};
    for (std::uint32_t w = 0; w < kArrangedWords; ++w)
      sum.parts.of_words[w] = parts.of_words[w] + other.parts.of_words[w];
    return sum;
  }
};
/// Slices are aligned, so that they have four words at least for each of their parts, and 32 bits number the
/// parts of so many.
static_assert(kSliceAlignment % 4 == 0);
inline constexpr std::uint64_t kMostSliceWords = 4 * std::uint64_t{kNoVertex};

}  // namespace tessera::cuda
