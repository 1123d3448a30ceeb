// How many additions a row's sum takes one after the other, counted in the orders that
// kernels/tile_composite_view.hpp and kernels/tile_messages_view.hpp fix: so often does an f64 element round
// on its way into the sum at most. For bounds on errors.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/tile_composite_view.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera {

/// Of tile-composite, and of CSR with one tile: for rows of up to `length` elements in up to `num_tiles`
/// tiles. In an accumulator, the tree of them, chunks, tiles.
inline std::uint64_t additions_in_tiles(std::uint64_t length, std::uint64_t num_tiles) {
  static_assert(kSumLanes == 8, "a tree of 3 additions");
  if (length < 2) return 0;
  return (std::min<std::uint64_t>(length, kSumChunk) - 1) / kSumLanes + 3 + (length - 1) / kSumChunk +
         std::min(length, num_tiles) - 1;
}

/// Of a slice: for rows of up to `length` elements. Pairs, the tree of four words, trees in order, the lanes
/// of a joint row.
inline std::uint64_t additions_in_slice(std::uint64_t length) {
  static_assert(kTreeWords == 4 && kSliceLanes == 32, "trees of 2 and of 5 additions");
  const auto in_lane = [](std::uint64_t elements) { return 3 + ((elements + 1) / 2 - 1) / kTreeWords; };
  if (length < 2) return 0;
  if (length < kJointLength) return in_lane(length);
  return std::max(in_lane(kJointLength - 1), in_lane((length + kSliceLanes - 1) / kSliceLanes) + 5);
}

/// Of tile-messages, both passes: for rows of up to `length` elements in up to `num_tiles` tiles.
inline std::uint64_t additions_in_messages(std::uint64_t length, std::uint64_t num_tiles) {
  const std::uint64_t elements = elements_of_message(length);
  // Beyond one message a tile; a shorter row, whose messages are shorter, may have more.
  const std::uint64_t more =
      std::min(length / kMessageElements, std::max<std::uint64_t>(kMostExtraMessages, length / elements));
  return additions_in_slice(std::min(length, elements)) +
         additions_in_slice(std::min(length, num_tiles + more));
}

}  // namespace tessera
