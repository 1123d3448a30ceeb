// Random numbers that every machine repeats.
#include "kernels/base/mix_bits.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

TEST(RandomBits, IsSplitMix64) {
  RandomBits random(1234567);  // the values that the generator's authors and others publish
  for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                       4593380528125082431u, 16408922859458223821u})
    EXPECT_EQ(random.next(), expected);
}

TEST(RandomBits, IsEvenBelowOne) {
  RandomBits random(1);
  constexpr int kDraws = 100000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double draw = random.uniform();
    ASSERT_GE(draw, 0);
    ASSERT_LT(draw, 1);
    sum += draw;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 / std::sqrt(12.0 * kDraws));
}

}  // namespace
}  // namespace tessera
