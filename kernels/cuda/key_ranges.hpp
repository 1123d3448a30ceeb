// Ranges of values that keys are counted by.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace tessera::cuda {

/// Bits of what is counted in shared memory at a time, and those that keys are dealt by: fewer bins are far
/// from each other, more need not be.
inline constexpr unsigned kCountedBits = 15, kFewestRangeBits = 7, kMostRangeBits = 10;

/// Ranges of 2^shift values that keys are dealt to.
struct KeyRanges {
  unsigned shift;
  std::uint32_t count;  ///< 0: values, 2^shift at most, are so few that keys need not be dealt

  static KeyRanges of(std::uint64_t num_values) {
    const unsigned bits = num_values < 2 ? 0 : static_cast<unsigned>(std::bit_width(num_values - 1));
    if (bits <= kCountedBits) return {bits, 0};
    const unsigned shift = bits - std::clamp(bits - kCountedBits - 1, kFewestRangeBits, kMostRangeBits);
    return {shift, static_cast<std::uint32_t>((num_values - 1) >> shift) + 1};
  }
};

}  // namespace tessera::cuda
