#include "algorithms/hits_pair_changes.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::test {
namespace {

StepChange change(double size) { return {.residual = size, .l1 = size, .magnitude = 2}; }

/// After step k, whose hubs are 0.9^k from their end, times `hub`, and its authorities, times `authority`.
MatchedPair pair_after(int k, double authority, double hub) {
  const double left = std::pow(0.9, k);
  return {{1 - authority * left, authority * left}, {1 - hub * left, hub * left}};
}

TEST(PairChanges, AreTheOwnOnesOfTheHalfThatChangesMoreOnceTheJointOneIsSmall) {
  const StopRule stop{.tolerance = 1e-4};
  for (const auto& [authority, hub] : {std::pair(1.0, 0.001), {0.001, 1.0}}) {
    PairChanges changes(stop);
    int num_looks = 0, last_look = 0, k = 1;
    for (;; ++k) {
      // The joint change falls below the tolerance at step 44, the own one in L1 at step 81.
      const double joint = 1e-2 * std::pow(0.9, k), own = 2 * (1 - 0.81) * std::pow(0.9, k - 2);
      StepChange last = change(joint);
      const bool is_known = changes.is_known(last, [&] {
        ++num_looks;
        last_look = k;
        return pair_after(k, authority, hub);
      });
      EXPECT_EQ(is_known, k < 44 || k >= 46) << k;
      if (k < 44) {
        EXPECT_EQ(last.residual, joint);
        EXPECT_EQ(num_looks, 0);
      } else if (is_known) {
        const double seen = own / std::pow(0.9, k - last_look);
        if (num_looks % 2 == 0) {
          EXPECT_NEAR(last.residual, seen, 1e-9 * seen);
        }
        EXPECT_NEAR(last.magnitude, 1, 1e-12);
        if (last.residual <= stop.tolerance) break;
      }
      ASSERT_LT(k, 95);
    }
    StepChange next = change(1e-9);  // it may have grown since, so what was small does not count any more
    EXPECT_FALSE(changes.is_known(next, []() -> MatchedPair { throw "not asked"; }));
    EXPECT_GE(k, 81);
    EXPECT_LE(num_looks, 12);
    EXPECT_EQ(changes.joint_residuals().size(), static_cast<std::size_t>(k) + 1);
  }
}

TEST(PairChanges, OfALargeChangeNobodyLooks) {
  const StopRule stop{.tolerance = 1e-4};
  PairChanges changes(stop);
  StepChange last = change(1);
  EXPECT_TRUE(changes.is_known(last, []() -> MatchedPair { throw "not asked"; }));
  EXPECT_EQ(last.residual, 1);
}

}  // namespace
}  // namespace tessera::test
