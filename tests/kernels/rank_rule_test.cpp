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

TEST(RankRule, AChainOfUpdatesGivesEachWhatTheHostWould) {
  const auto backend = make_backend<float>("cpu");
  const std::size_t n = 1000;
  const auto buffer = [&]<class T>(const std::vector<T>& values) {
    Buffer<T> result = backend->allocate<T>(values.size());
    std::copy(values.begin(), values.end(), result.data());
    return result;
  };
  const std::vector<double> products = random_values<double>(n, 1);
  std::vector<float> scales = random_values<float>(n, 2, 0.5), start(n, 0.25f);
  for (std::size_t i = 0; i < n; i += 3) scales[i] = 0;
  const Buffer<double> y = buffer(products);
  const Buffer<float> scale = buffer(scales);
  const ExactScale bound(4.0);
  const RankRule rule{.damping = 0.75, .num_vertices = 1010, .num_unconnected = 10};

  Buffer<float> score = buffer(start), expected = buffer(start);
  RankUpdate now = rule.update_after({0.5, 0.5});
  RankChain<float> chain{rule, buffer(std::vector{now}), backend->allocate<float>(n)};
  for (int step = 0; step < 4; ++step) {
    const std::vector<float> before(score.begin(), score.end());
    const VectorSums sums =
        backend->rank_update({.link = -1}, y, {}, {}, scale, bound, true, score, {}, &chain).take().front();
    const VectorSums plain =
        backend->rank_update(now, y, {}, {}, scale, bound, true, expected, {}).take().front();
    now = rule.update_after<float>(now, plain.total, plain.dangling, bound);
    EXPECT_TRUE(std::equal(score.begin(), score.end(), expected.begin())) << step;
    EXPECT_TRUE(std::equal(before.begin(), before.end(), chain.before.begin())) << step;
    EXPECT_EQ(sums.change_l1, plain.change_l1);
    EXPECT_EQ(sums.dangling, plain.dangling);
    EXPECT_EQ(chain.next.data()->constant, now.constant) << step;
  }
}

}  // namespace
}  // namespace tessera::test
