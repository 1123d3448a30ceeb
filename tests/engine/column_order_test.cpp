#include "engine/column_order.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(ColumnOrder, CutsDenseTilesAndOneRemainder) {
  // Lengths 5 4 4 3 1 1 and one empty column; tiles of two columns.
  const std::vector<std::uint64_t> lengths = {1, 4, 0, 5, 3, 4, 1};

  const ColumnOrder order = order_columns_by_length(lengths, 2);

  ASSERT_EQ(order.tiles.size(), 3u);
  EXPECT_EQ(order.tiles[0].first_slot, 0u);
  EXPECT_EQ(order.tiles[0].num_columns, 2u);
  EXPECT_EQ(order.tiles[1].first_slot, 3u);  // slot 2 is the zero slot of the first tile
  EXPECT_EQ(order.tiles[2].first_slot, 6u);
  EXPECT_EQ(order.tiles[2].num_columns, 2u);
  EXPECT_FALSE(order.tiles[1].wide);
  EXPECT_TRUE(order.tiles[2].wide);
  EXPECT_EQ(order.num_slots, 9u);
  const std::vector<VertexId> expected = {6, 1, kNoVertex, 0, 4, 3, 7};
  for (std::size_t column = 0; column < expected.size(); ++column)
    EXPECT_EQ(order.slot_of_column[column], expected[column]) << "column " << column;
}

TEST(ColumnOrder, TileWhoseFirstColumnIsLongTakesShortColumnsToo) {
  const std::vector<std::uint64_t> lengths = {2, 1, 1, 1};
  const ColumnOrder order =
      order_columns_by_length(lengths, 3);  // algorithm 1 looks at the first column only
  ASSERT_EQ(order.tiles.size(), 2u);
  EXPECT_EQ(order.tiles[0].num_columns, 3u);
  EXPECT_TRUE(order.tiles[1].wide);
}

TEST(ColumnOrder, TheRemainderTakesWhatTheLastAllowedTileLeaves) {
  const std::vector<std::uint64_t> lengths = {9, 8, 7, 6, 5, 4};
  const ColumnOrder order = order_columns_by_length(lengths, 2, 1);
  ASSERT_EQ(order.tiles.size(), 2u);
  EXPECT_FALSE(order.tiles[0].wide);
  EXPECT_EQ(order.tiles[0].num_columns, 2u);
  EXPECT_TRUE(order.tiles[1].wide);
  EXPECT_EQ(order.tiles[1].num_columns, 4u);
}

TEST(ColumnOrder, OfEmptyColumnsHasNoSlots) {
  const std::vector<std::uint64_t> lengths = {0, 0};
  const ColumnOrder order = order_columns_by_length(lengths, 4);
  EXPECT_EQ(order.num_slots, 0u);
  EXPECT_TRUE(order.tiles.empty());
  EXPECT_EQ(order.slot_of_column[1], kNoVertex);
}

TEST(ColumnOrder, AsGivenKeepsTheIdsWithoutEmptyColumns) {
  const std::vector<std::uint64_t> lengths = {1, 0, 4, 5, 0, 3, 4};
  const ColumnOrder order = order_columns_as_given(lengths, 2);
  ASSERT_EQ(order.tiles.size(), 3u);
  EXPECT_EQ(order.tiles[1].first_slot, 3u);  // slot 2 is the zero slot of the first tile
  EXPECT_EQ(order.tiles[1].num_columns, 2u);
  EXPECT_EQ(order.tiles[2].first_slot, 6u);
  EXPECT_EQ(order.tiles[2].num_columns, 1u);
  EXPECT_FALSE(order.tiles[2].wide);
  EXPECT_EQ(order.num_slots, 8u);
  const std::vector<VertexId> expected = {0, kNoVertex, 1, 3, kNoVertex, 4, 6};
  for (std::size_t column = 0; column < expected.size(); ++column)
    EXPECT_EQ(order.slot_of_column[column], expected[column]) << "column " << column;
  const ColumnOrder empty = order_columns_as_given(std::vector<std::uint64_t>{0, 0}, 4);
  EXPECT_EQ(empty.num_slots, 0u);
  EXPECT_TRUE(empty.tiles.empty());
}

TEST(ColumnOrder, TilesOfTileMessagesLeaveRoomForTheRanksOfAnExchange) {
  const std::vector<std::uint64_t> lengths(70000, 2);
  EXPECT_EQ(order_columns_by_length(lengths, 65535).tiles.front().num_columns, 65535u);
  for (const ColumnOrder& order : {order_columns_by_length(lengths, 65535, ~0u, Remainder::narrow),
                                   order_columns_as_given(lengths, 65535)}) {
    ASSERT_EQ(order.tiles.size(), 2u);
    EXPECT_EQ(order.tiles[0].num_columns, kMostMessageColumns);
    EXPECT_EQ(order.tiles[1].num_columns, 70000 - kMostMessageColumns);
  }
}

TEST(ColumnOrder, OriginalIsTheIdentity) {
  const ColumnOrder order = original_column_order(3);
  EXPECT_EQ(order.num_slots, 3u);
  EXPECT_EQ(order.slot_of_column[2], 2u);
}

}  // namespace
}  // namespace tessera
