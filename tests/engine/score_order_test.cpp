// The order of rankings, beside a stable sort.
#include "engine/score_order.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

std::vector<VertexId> ids_of(const std::vector<RankedVertex>& order) {
  std::vector<VertexId> ids;
  for (const RankedVertex& vertex : order) ids.push_back(vertex.id);
  return ids;
}

TEST(RankingKey, FallsAsScoresRise) {
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  const double scores[] = {-1e300, -2, -1, -kTiny, 0, kTiny, 0.5, 1, 1e300};
  for (std::size_t i = 1; i < std::size(scores); ++i)
    EXPECT_GT(ranking_key(scores[i - 1]), ranking_key(scores[i])) << scores[i];
  EXPECT_EQ(ranking_key(0.0), ranking_key(-0.0));
}

RC_GTEST_PROP(RankingKey, IsSmallerForLargerScores, (double a, double b)) {
  RC_ASSERT((ranking_key(a) < ranking_key(b)) == (a > b));
  RC_ASSERT((ranking_key(a) == ranking_key(b)) == (a == b));
}

RC_GTEST_PROP(RankingOrder, IsAStableSortFromTheHighest, (const std::vector<unsigned char>& bytes)) {
  std::vector<double> scores(3, -7);  // of vertices before the first
  for (const unsigned char byte : bytes) scores.push_back((byte % 16) / 4.0 - 1);
  std::vector<VertexId> expected(bytes.size());
  std::iota(expected.begin(), expected.end(), VertexId{3});
  std::stable_sort(expected.begin(), expected.end(),
                   [&](VertexId a, VertexId b) { return scores[a] > scores[b]; });
  RC_ASSERT(ids_of(ranking_order(scores, 3, bytes.size(), {})) == expected);
  for (const std::uint64_t top :
       {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{bytes.size()}, std::uint64_t{1000}}) {
    auto best = expected;
    best.resize(std::min<std::uint64_t>(top, best.size()));
    RC_ASSERT(ids_of(ranking_order(scores, 3, bytes.size(), top)) == best);
  }
}

TEST(RankingOrder, FindsTheBestOfVerticesThatAreLookedAtInParts) {
  std::vector<double> scores(100'001);
  for (std::size_t v = 0; v < scores.size(); ++v)  // each score four times, here and there
    scores[v] = static_cast<double>(v * 7919 % 25'000);
  std::vector<VertexId> expected(scores.size() - 1);
  std::iota(expected.begin(), expected.end(), VertexId{1});
  std::stable_sort(expected.begin(), expected.end(),
                   [&](VertexId a, VertexId b) { return scores[a] > scores[b]; });
  for (const std::uint64_t top : {0, 1, 6, 1500}) {
    const std::vector<VertexId> best(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(top));
    EXPECT_EQ(ids_of(ranking_order(scores, 1, scores.size() - 1, top)), best) << top;
  }
  scores[77'777] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(ranking_order(scores, 0, scores.size(), 5), InternalError);
}

TEST(RankingOrder, RefusesWhatIsNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
    EXPECT_THROW(ranking_order(std::vector<double>{1, bad, 2}, 0, 3, {}), InternalError);
}

TEST(KeepBest, SortsTheBestByScoreAndId) {
  const std::vector<ScoredVertex> all{{9, 0.5}, {2, 0.25}, {7, 1}, {3, 0.5}, {1, 0.25}, {0, 0}};
  const std::vector<VertexId> expected{7, 3, 9, 1, 2, 0};
  for (std::uint64_t count = 0; count < 9; ++count) {
    std::vector<ScoredVertex> best = all;
    keep_best(best, count);
    ASSERT_EQ(best.size(), std::min<std::uint64_t>(count, 6));
    for (std::size_t i = 0; i < best.size(); ++i) EXPECT_EQ(best[i].id, expected[i]) << count;
  }
  std::vector<ScoredVertex> bad{{0, 1}, {1, std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_THROW(keep_best(bad, 1), InternalError);
}

TEST(WithZeros, FillsUpWithTheFirstOthers) {
  const std::vector<ScoredVertex> best{{2, 0.5}, {0, 0.25}, {5, 0.125}};
  const BestScores filled = with_zeros(best, 6);
  EXPECT_EQ(filled.vertices, (std::vector<VertexId>{2, 0, 5, 1, 3, 4}));
  EXPECT_EQ(filled.scores, (std::vector<double>{0.5, 0.25, 0.125, 0, 0, 0}));
  EXPECT_EQ(with_zeros(best, 3).vertices, (std::vector<VertexId>{2, 0, 5}));
  EXPECT_EQ(with_zeros({}, 2).vertices, (std::vector<VertexId>{0, 1}));
  EXPECT_TRUE(with_zeros({}, 0).vertices.empty());
}

}  // namespace
}  // namespace tessera
