#include "kernels/row_additions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tessera::test {
namespace {

/// What stands for a sum here: the additions that its elements went through at most; adding to kNothing, or
/// nothing, does not round.
constexpr int kNothing = -1;
int plus(int a, int b) { return a == kNothing ? b : b == kNothing ? a : std::max(a, b) + 1; }

int tree(std::vector<int> sums) {
  for (std::size_t distance = 1; distance < sums.size(); distance *= 2)
    for (std::size_t i = 0; i + distance < sums.size(); i += 2 * distance)
      sums[i] = plus(sums[i], sums[i + distance]);
  return sums[0];
}

/// One tile of tile-composite: chunks of 256, eight accumulators.
int tile_sum(std::uint64_t length) {
  int sum = kNothing;
  for (std::uint64_t first = 0; first < length; first += 256) {
    std::vector<int> lanes(8, kNothing);
    for (std::uint64_t k = first; k < std::min(first + 256, length); ++k)
      lanes[k % 8] = plus(lanes[k % 8], 0);
    sum = plus(sum, tree(lanes));
  }
  return sum;
}

/// A row of a slice of tile-messages: words of two, trees of four words, 32 lanes from 128 elements on.
int slice_sum(std::uint64_t length) {
  const std::uint64_t num_lanes = length < 128 ? 1 : 32, num_words = (length + 1) / 2;
  std::vector<int> lanes(num_lanes, kNothing);
  for (std::uint64_t lane = 0; lane < num_lanes; ++lane) {
    std::vector<int> words;
    for (std::uint64_t word = lane; word < num_words; word += num_lanes)
      words.push_back(2 * word + 1 < length ? 1 : 0);
    for (std::size_t first = 0; first < words.size(); first += 4)
      lanes[lane] =
          plus(lanes[lane],
               tree({words.begin() + static_cast<std::ptrdiff_t>(first),
                     words.begin() + static_cast<std::ptrdiff_t>(std::min(first + 4, words.size()))}));
  }
  return tree(lanes);
}

TEST(RowAdditions, AreThoseOfTheLongestWayInTiles) {
  for (std::uint64_t length = 1; length < 3000; ++length) {
    EXPECT_LE(tile_sum(length), additions_in_tiles(length, 1)) << length;
  }
  EXPECT_EQ(additions_in_tiles(1, 1), 0u);
  EXPECT_EQ(additions_in_tiles(256, 1), 34u);
  EXPECT_EQ(additions_in_tiles(200000, 1), 31u + 3 + 781);
  for (std::uint64_t length = 2; length < 2000; length += 3)
    for (std::uint64_t in_first = 1; in_first < length; in_first += 37) {
      const int sum = plus(plus(tile_sum(in_first), tile_sum(length - in_first)), kNothing);
      EXPECT_LE(sum, additions_in_tiles(length, 2)) << length << ' ' << in_first;
    }
}

TEST(RowAdditions, AreThoseOfTheLongestWayThroughMessages) {
  int most = 0;
  for (std::uint64_t length = 1; length < 9000; ++length) {
    most = std::max(most, slice_sum(length));
    EXPECT_LE(most, additions_in_slice(length)) << length;
    EXPECT_GE(most + 2, additions_in_slice(length)) << length;
  }
  // 1,024 elements a message: one tile gives 2 messages of 1,500 elements, two tiles up to 3.
  EXPECT_EQ(additions_in_messages(1, 1), 0u);
  EXPECT_EQ(additions_in_messages(1000, 1), 18u);
  EXPECT_GE(additions_in_messages(1500, 1), 18u + 1);
  EXPECT_GE(additions_in_messages(1500, 2), 18u + 2);
  // Beyond 2^23 elements messages are longer, but a row of 2^23 has most of them.
  EXPECT_GE(additions_in_messages((1 << 23) + (1 << 20), 200), additions_in_messages(1 << 23, 200));
}

TEST(RowAdditions, DoNotFallWithLength) {
  for (std::uint64_t length = 1; length < 40'000'000; length += 1 + length / 1000)
    for (const std::uint64_t num_tiles : {1, 7, 1000}) {
      const std::uint64_t longer = length + 1 + length / 1000;
      EXPECT_LE(additions_in_tiles(length, num_tiles), additions_in_tiles(longer, num_tiles)) << length;
      EXPECT_LE(additions_in_messages(length, num_tiles), additions_in_messages(longer, num_tiles)) << length;
    }
}

}  // namespace
}  // namespace tessera::test
