#include "kernels/rank_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/backend.hpp"
#include "tests/support/random_values.hpp"

namespace tessera::test {
namespace {

RankUpdate after(Dangling dangling, bool jumps_anywhere) {
  const RankRule rule{
      .damping = 0.75, .dangling = dangling, .jumps_anywhere = jumps_anywhere, .num_vertices = 8};
  return rule.update_after({.linked = 0.25, .dangling = 0.25});
}
void expect_update(const RankUpdate& found, double link, double teleport, double constant) {
  EXPECT_DOUBLE_EQ(found.link, link);
  EXPECT_DOUBLE_EQ(found.teleport, teleport);
  EXPECT_DOUBLE_EQ(found.constant, constant);
}

TEST(RankRule, HasTheHandValuesOfEachRule) {
  expect_update(after(Dangling::uniform, true), 0.75, 0, (0.25 + 0.1875) / 8);
  expect_update(after(Dangling::personalization, true), 0.75, 0, (0.25 + 0.1875) / 8);
  expect_update(after(Dangling::drop, true), 0.75, 0, 0.25 / 8);
  // what is left after the step: 0.75 * 0.25 + 0.25
  expect_update(after(Dangling::rescale, true), 0.75 / 0.4375, 0, 0.25 / 0.4375 / 8);
  expect_update(after(Dangling::uniform, false), 0.75, 0.25, 0.1875 / 8);
  expect_update(after(Dangling::personalization, false), 0.75, 0.4375, 0);
  expect_update(after(Dangling::drop, false), 0.75, 0.25, 0);
  expect_update(after(Dangling::rescale, false), 0.75 / 0.4375, 0.25 / 0.4375, 0);
}

/// A device leaves the total out where it is not needed.
TEST(RankRule, SaysWhetherItNeedsTheTotal) {
  for (const Dangling dangling :
       {Dangling::uniform, Dangling::personalization, Dangling::drop, Dangling::rescale})
    for (const bool jumps_anywhere : {false, true})
      for (const std::uint64_t num_unconnected : {0, 3}) {
        const RankRule rule{.dangling = dangling,
                            .jumps_anywhere = jumps_anywhere,
                            .num_vertices = 8,
                            .num_unconnected = num_unconnected};
        const ExactScale scale(4.0);
        ExactSum total, part;
        scale.add(0.5, total);
        scale.add(0.125, part);
        const RankUpdate before{.link = 0.85, .constant = 0.01};
        const RankUpdate with = rule.update_after<float>(before, total, part, scale),
                         without = rule.update_after<float>(before, ExactSum(), part, scale);
        EXPECT_EQ(rule.needs_total(), with.link != without.link || with.teleport != without.teleport ||
                                          with.constant != without.constant);
      }
}

TEST(RankRule, CountsVerticesThatNoUpdateSees) {
  const ExactScale scale(4.0);
  ExactSum total, dangling;
  scale.add(0.5, total);
  scale.add(0.125, dangling);
  const RankRule rule{
      .damping = 0.75, .dangling = Dangling::rescale, .num_vertices = 8, .num_unconnected = 3};
  const RankUpdate now{.link = 1, .constant = 0.1};
  // their scores are stored as floats
  const double more = 3 * static_cast<double>(0.1f);
  const double sum = 0.75 * (0.5 - 0.125) + 0.25;
  expect_update(rule.update_after<float>(now, total, dangling, scale), 0.75 / sum, 0, 0.25 / sum / 8);
  const RankRule uniform{.damping = 0.75, .num_vertices = 8, .num_unconnected = 3};
  expect_update(uniform.update_after<float>(now, total, dangling, scale), 0.75, 0,
                (0.25 + 0.75 * (0.125 + more)) / 8);
}

TEST(RankRule, TheLinkedMassIsExactBesideAMuchLargerDanglingOne) {
  const ExactScale scale(4.0);
  ExactSum total, dangling;
  for (ExactSum* sum : {&total, &dangling}) scale.add(0.3, *sum);
  scale.add(0x1p-70, total);
  const ScoreMasses masses = masses_of(total, dangling, scale);
  EXPECT_EQ(masses.linked, 0x1p-70);
  EXPECT_EQ(masses.dangling, 0.3);
}

/// From sums of the rows that an update saw, with those that it did not see.
TEST(RankRule, AnUpdateFollowsFromTheSumsOfTheOneBefore) {
  const ExactScale scale(4.0);
  const auto exact = [&](double value) {
    ExactSum sum;
    scale.add(value, sum);
    return sum;
  };
  const RankRule rule{.damping = 0.75, .num_vertices = 16, .num_unconnected = 8};
  const RankUpdate before{.link = 0.75, .constant = 0x1p-5 + 0x1p-40};  // which f32 stores as 2^-5
  // 8 * 2^-5 of rows that nothing links, which dangle, beside 0.5 that links and 0.25 that dangles.
  const RankUpdate after = rule.update_after<float>(before, exact(0.75), exact(0.25), scale);
  EXPECT_EQ(after.link, 0.75);
  EXPECT_EQ(after.constant, (0.25 + 0.75 * 0.5) / 16);
  RankRule connected = rule;
  connected.num_unconnected = 0;
  EXPECT_EQ(connected.update_after<float>(before, exact(0.75), exact(0.25), scale).constant,
            (0.25 + 0.75 * 0.25) / 16);
}

TEST(RankRule, ARunEndsAtItsToleranceOrItsLastStep) {
  RankRun run;
  run.most_steps = 5;
  EXPECT_FALSE(run.ends_after(4, 0.0));  // no tolerance
  EXPECT_TRUE(run.ends_after(5, 1.0));
  run.tolerance = 0.5;
  EXPECT_FALSE(run.ends_after(1, 0.75));
  EXPECT_TRUE(run.ends_after(1, 0.5));
}

TEST(RankRule, AChangeIsOfTheNormAskedFor) {
  const ExactScale scale(4.0);
  ExactSum sum;
  scale.add(0.75, sum);
  WideExactSum squares;
  scale.add(0.25, squares);
  EXPECT_EQ(change_in(Norm::l1, sum, squares, 0.125, scale), 0.75);
  EXPECT_EQ(change_in(Norm::l2, sum, squares, 0.125, scale), 0.5);
  EXPECT_EQ(change_in(Norm::linf, sum, squares, 0.125, scale), 0.125);
}

}  // namespace
}  // namespace tessera::test
