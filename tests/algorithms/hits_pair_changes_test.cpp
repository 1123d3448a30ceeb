#include "algorithms/hits_pair_changes.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::test {
namespace {

StepChange change(double size) { return {.residual = size, .l1 = size, .magnitude = 2}; }

/// A pair whose hubs are 0.1^k from their end after step k, times `hub`, and its authorities, times
/// `authority`.
MatchedPair pair_after(int k, double authority, double hub) {
  const double left = std::pow(0.1, k);
  return {{1 - authority * left, authority * left}, {1 - hub * left, hub * left}};
}

/// Steps until a and h are settled, whose joint change is `joint` * 0.1^k.
int steps_to_settle(PairChanges& changes, double tolerance, double joint, double authority, double hub,
                    StepChange& last) {
  for (int k = 1; k < 100; ++k) {
    last = changes.take(change(joint * std::pow(0.1, k)));
    const bool is_settled = changes.is_settled(last, [&] { return pair_after(k, authority, hub); });
    if (is_settled && last.residual <= tolerance) return k;
  }
  return 0;
}

TEST(PairChanges, AreTheOwnOnesOfTheHalfThatChangesMore) {
  const StopRule stop{.tolerance = 1e-4};
  for (const auto& [authority, hub] : {std::pair(1.0, 0.001), {0.001, 1.0}}) {
    PairChanges changes(stop);
    StepChange last;
    const int num_steps = steps_to_settle(changes, stop.tolerance, 1e-3, authority, hub, last);
    // In L1 a half changes by 2 (1 - 0.01) 0.1^(k - 2) in two steps, 1,980 times as much as both jointly.
    const double own = 2 * 0.99 * std::pow(0.1, num_steps - 2);
    EXPECT_NEAR(last.residual, own, 1e-9 * own);
    EXPECT_NEAR(last.l1, own, 1e-9 * own);
    EXPECT_LE(own, 1e-4);
    EXPECT_GT(own, 1e-8);
    // From now on a joint change counts so many times.
    EXPECT_NEAR(changes.take(change(1e-9)).residual, 1e-9 * 198000, 1e-9);
    EXPECT_EQ(changes.joint_residuals().back(), 1e-9);
  }
}

TEST(PairChanges, AreLookedAtWhereTheJointOneAloneStaysSmall) {
  // The joint change does not shrink any more, as where it is rounding; own ones shrink by 0.9 a step.
  const StopRule stop{.tolerance = 1e-4};
  PairChanges changes(stop);
  int num_looks = 0, k = 1;
  for (; k < 200; ++k) {
    StepChange last = changes.take(change(5e-5));
    const bool is_settled = changes.is_settled(last, [&] {
      ++num_looks;
      const double left = std::pow(0.9, k);
      return MatchedPair{{1 - left, left}, {1, 0}};
    });
    if (is_settled && last.residual <= 1e-4) break;
  }
  EXPECT_GE(k, 80);  // 2 (1 - 0.81) 0.9^(k - 2) is below 1e-4 from step 81 on
  EXPECT_LE(k, 100);
  EXPECT_LE(num_looks, 14);
}

TEST(PairChanges, OfALargeChangeNobodyLooks) {
  const StopRule stop{.tolerance = 1e-4};
  PairChanges changes(stop);
  StepChange last = changes.take(change(1));
  EXPECT_TRUE(changes.is_settled(last, []() -> MatchedPair { throw "not asked"; }));
  EXPECT_EQ(last.residual, 1);
}

}  // namespace
}  // namespace tessera::test
