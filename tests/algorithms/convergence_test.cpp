#include "algorithms/convergence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/base/error.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

StepChange change(double size) { return {.residual = size, .l1 = size, .magnitude = 1}; }

/// Feeds residuals from `next` until the test ends, at most `limit`.
template <class Next>
IterationReport feed(const StopRule& rule, Precision precision, const Next& next, int limit = 1000000,
                     double contraction = 0, bool is_accelerated = false) {
  IterationReport report;
  StopTest stop(rule, precision, contraction);
  for (int k = 0; k < limit && !stop.done(change(next(k)), report, {.is_accelerated = is_accelerated}); ++k) {
  }
  return report;
}

TEST(StopTest, EndsAtTheFirstChangeWithinTheTolerance) {
  const auto report = feed({.tolerance = 1e-3}, Precision::f64, [](int k) { return std::pow(0.5, k); });
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 11);  // 2^-10 is the first below 1e-3
  EXPECT_EQ(report.residual_history.size(), 11u);
  EXPECT_EQ(report.residual, std::pow(0.5, 10));
}

TEST(StopTest, FixedIterationsDoNotLookAtTheTolerance) {
  const auto report = feed({.tolerance = 1, .fixed_iterations = 5}, Precision::f64, [](int) { return 0.0; });
  EXPECT_EQ(report.iterations, 5);
  EXPECT_TRUE(report.converged);
}

TEST(StopTest, GivesUpAfterTheLargestNumberOfSteps) {
  const auto report = feed({.tolerance = 1e-9, .max_iterations = 7}, Precision::f64, [](int) { return 1.0; });
  EXPECT_EQ(report.iterations, 7);
  EXPECT_FALSE(report.converged);
  EXPECT_FALSE(report.stagnated);
}

TEST(StopTest, RoundingThatKeepsTheChangeUpIsStagnation) {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const double floor = 3 * unit_roundoff(precision);
    const auto noisy = [&](int k) { return std::max(std::pow(0.5, k), floor * (1 + 0.3 * std::sin(k))); };
    const auto report = feed({.tolerance = 1e-30, .max_iterations = 100000}, precision, noisy);
    EXPECT_TRUE(report.stagnated);
    EXPECT_FALSE(report.converged);
    EXPECT_LT(report.iterations, 1000);
    EXPECT_GE(report.reachable_tolerance, 0.7 * floor);
    EXPECT_LE(report.reachable_tolerance, 2 * floor);
    // What it names is reachable, in one digit.
    const auto again =
        feed({.tolerance = report.reachable_tolerance, .max_iterations = 100000}, precision, noisy);
    EXPECT_TRUE(again.converged);
  }
}

TEST(StopTest, SlowConvergenceIsNotStagnation) {
  // Falls by 1e-5 a step with noise larger than that, from far above rounding.
  const auto slow = [](int k) { return 1e-3 * std::exp(-1e-5 * k) * (1 + 1e-3 * std::sin(1.7 * k)); };
  // Whether or not it is known to contract so slowly.
  for (const double contraction : {0.0, std::exp(-1e-5)}) {
    const auto report =
        feed({.tolerance = 5e-4, .max_iterations = 1000000}, Precision::f32, slow, 1000000, contraction);
    EXPECT_TRUE(report.converged);
    EXPECT_GT(report.iterations, 60000);
  }
}

TEST(StopTest, AContractionThatDoesNotShrinkTheChangeStagnatesAboveAFewUnits) {
  // 96 units, which is what steps that round by one unit and contract by 0.99 sum up to.
  const auto stuck = [](int k) { return std::max(std::pow(0.99, k), 96 * 0x1p-24); };
  const StopRule rule{.tolerance = 1e-6, .max_iterations = 5000};
  const auto report = feed(rule, Precision::f32, stuck, 1000000, 0.99);
  EXPECT_TRUE(report.stagnated);
  EXPECT_LT(report.iterations, 1400);  // 0.99^1201 is the last above
  EXPECT_DOUBLE_EQ(report.reachable_tolerance, 6e-6);
  EXPECT_FALSE(feed(rule, Precision::f32, stuck).stagnated);
  // More than rounding can hold up: 32 units over 1 - c.
  const auto large = [](int) { return 3300 * 0x1p-24; };
  EXPECT_FALSE(feed(rule, Precision::f32, large, 1000000, 0.99).stagnated);
}

TEST(StopTest, AnAcceleratedResidualThatGoesThroughZeroIsNotStagnation) {
  // Of one slow eigenvector, and as it comes to rest.
  for (const double turn : {0.002, 0.01, 0.03, 0.3})
    for (const double phase : {0.0, 0.7, 1.3, 1.5}) {
      const auto swinging = [&](int k) {
        return 1e-2 * std::exp(-0.0316 * k) * std::fabs(std::cos(turn * k + phase));
      };
      const StopRule rule{.tolerance = 1e-30, .max_iterations = 100000};
      EXPECT_FALSE(feed(rule, Precision::f32, swinging, 1000, 0.9995, true).stagnated)
          << turn << ' ' << phase;
      const auto at_rest = [&](int k) {
        return std::max(swinging(k), 20 * 0x1p-24 * (1 + 0.3 * std::sin(k)));
      };
      const auto report = feed(rule, Precision::f32, at_rest, 1000, 0.9995, true);
      EXPECT_TRUE(report.stagnated) << turn << ' ' << phase;
      EXPECT_GE(report.reachable_tolerance, 20 * 0x1p-24);
      EXPECT_LE(report.reachable_tolerance, 3e-6);
    }
}

