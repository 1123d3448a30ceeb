// Time left, told only where it is honest, and step times.
#include "tools/progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "kernels/base/seconds_since.hpp"
#include "tools/session.hpp"

namespace tessera::cli {
namespace {

std::vector<double> geometric(double factor, int count) {
  std::vector<double> residuals;
  for (int k = 0; k < count; ++k) residuals.push_back(std::pow(factor, k));
  return residuals;
}

TEST(SecondsToGo, FollowsFromASteadySlope) {
  const auto residuals = geometric(0.1, 12);  // last: 1e-11
  EXPECT_NEAR(seconds_to_go(residuals, 1e-15, 2.0), 8.0, 1e-6);
  EXPECT_EQ(seconds_to_go(residuals, 1e-3, 2.0), 0.0);
}

TEST(SecondsToGo, IsSilentWithoutASteadySlope) {
  EXPECT_LT(seconds_to_go(geometric(0.5, 10), 1e-9, 1.0), 0);  // too few steps
  EXPECT_LT(seconds_to_go(geometric(1.0, 20), 1e-9, 1.0), 0);  // does not fall
  EXPECT_LT(seconds_to_go(geometric(1.1, 20), 1e-9, 1.0), 0);  // grows
  auto bent = geometric(0.5, 12);
  for (int k = 7; k < 12; ++k) bent[k] = bent[6] * std::pow(0.9, k - 6);
  EXPECT_LT(seconds_to_go(bent, 1e-9, 1.0), 0);
  EXPECT_LT(seconds_to_go(std::vector<double>(12, 0.0), 1e-9, 1.0), 0);
}

TEST(StepTimes, MedianAndTotal) {
  StepTimes times;
  EXPECT_EQ(times.median(), 0);
  times.seconds = {5, 1, 3};
  EXPECT_EQ(times.median(), 3);
  EXPECT_EQ(times.total(), 9);
}

/// Of an iteration that shows nothing.
struct TimedSteps {
  static GeneralOptions silent() {
    GeneralOptions options;
    options.no_progress = true;
    return options;
  }
  StepTimes times;
  Progress progress{silent(), true};
  IterationObserver observer = progress.iterating(1e-6, 10, times);
};

TEST(Progress, RecordsEachStepAndItsVectors) {
  TimedSteps steps;
  EXPECT_TRUE(steps.observer({.iteration = 1, .residual = 0.5, .vectors_left = 4}));
  EXPECT_TRUE(steps.observer({.iteration = 2, .residual = 0.1, .vectors_left = 3}));
  EXPECT_EQ(steps.times.seconds.size(), 2u);
  EXPECT_EQ(steps.times.vector_steps, 7u);
}

TEST(Progress, TimesEachStepFromTheOneBefore) {
  const auto begin = std::chrono::steady_clock::now();
  TimedSteps steps;
  steps.observer({.iteration = 1});
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  for (int step = 2; step <= 3; ++step) steps.observer({.iteration = step});
  ASSERT_EQ(steps.times.seconds.size(), 3u);
  EXPECT_GE(steps.times.seconds[1], 0.03);
  EXPECT_LE(steps.times.total(), seconds_since(begin));  // none is counted twice
}

}  // namespace
}  // namespace tessera::cli
