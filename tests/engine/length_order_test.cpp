#include "engine/length_order.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(LengthOrder, PutsLongestFirstAndKeepsTiesInPosition) {
  const std::vector<std::uint64_t> lengths = {2, 0, 5, 2, 5, 1};
  EXPECT_EQ(order_by_length(lengths), (std::vector<VertexId>{2, 4, 0, 3, 5, 1}));
}

TEST(LengthOrder, HandlesLengthsFarLargerThanTheirNumber) {
  const std::vector<std::uint64_t> lengths = {7, std::uint64_t{1} << 40, 7, (std::uint64_t{1} << 40) + 1};
  EXPECT_EQ(order_by_length(lengths), (std::vector<VertexId>{3, 1, 0, 2}));
}

TEST(LengthOrder, OfNothingIsEmpty) { EXPECT_TRUE(order_by_length({}).empty()); }

}  // namespace
}  // namespace tessera
