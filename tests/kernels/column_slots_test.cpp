#include "kernels/column_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tessera::test {
namespace {

constexpr std::uint32_t kWidths[] = {1,   2,   3,   5,    7,         11,    14,    50,
                                     255, 256, 641, 4096, 48 * 1024, 49151, 64512, 65535};

/// For a column and its neighbours, as far as there are any.
void expect_divided(const ColumnSlots& slots, std::uint32_t width, std::uint64_t last_tile,
                    std::uint64_t at) {
  for (std::uint64_t column = at - std::min<std::uint64_t>(at, 2);
       column <= std::min(at + 2, kMaxVertices - 1); ++column) {
    const std::uint64_t slot = column + std::min(column / width, last_tile);
    if (slot >= kMaxVertices) return;
    ASSERT_EQ(slots.slot_of(static_cast<VertexId>(column)), slot) << column << " in tiles of " << width;
  }
}

TEST(ColumnSlots, AZeroSlotIsBehindEveryTile) {
  const ColumnSlots slots(3, 3);  // columns 0 to 2, 3 to 5, and from 6 on all
  const VertexId expected[] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12};
  for (VertexId column = 0; column < std::size(expected); ++column)
    EXPECT_EQ(slots.slot_of(column), expected[column]);
}

TEST(ColumnSlots, OneTileLeavesColumnsInOrder) {
  for (const ColumnSlots& slots : {ColumnSlots(), ColumnSlots(5, 1), ColumnSlots(5, 0)})
    for (const VertexId column : {VertexId{0}, VertexId{4}, VertexId{5}, VertexId{1000}, kNoVertex - 2})
      EXPECT_EQ(slots.slot_of(column), column);
}

TEST(ColumnSlots, AreThoseOfAPlainDivision) {
  std::mt19937_64 random(1);
  for (const std::uint32_t width : kWidths)
    for (const std::uint64_t num_tiles : {std::uint64_t{2}, std::uint64_t{1000}, kMaxVertices}) {
      const ColumnSlots slots(width, num_tiles);
      const std::uint64_t last = num_tiles - 1;
      for (std::uint64_t tile = 0; tile < 300; ++tile) expect_divided(slots, width, last, tile * width);
      for (int i = 0; i < 2000; ++i) {
        expect_divided(slots, width, last, random() % kMaxVertices);
        expect_divided(slots, width, last, random() % (kMaxVertices / width) * width);
      }
      expect_divided(slots, width, last, kMaxVertices - 3);
    }
}

}  // namespace
}  // namespace tessera::test
