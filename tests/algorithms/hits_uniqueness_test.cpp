#include "algorithms/hits_uniqueness.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::test {
namespace {

/// Hubs on a line; neighbours share an authority unless a gap lies between.
std::function<std::vector<double>(std::span<const double>)> line_with_gap(std::size_t gap_after, int& calls) {
  return [gap_after, &calls](std::span<const double> marks) {
    ++calls;
    std::vector<double> reached(marks.begin(), marks.end());
    for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
      if (i == gap_after) continue;
      reached[i] += marks[i + 1];
      reached[i + 1] += marks[i];
    }
    return reached;
  };
}

TEST(HasUniquePair, MassOutsideTheLargestHubsComponentIsATie) {
  int calls = 0;
  EXPECT_FALSE(
      has_unique_pair(std::vector<double>{0.3, 0.2, 0.3, 0.2}, 1e-9, 0.5, 50, line_with_gap(1, calls)));
  EXPECT_TRUE(
      has_unique_pair(std::vector<double>{0.3, 0.2, 0.3, 0.2}, 1e-9, 0.5, 50, line_with_gap(99, calls)));
}

TEST(HasUniquePair, WhatASlowerComponentLeavesBehindIsNoTie) {
  int calls = 0;
  const auto spread = line_with_gap(1, calls);
  EXPECT_TRUE(has_unique_pair(std::vector<double>{0.5, 0.5, 5e-7, 0}, 0, 0.5, 50, spread));
  EXPECT_FALSE(has_unique_pair(std::vector<double>{0.5, 0.5, 5e-4, 0}, 1e-6, 0.5, 50, spread));
  EXPECT_TRUE(has_unique_pair(std::vector<double>{0.5, 0.5, 5e-4, 0}, 1e-5, 0.5, 50, spread));
}

TEST(HasUniquePair, AComponentThatShrinksAsSlowlyAsTheChangesIsNoTie) {
  int calls = 0;
  const auto spread = line_with_gap(1, calls);
  const std::vector<double> hubs{0.5, 0.485, 0.0075, 0.0075};
  EXPECT_FALSE(has_unique_pair(hubs, 1e-6, 0.99, 50, spread));
  EXPECT_TRUE(has_unique_pair(hubs, 1e-6, 0.99995, 50, spread));
  EXPECT_FALSE(has_unique_pair(hubs, 1e-6, 1, 50, spread));
}

TEST(HasUniquePair, ALargeChangeSaysNothing) {
  int calls = 0;
  EXPECT_FALSE(has_unique_pair(std::vector<double>{0.3, 0.2, 0.3, 0.2}, 1, 0, 50, line_with_gap(1, calls)));
}

/// As many hubs as several threads look at in parts.
TEST(HasUniquePair, LooksAtAllHubsOfALargeGraph) {
  constexpr std::size_t kHubs = 200'001;
  std::vector<double> hubs(kHubs, 0.0);
  hubs[70'000] = 0.5;
  hubs[70'001] = 0.25;
  hubs[kHubs - 1] = 0.25;
  const auto all_but_last = [](std::span<const double> marks) {
    std::vector<double> reached(marks.size(), 1.0);
    reached.back() = marks.back();
    return reached;
  };
  const auto all = [](std::span<const double> marks) { return std::vector<double>(marks.size(), 0.5); };
  EXPECT_FALSE(has_unique_pair(hubs, 1e-9, 0.5, 50, all_but_last));
  EXPECT_TRUE(has_unique_pair(hubs, 1e-9, 0.5, 50, all));
  hubs.back() = 1e-9;
  EXPECT_TRUE(has_unique_pair(hubs, 1e-9, 0.5, 50, all_but_last));
}

TEST(HasUniquePair, StopsWhenNothingIsLeftOutside) {
  int calls = 0;
  EXPECT_TRUE(has_unique_pair(std::vector<double>{0.5, 0.5, 0, 0}, 0, 0.5, 50, line_with_gap(99, calls)));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(has_unique_pair(std::vector<double>{0, 0}, 0, 0.5, 50, line_with_gap(99, calls)));
  EXPECT_EQ(calls, 1);
}

TEST(ConvergenceRate, IsTheFactorOfAStep) {
  std::vector<double> history;
  for (int k = 0; k < 30; ++k) history.push_back(std::pow(0.7, k));
  EXPECT_NEAR(convergence_rate(history, 1), 0.7, 1e-12);
  EXPECT_NEAR(convergence_rate(history, 2), 0.49, 1e-12);
  // Of two sequences that take turns.
  EXPECT_NEAR(convergence_rate(std::vector<double>{1, 100, 0.5, 50}, 2), 0.5, 1e-12);
  EXPECT_EQ(convergence_rate(std::vector<double>{1, 100}, 2), 0);
  EXPECT_EQ(convergence_rate(std::vector<double>{1.0}, 1), 0);
  EXPECT_EQ(convergence_rate(std::vector<double>{1.0, 0.0}, 1), 0);
}

}  // namespace
}  // namespace tessera::test
