#include "kernels/extrapolation.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Extrapolation, GoesSoManyTimesAsFarInDouble) {
  EXPECT_EQ(extrapolated(1.5, 3.0, 1.0), 4.0);
  EXPECT_EQ(extrapolated(1.5, 1.0, 3.0), 0.0);
  EXPECT_EQ(extrapolated(2.0, 0x1p-30F, 1.0F), static_cast<float>(0x1p-29 - 1.0));  // rounded once
  EXPECT_EQ(extrapolated(1.75, 0.25F, 0.25F), 0.25F);
}

TEST(Extrapolation, OfWeight1IsTheStepWhateverTheOrigin) {
  EXPECT_EQ(extrapolated(1.0, 0.1, 1e300), 0.1);
  EXPECT_EQ(extrapolated(1.0, 0.1F, 1e30F), 0.1F);
}

}  // namespace
}  // namespace tessera