TEST(StopTest, LooksAnewWhereAccelerationBegins) {
  // What plain steps had reached before says nothing.
  IterationReport report;
  StopTest stop({.tolerance = 1e-30, .max_iterations = 100000}, Precision::f32, 0.999);
  EXPECT_FALSE(stop.done(change(1e-7), report));
  for (int k = 0; k < 300; ++k)
    ASSERT_FALSE(stop.done(change(1e-4 * std::exp(-0.01 * k)), report, {.is_accelerated = true})) << k;
}

TEST(StopTest, RulesWithoutSenseAreRefused) {
  EXPECT_THROW(StopTest({.tolerance = -1}, Precision::f64), OptionError);
  EXPECT_THROW(StopTest({.tolerance = std::nan("")}, Precision::f64), OptionError);
  EXPECT_THROW(StopTest({.max_iterations = 0}, Precision::f64), OptionError);
  EXPECT_THROW(StopTest({.fixed_iterations = -1}, Precision::f64), OptionError);
}

VectorSums sums_of(const std::vector<double>& changes, const ExactScale& scale) {
  VectorSums sums;
  for (double value : changes) {
    scale.add(value, sums.change_l1);
    scale.add(value * value, sums.change_squares);
    scale.add(2 * value, sums.total);
    sums.change_max = std::max(sums.change_max, value);
  }
  return sums;
}

TEST(AllGoOn, StopsOrFailsOnAllRanksAlike) {
  run_ranks(3, [](Communicator& comm) {
    const auto asked = [&](const IterationObserver& observer) {
      return all_go_on(observer, {.iteration = 1}, comm);
    };
    EXPECT_TRUE(asked({}));
    EXPECT_TRUE(asked([](const IterationProgress&) { return true; }));
    EXPECT_FALSE(asked([&](const IterationProgress&) { return comm.rank() != 1; }));
    EXPECT_FALSE(
        asked(comm.rank() == 2 ? [](const IterationProgress&) { return false; } : IterationObserver()));
    EXPECT_THROW(asked([&](const IterationProgress&) {
                   if (comm.rank() == 1) throw InputError("of one rank");
                   return true;
                 }),
                 InputError);
    EXPECT_THROW(asked([&](const IterationProgress&) -> bool { throw comm.rank(); }), InternalError);
    EXPECT_TRUE(asked({})) << "the ranks are in step";
  });
}

TEST(AllGoOn, OneRankThrowsWhatItsObserverThrows) {
  const auto comm = make_single_rank();
  EXPECT_THROW(all_go_on([](const IterationProgress&) -> bool { throw 42; }, {}, *comm), int);
}

TEST(ReduceOverRanks, GivesEveryRankTheSumsOfAll) {
  const ExactScale scale(4.0);
  const std::vector<std::vector<double>> parts{{0.5, 0.25}, {1e-20}, {}, {0.125, 3e-9, 0.5}};
  std::vector<double> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  const VectorSums expected = sums_of(all, scale);
  run_ranks(4, [&](Communicator& comm) {
    VectorSums sums[2] = {sums_of(parts[static_cast<std::size_t>(comm.rank())], scale), {}};
    sums[1] = sums[0];
    reduce_over_ranks(sums, comm);
    for (const VectorSums& sum : sums) {
      EXPECT_EQ(sum.change_l1, expected.change_l1);
      EXPECT_EQ(sum.change_squares, expected.change_squares);
      EXPECT_EQ(sum.total, expected.total);
      EXPECT_EQ(sum.dangling, expected.dangling);
      EXPECT_EQ(sum.change_max, 0.5);
    }
  });
}

TEST(ChangeOf, TakesTheNormAskedFor) {
  const ExactScale scale(4.0);
  const VectorSums sums = sums_of({3e-11, 4e-11}, scale);
  EXPECT_NEAR(change_of(Norm::l1, sums, scale).residual, 7e-11, 1e-22);
  EXPECT_NEAR(change_of(Norm::l2, sums, scale).residual, 5e-11, 1e-22);
  EXPECT_EQ(change_of(Norm::linf, sums, scale).residual, 4e-11);
  EXPECT_NEAR(change_of(Norm::linf, sums, scale).l1, 7e-11, 1e-22);
  EXPECT_NEAR(change_of(Norm::l1, sums, scale).magnitude, 14e-11, 1e-22);
}

}  // namespace
}  // namespace tessera::test
