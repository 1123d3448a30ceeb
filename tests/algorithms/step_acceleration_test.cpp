#include "algorithms/step_acceleration.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

constexpr double kUnit = 0x1p-53;

/// After steps whose residuals shrink by `ratio` each.
StepAcceleration after(int num_steps, double ratio, double first = 1.5, double c = 0.9) {
  StepAcceleration acceleration(c, kUnit);
  for (int k = 0; k < num_steps; ++k, first *= ratio) acceleration.take(first);
  return acceleration;
}

TEST(StepAcceleration, WeightsAreThoseOfChebyshevsPolynomials) {
  for (const double c : {0.5, 0.9, 0.99}) {
    const double x = 1 / c;
    const auto polynomial = [&](int k) { return std::cosh(k * std::acosh(x)); };  // T_k(1 / c)
    StepAcceleration acceleration = after(4, 0.999 * c, 1.5, c);
    ASSERT_TRUE(acceleration.is_on());
    EXPECT_EQ(acceleration.weight(), 1);
    for (int k = 1; k < 40; ++k)
      EXPECT_NEAR(acceleration.weight(), 2 * x * polynomial(k) / polynomial(k + 1), 1e-12) << c << ' ' << k;
  }
}

TEST(StepAcceleration, BeginsAtTheFourthStepWhereChangesShrinkSlowly) {
  // With c = 0.9 accelerated steps shrink a change to 0.627, four of them as much as three to 0.627^(4 / 3).
  EXPECT_FALSE(after(3, 0.72).is_on());
  EXPECT_TRUE(after(4, 0.72).is_on());
  EXPECT_FALSE(after(50, 0.69).is_on());
  StepAcceleration acceleration = after(10, 0.5);
  EXPECT_EQ(acceleration.weight(), 1);
  acceleration.take(1.5 * std::pow(0.5, 9) * 0.8);  // they came to shrink slowly
  EXPECT_TRUE(acceleration.is_on());
}

TEST(StepAcceleration, EndsForGoodWhereResidualsStayOrMayBeRounding) {
  const double on = 1.5 * std::pow(0.88, 3);  // the residual that it begins at, three steps before `last`
  for (const double last : {32.1 * on * 0.9 * 0.9 * 0.9, 15 * kUnit, 0.0, std::nan("")}) {
    StepAcceleration acceleration = after(6, 0.88);
    ASSERT_TRUE(acceleration.is_on());
    const int num_steps = last < 1 ? StepAcceleration::steps_of_a_swing(0.9) : 1;
    for (int k = 0; k < num_steps; ++k) acceleration.take(last);
    EXPECT_FALSE(acceleration.is_on()) << last;
    EXPECT_TRUE(acceleration.has_begun());
    EXPECT_EQ(acceleration.weight(), 1);
    for (int k = 0; k < 20; ++k) acceleration.take(std::pow(0.9, k));
    EXPECT_FALSE(acceleration.is_on()) << last;
  }
  StepAcceleration acceleration = after(6, 0.88);
  acceleration.take(31.9 * on * 0.9 * 0.9 * 0.9);  // they may grow for a while
  EXPECT_TRUE(acceleration.is_on());
}

TEST(StepAcceleration, GoesOnWhereOneResidualAlmostVanishes) {
  StepAcceleration acceleration = after(6, 0.88);
  for (int k = 0; k < 60; ++k) {
    acceleration.take(k % StepAcceleration::steps_of_a_swing(0.9) == 0 ? 1e-2 * std::pow(0.7, k)
                                                                       : 15 * kUnit);
    ASSERT_TRUE(acceleration.is_on()) << k;
  }
}

TEST(StepAcceleration, ASwingShrinksResidualsByE) {
  EXPECT_EQ(StepAcceleration::steps_of_a_swing(0), 8);
  EXPECT_EQ(StepAcceleration::steps_of_a_swing(0.85), 8);
  EXPECT_EQ(StepAcceleration::steps_of_a_swing(0.9995), 32);  // a step by 0.9995 / (1 + 0.0316), e^-0.0316
  EXPECT_NEAR(StepAcceleration::steps_of_a_swing(1 - 1e-12), 707107, 20);
}

TEST(StepAcceleration, NothingIsSlowerThanAWalkThatStays) {
  EXPECT_FALSE(after(20, 0, 1.5, 0).is_on());
  EXPECT_EQ(after(20, 0, 1.5, 0).weight(), 1);
}

}  // namespace
}  // namespace tessera
