// The elements of one lane of a part on their way from where they lie: of a row of its own, or of its share
// of a joint row.
#pragma once
#include <cstdint>

#include "kernels/cuda/word_source.cuh"

namespace tessera::cuda {

/// Four bytes, or eight, where they are wanted, else 0. For a load under a condition the compiler makes a
/// branch or a move that waits for it, and what is loaded next waits, too. from: aligned to what is loaded,
/// and written by no kernel that may still run. The address must depend on what was loaded behind
/// wait_for_kernels_before(), as nothing else keeps this load behind it.
__host__ __device__ inline std::uint32_t load_if(bool is_wanted, const std::uint16_t* from) {
  std::uint32_t found = 0;
#ifdef __CUDA_ARCH__
  asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p ld.global.nc.u32 %0, [%2]; }"
      : "+r"(found)
      : "r"(std::uint32_t{is_wanted}), "l"(from));
#else
  using Pair [[gnu::may_alias]] = std::uint32_t;
  if (is_wanted) found = *reinterpret_cast<const Pair*>(from);
#endif
  return found;
}
__host__ __device__ inline void load_if(bool is_wanted, const std::uint16_t* from,
                                        std::uint32_t (&found)[2]) {
#ifdef __CUDA_ARCH__
  found[0] = found[1] = 0;
  asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.nc.v2.u32 {%0, %1}, [%3]; }"
      : "+r"(found[0]), "+r"(found[1])
      : "r"(std::uint32_t{is_wanted}), "l"(from));
#else
  for (unsigned i = 0; i < 2; ++i) found[i] = load_if(is_wanted, from + 2 * i);
#endif
}

/// A word of which `count` halves or more are elements; the others become padding.
__host__ __device__ inline std::uint32_t padded_word(std::uint32_t word, std::uint32_t count,
                                                     std::uint32_t padding) {
#ifdef __CUDA_ARCH__
  return __byte_perm(word, padding, count > 1 ? 0x3210 : count > 0 ? 0x5410 : 0x5454);
#else
  return count > 1 ? word : padding << 16 | (count > 0 ? word & 0xffffu : padding);
#endif
}

/// Of a row that has the lane to itself, up to 2 * kWords elements that follow each other. They are loaded 8
/// bytes at a time: a warp's rows lie far from each other, and its loads take as long as they ask for rows,
/// however little of each.
template <unsigned kWords>
class RowElements {
 public:
  static constexpr bool kAreJoint = false;
  /// The number of a lane's first element in its row. first_in_row: of the part (ArrangedPart).
  __host__ __device__ static std::uint32_t first(std::uint32_t first_in_row, std::uint32_t /*lane*/) {
    return 2 * first_in_row;
  }

  /// Asks for the row's elements from `first` on. Up to 6 bytes of the array in front of these and behind
  /// them are read, of as many 8 bytes as they lie in.
  __host__ __device__ void load(const std::uint16_t* offsets, const ListedRow& row, std::uint32_t first) {
    const std::uint64_t begin = row.begin + first;
    count_ = first < row.length ? row.length - first : 0;
    skipped_ = static_cast<std::uint32_t>(begin % kOffsetsAtOnce);
    const std::uint32_t end = count_ > 0 ? skipped_ + (count_ < 2 * kWords ? count_ : 2 * kWords) : 0;
    const std::uint16_t* const from = offsets + (begin - skipped_);
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i)
      load_if(kOffsetsAtOnce * i < end, from + kOffsetsAtOnce * i, loaded_[i]);
  }
  /// Whether no word has padding.
  __host__ __device__ bool are_all() const { return count_ >= 2 * kWords; }
  /// Word k of the lane, before it is arranged; halves beyond the row's elements are anything.
  __host__ __device__ std::uint32_t word(unsigned k) const {
    const auto loaded = [&](unsigned i) { return loaded_[i / 2][i % 2]; };
    const auto from = [&](unsigned i) { return skipped_ < 2 ? loaded(i) : loaded(i + 1); };
    const std::uint64_t both = std::uint64_t{from(k + 1)} << 32 | from(k);
    return static_cast<std::uint32_t>(both >> 16 * (skipped_ % 2));
  }
  __host__ __device__ std::uint32_t word(unsigned k, std::uint32_t padding) const {
    return padded_word(word(k), count_ > 2 * k ? count_ - 2 * k : 0, padding);
  }

 private:
  static constexpr unsigned kLoads = (2 * kWords + 2 * (kOffsetsAtOnce - 1)) / kOffsetsAtOnce;
  static_assert(kWords + 1 < 2 * kLoads, "the last word begins in what is loaded, and ends there");

  std::uint32_t count_, skipped_, loaded_[kLoads][2];
};

/// A lane's share of a joint row: every 32nd word. Each is loaded from the 4 or 8 bytes that it lies in.
template <unsigned kWords>
class JointElements {
 public:
  static constexpr bool kAreJoint = true;
  __host__ __device__ static std::uint32_t first(std::uint32_t first_in_row, std::uint32_t lane) {
    return 2 * (first_in_row * kSliceLanes + lane);
  }

  /// As RowElements has it, but up to 2 bytes in front and behind are read.
  __host__ __device__ void load(const std::uint16_t* offsets, const ListedRow& row, std::uint32_t first) {
    const std::uint64_t begin = row.begin + first;
    count_ = first < row.length ? row.length - first : 0;
    is_odd_ = begin % 2 != 0;
    const std::uint16_t* const from = offsets + (begin - begin % 2);
#pragma unroll
    for (unsigned k = 0; k < kWords; ++k) {
      low_[k] = load_if(kStep * k < count_, from + kStep * k);
      high_[k] = load_if(is_odd_ && kStep * k + 1 < count_, from + kStep * k + 2);
    }
  }
  __host__ __device__ bool are_all() const { return count_ >= kStep * (kWords - 1) + 2; }
  __host__ __device__ std::uint32_t word(unsigned k) const {
    return static_cast<std::uint32_t>((std::uint64_t{high_[k]} << 32 | low_[k]) >> (is_odd_ ? 16 : 0));
  }
  __host__ __device__ std::uint32_t word(unsigned k, std::uint32_t padding) const {
    return padded_word(word(k), count_ > kStep * k ? count_ - kStep * k : 0, padding);
  }

 private:
  static constexpr std::uint32_t kStep = 2 * kSliceLanes;

  std::uint32_t count_, low_[kWords], high_[kWords];
  bool is_odd_;
};

}  // namespace tessera::cuda
