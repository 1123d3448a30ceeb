// What digits edges are sorted by: those of their rows deal them to buckets, in one step or two; what is left
// of a row in its bucket and the column make a key of 32 bits.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/base/host_device.hpp"
#include "kernels/base/types.hpp"

namespace tessera::cuda {

struct EdgeDigits {
  unsigned id_bits = 0;                      ///< of a vertex
  unsigned first_bits = 0, second_bits = 0;  ///< of a row: the upper ones, and those behind them
  unsigned low_bits = 0;                     ///< of a row: those that its bucket leaves

  static constexpr unsigned kBestFirstBits = 7, kMostFirstBits = 10;
  static constexpr unsigned kBestSecondBits = 9, kMostSecondBits = 10, kMostLowBits = 11;
  static constexpr unsigned kMostOnlyBits = 12;       ///< of the second digit, where there is no first
  static constexpr std::uint64_t kBestBucket = 4096;  ///< edges
  static constexpr std::uint64_t kFewEdges = std::uint64_t{1} << 25;  ///< at most

  TESSERA_HD unsigned key_bits() const { return low_bits + id_bits; }
  /// An edge's, in its bucket.
  TESSERA_HD std::uint32_t key(VertexId row, VertexId col) const {
    return (row & ((1u << low_bits) - 1)) << id_bits | col;
  }
  /// All edges then go to buckets by the second digit.
  bool in_one_step() const { return first_bits == 0; }
  std::uint32_t num_first_bins() const { return 1u << first_bits; }
  std::uint32_t num_second_bins() const { return 1u << second_bits; }
  std::uint32_t num_buckets() const { return 1u << (first_bits + second_bits); }

  /// Whether there are digits for so many vertices.
  static bool fit(std::uint64_t num_vertices) { return num_vertices <= std::uint64_t{1} << 26; }

  /// For at most 2^26 vertices and at least one edge. Few edges go to up to 2^most_only_bits buckets without
  /// a first step, and so do many where buckets are as few as the second step has bins. Where edges are many,
  /// fewer bins in the first step are better: these are far from each other in memory, those of the second
  /// are near. The first has kBestFirstBits at most until the second has kMostSecondBits.
  static EdgeDigits of(std::uint64_t num_vertices, std::uint64_t num_edges,
                       unsigned most_only_bits = kMostOnlyBits) {
    EdgeDigits digits;
    digits.id_bits = num_vertices < 2 ? 0 : static_cast<unsigned>(std::bit_width(num_vertices - 1));
    const auto bucket_bits = static_cast<unsigned>(std::bit_width((num_edges - 1) / kBestBucket));
    digits.low_bits =
        std::min({digits.id_bits - std::min(digits.id_bits, bucket_bits), 32 - digits.id_bits, kMostLowBits});
    const unsigned upper = digits.id_bits - digits.low_bits;
    if (upper <= most_only_bits && num_edges <= kFewEdges) {
      digits.second_bits = upper;
      return digits;
    }
    digits.second_bits = std::max(std::min(upper, kBestSecondBits),
                                  std::min(upper - std::min(upper, kBestFirstBits), kMostSecondBits));
    digits.first_bits = upper - digits.second_bits;
    return digits;
  }
};

}  // namespace tessera::cuda
