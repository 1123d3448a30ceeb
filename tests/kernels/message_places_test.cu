// Where a message is in its piece, in the order in which messages are cut.
#include "kernels/cuda/message_places.cuh"

#include <gtest/gtest.h>

namespace tessera::cuda {
namespace {

TEST(MessagePlaces, AMessageKnowsWhereItIsInItsPiece) {
  std::vector<VertexId> rows;
  std::vector<std::uint32_t> shapes, before;
  std::vector<bool> is_last;
  VertexId row = 0;
  std::uint32_t tile = 0;
  for (const std::uint32_t size : {1u, 2u, 63u, 64u, 65u, 1u, 127u, 128u, 129u, 1000u, 3u, 20000u, 1u}) {
    for (std::uint32_t i = 0; i < size; ++i) {
      rows.push_back(row);
      shapes.push_back(MessageShape::of(tile, kMessageElements, size > 1));
      before.push_back(i);
      is_last.push_back(i + 1 == size);
    }
    // The next piece is another row's, or the same row's in another tile.
    (size % 2 == 0 ? row : tile) += 1;
  }
  const SortedMessages messages{
      .count = static_cast<std::uint32_t>(rows.size()), .rows = rows.data(), .shapes = shapes.data()};
  for (std::uint32_t m = 0; m < rows.size(); ++m) {
    ASSERT_EQ(messages.before_in_piece(m), before[m]) << m;
    ASSERT_EQ(messages.ends_piece(m), is_last[m]) << m;
  }
}

TEST(MessagePlaces, FewHaveMoreThanUsual) {
  EXPECT_EQ(most_usual({}), 0u);
  EXPECT_EQ(most_usual({7}), 7u);
  EXPECT_EQ(most_usual({5, 1, 4, 2, 3, 9, 8, 7, 6, 1000}), 1000u);  // the last of ten
  EXPECT_EQ(most_usual({5, 1, 4, 2, 3, 9, 8, 7, 6, 1000, 2000}), 1000u);
}

}  // namespace
}  // namespace tessera::cuda
