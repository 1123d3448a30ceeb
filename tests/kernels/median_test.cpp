// Medians.
#include "kernels/base/median.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Median, IsTheMiddleOrTheLargerOfTwo) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({4}), 4);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({1, 8, 2, 4}), 4);
  EXPECT_EQ(median({2, 2, 1, 2, 7}), 2);
}

}  // namespace
}  // namespace tessera
