#include "algorithms/vertex_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kernels/base/error.hpp"

namespace tessera::test {
namespace {

TEST(AccurateSum, KeepsWhatPlainAdditionLoses) {
  EXPECT_EQ(accurate_sum({}), 0);
  std::vector<double> values(1001, 0x1p-60);
  values[0] = 1;
  EXPECT_EQ(accurate_sum(values), 1 + 1000 * 0x1p-60);
  values[0] = 0x1p-60;
  values[1000] = 1;
  EXPECT_EQ(accurate_sum(values), 1 + 1000 * 0x1p-60);
  // The double 0.1 is 0.1 + 2^-54 / 10.
  EXPECT_EQ(accurate_sum(std::vector<double>(200000, 0.1)), 20000);
  EXPECT_EQ(accurate_sum(std::vector<double>{1e308, 1e308, 1}), INFINITY);
}

TEST(RaiseNegatives, MakesThemZeroAndNothingElse) {
  std::vector<double> scores(5000, 0.25), expected = scores;
  scores[700] = -0.5;
  scores[4999] = -0x1p-60;
  scores[3] = std::nan("");
  EXPECT_EQ(raise_negatives(scores), 0.5 + 0x1p-60);
  expected[700] = expected[4999] = 0;
  EXPECT_TRUE(std::isnan(scores[3]));
  scores[3] = 0.25;
  EXPECT_EQ(scores, expected);
  EXPECT_EQ(raise_negatives(scores), 0);
  EXPECT_EQ(raise_negatives({}), 0);
}

TEST(Normalized, ManyEqualNumbersAreRightToTheLastDigit) {
  const std::vector<double> scaled = normalized(std::vector<double>(200000, 0.1), 200000, "values");
  for (const double value : scaled) ASSERT_LE(std::abs(value - 1.0 / 200000), 0x1p-52 / 200000);
}

TEST(Normalized, ASumThatOverflowsIsRefusedAsSuch) {
  try {
    normalized(std::vector<double>{1e308, 1e308, 0}, 3, "values");
    ADD_FAILURE() << "not refused";
  } catch (const OptionError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("too large"));
  }
}

template <class S>
void expect_refused(double out_weight, const char* message) {
  try {
    reciprocals<S>(std::vector<double>{1, out_weight}, 2);
    ADD_FAILURE() << out_weight << " is not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(message));
  }
}

template <class S>
std::vector<S> reciprocals_of(const std::vector<double>& out_weights) {
  const Buffer<S> found = reciprocals<S>(out_weights, out_weights.size());
  return {found.begin(), found.end()};
}

TEST(Reciprocals, LeaveRoomForScoresDownToEpsilon) {
  // The smallest normal numbers are 2^-126 and 2^-1022, epsilon 2^-23 and 2^-52.
  EXPECT_EQ(reciprocals_of<float>({0, 0x1p103, 4}), (std::vector{0.0f, 0x1p-103f, 0.25f}));
  EXPECT_EQ(reciprocals_of<double>({0, 0x1p970, 4}), (std::vector{0.0, 0x1p-970, 0.25}));
  expect_refused<float>(0x1.01p103, "use --precision f64 or scale the weights towards 1");
  expect_refused<float>(8e37, "add up to 8e+37, too far from 1 for scores in f32");
  expect_refused<double>(0x1.01p970, "f64; scale the weights towards 1");
  expect_refused<double>(4e307, "too far from 1 for scores in f64");
}

TEST(Reciprocals, OfWhatIsNoOutWeightAreRefused) {
  for (const double wrong : {-1.0, -HUGE_VAL, std::nan("")})
    EXPECT_THROW(reciprocals<double>(std::vector<double>{1, wrong}, 2), OptionError) << wrong;
  EXPECT_THROW(reciprocals<double>(std::vector<double>{1}, 2), OptionError);
}

TEST(Reciprocals, ThatOverflowAreRefused) {
  expect_refused<float>(1e-39, "f32");
  expect_refused<double>(1e-309, "f64");
  expect_refused<double>(INFINITY, "f64");
}

}  // namespace
}  // namespace tessera::test
