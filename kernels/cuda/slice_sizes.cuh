// What slices come to: words, and parts that are arranged, which lists and results are made for.
#pragma once
#include <cstdint>

#include "kernels/base/types.hpp"
#include "kernels/slice_builder.hpp"
#include "kernels/word_arrangement.hpp"

namespace tessera::cuda {

/// Kinds of parts (ArrangedPart): of rows, of one, two, three and four words a lane; and joint ones. Warps
/// fill those of one kind at the same time.
inline constexpr std::uint32_t kPartKinds = kArrangedWords + 1, kJointParts = kArrangedWords;

/// Of the parts of a slice that have kArrangedWords words, or are joint, and of what is left of a lane.
struct KindsOfSlice {
  std::uint32_t whole, rest;

  __host__ __device__ static KindsOfSlice of(const Slice& s) {
    const std::uint32_t left = s.num_words % kArrangedWords,
                        whole = is_joint(s) ? kJointParts : kArrangedWords - 1;
    return {whole, is_joint(s) || left == 0 ? whole : left - 1};
  }
};

/// Parts of each kind.
struct PartCounts {
  std::uint32_t of_kind[kPartKinds] = {};

  __host__ __device__ static PartCounts of(const Slice& s) {
    PartCounts counts;
    if (is_single(s)) return counts;
    const std::uint32_t blocks = blocks_of(s), left = s.num_words % kArrangedWords;
    for (std::uint32_t w = 1; w < kArrangedWords; ++w)
      counts.of_kind[w - 1] = !is_joint(s) && left == w ? blocks : 0;
    counts.of_kind[kArrangedWords - 1] = is_joint(s) ? 0 : blocks * (s.num_words / kArrangedWords);
    counts.of_kind[kJointParts] = is_joint(s) ? num_word_groups(s) : 0;
    return counts;
  }
  /// Of a kind that the compiler does not know: by a look at all, as registers cannot be indexed.
  __host__ __device__ std::uint32_t operator[](std::uint32_t kind) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < kPartKinds; ++i) count = i == kind ? of_kind[i] : count;
    return count;
  }
  __host__ __device__ std::uint32_t all() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t count : of_kind) sum += count;
    return sum;
  }
  /// Where those of each kind begin in a list of all, kind by kind.
  PartCounts starts() const {
    PartCounts starts;
    for (std::uint32_t i = 1; i < kPartKinds; ++i) starts.of_kind[i] = starts.of_kind[i - 1] + of_kind[i - 1];
    return starts;
  }
};

/// What a slice's parts lie behind: those of its kinds in all slices before.
struct PartsBefore {
  std::uint32_t whole, rest;

  __host__ __device__ static PartsBefore of(const KindsOfSlice& kinds, const PartCounts& before) {
    return {before[kinds.whole], before[kinds.rest]};
  }
  bool operator==(const PartsBefore&) const = default;
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
    for (std::uint32_t i = 0; i < kPartKinds; ++i)
      sum.parts.of_kind[i] = parts.of_kind[i] + other.parts.of_kind[i];
    return sum;
  }
};
/// Slices are aligned, so that they have four words at least for each of their parts, and 32 bits number the
/// parts of so many.
static_assert(kSliceAlignment % 4 == 0);
inline constexpr std::uint64_t kMostSliceWords = 4 * std::uint64_t{kNoVertex};

}  // namespace tessera::cuda
