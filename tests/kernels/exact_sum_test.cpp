#include "kernels/base/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace tessera::test {
namespace {

std::vector<double> spread_values(unsigned seed, std::size_t count, double bound) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(count);
  for (double& value : values) value = bound * uniform(random) * std::exp2(-60 * std::abs(uniform(random)));
  return values;
}

template <class Sum>
Sum sum_of(const std::vector<double>& values, const ExactScale& scale) {
  Sum sum;
  for (double value : values) scale.add(value, sum);
  return sum;
}

TEST(ExactSum, DoesNotDependOnTheOrderOrOnHowPartsAreMerged) {
  const ExactScale scale(3.0);
  std::vector<double> values = spread_values(1, 10000, 3.0);
  const ExactSum expected = sum_of<ExactSum>(values, scale);
  std::mt19937 random(2);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    const auto cut = values.begin() + static_cast<std::ptrdiff_t>(random() % values.size());
    ExactSum merged = sum_of<ExactSum>({values.begin(), cut}, scale);
    merged += sum_of<ExactSum>({cut, values.end()}, scale);
    EXPECT_EQ(merged, expected);
  }
}

TEST(ExactSum, IsExactDownToItsQuantum) {
  for (const double bound : {1e-300, 1e-9, 0.7, 4.0, 1e18, 1e300}) {
    const ExactScale scale(bound);
    const auto values = spread_values(5, 20000, bound);
    long double reference = 0, size = 0;
    for (double value : values) reference += value, size += std::abs(value);
    const double sum = scale.value(sum_of<ExactSum>(values, scale));
    // The long double reference itself rounds by 2^-64 an addition.
    const auto allowed = static_cast<double>(size * 20000 * 0x1p-64L) + bound * 20000 * 0x1p-78;
    EXPECT_NEAR(sum, static_cast<double>(reference), allowed) << bound;
  }
}

/// Beside terms far above the bound, whose sizes add up to what a scale has room for, small ones count as
/// ever.
TEST(ExactSum, HasHeadroom) {
  const ExactScale scale(4.0);
  const double most = ExactScale::kHeadroom * scale.bound();
  std::vector<double> values = spread_values(6, 20000, 1.0);
  const double expected = scale.value(sum_of<ExactSum>(values, scale));
  const std::pair<std::vector<double>, double> cases[] = {
      {{most / 2, -most / 2}, 0},
      {{most / 3, 0x1p-70, -most / 3}, 0x1p-70},
      {std::vector<double>(2000, most / 4096), 2000 * most / 4096},
  };
  for (const auto& [large, sum_of_large] : cases) {
    ExactSum sum = sum_of<ExactSum>(values, scale);
    const ExactSum added = sum_of<ExactSum>(large, scale);
    EXPECT_EQ(scale.value(added), sum_of_large);
    sum += added;
    sum -= added;
    EXPECT_EQ(scale.value(sum), expected);
  }
}

TEST(ExactSum, CancellationLeavesTheSmallTerm) {
  const ExactScale scale(1.0);
  ExactSum sum;
  for (const double value : {1.0, 0x1p-70, -1.0}) scale.add(value, sum);
  EXPECT_EQ(scale.value(sum), 0x1p-70);
}

TEST(ExactSum, OneTermManyTimesIsTheSumOfAllOfThem) {
  const ExactScale scale(2.0);
  for (const double value : {0.0, 1.0 / 3, -0x1.fffffp-30, 1.9}) {
    ExactSum once;
    scale.add(value, once);
    once *= 1000;
    EXPECT_EQ(once, sum_of<ExactSum>(std::vector<double>(1000, value), scale));
  }
}

TEST(WideExactSum, KeepsSquaresOfTinyNumbers) {
  const ExactScale scale(4.0);
  ExactSum narrow;
  WideExactSum wide;
  for (int i = 0; i < 1000; ++i) {
    scale.add(1e-15 * 1e-15, narrow);
    scale.add(1e-15 * 1e-15, wide);
  }
  EXPECT_EQ(scale.value(narrow), 0);  // what the wide sum is for
  EXPECT_NEAR(scale.value(wide), 1e-27, 1e-36);
}

TEST(ExactScale, ZeroBoundSumsZeros) {
  const ExactScale scale(0.0);
  ExactSum sum;
  scale.add(0.0, sum);
  EXPECT_EQ(scale.value(sum), 0);
}

TEST(ExactScale, ABoundOfAPowerOfTwoIsWithinTheScale) {
  const ExactScale scale(1.0);
  ExactSum sum;
  for (int i = 0; i < 3; ++i) scale.add(1.0, sum);
  scale.add(-1.0, sum);
  EXPECT_EQ(scale.value(sum), 2.0);
}

}  // namespace
}  // namespace tessera::test
