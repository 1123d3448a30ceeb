// When HITS ends: in its block form, near pairs that are not the dominant one, and from given hubs.
#include <algorithm>
#include <cmath>

#include "algorithms/hits.hpp"
#include "algorithms/vertex_values.hpp"
#include "tests/algorithms/ranking_cases.hpp"

namespace tessera::test {
namespace {

TEST(HitsConvergence, TheBlockFormStopsWhenBothHalvesHaveSettled) {
  // Hubs 0 and 1 share 1,000 of 3,500 authorities: A A^T is [3000 1000; 1000 1500], eigenvalues 3,500 and
  // 1,000. In every second step of the block form hubs are 1/3000 of the whole.
  OracleGraph oracle{3502, {}};
  for (std::size_t v = 0; v < 3500; ++v) {
    if (v < 3000) oracle.edges.push_back({0, v + 2});
    if (v >= 2000) oracle.edges.push_back({1, v + 2});
  }
  for (const ScoreNorm norm : {ScoreNorm::sum, ScoreNorm::l2, ScoreNorm::max}) {
    const HitsResult result =
        run_hits(graph_of(oracle, false), hits_options(until(1e-6), norm), {}, HitsUpdate::block);
    EXPECT_TRUE(result.report.converged);
    EXPECT_NEAR(result.hub[1] / result.hub[0], 0.5, 1e-6);
    EXPECT_NEAR(result.convergence_rate, 2.0 / 7, 1e-6);
  }
}

/// An out-star of `out` and an in-star of `in` nodes: the pair is that of the larger one.
OracleGraph two_stars(std::size_t out, std::size_t in) {
  OracleGraph oracle{out + in + 2, {}};
  for (std::size_t v = 0; v < out; ++v) oracle.edges.push_back({0, v + 2});
  for (std::size_t v = 0; v < in; ++v) oracle.edges.push_back({out + v + 2, 1});
  return oracle;
}

TEST(HitsConvergence, TheBlockFormSeesChangesOfAHalfThatIsSmallInAllSteps) {
  // Half of the two sequences has next to no authorities, the other half next to no hubs.
  for (const ScoreNorm norm : {ScoreNorm::sum, ScoreNorm::l2, ScoreNorm::max}) {
    const Graph graph = graph_of(two_stars(1000, 1010), false);
    const HitsResult found =
        run_hits(graph, hits_options(until(1e-5, 20000), norm), {.ranks = 2}, HitsUpdate::block);
    ASSERT_TRUE(found.report.converged);
    const HitsResult before =
        run_hits(graph, hits_options(steps(found.report.iterations - 2), norm), {}, HitsUpdate::block);
    const double change =
        std::max(l1_distance(before.authority, found.authority), l1_distance(before.hub, found.hub));
    EXPECT_NEAR(found.report.residual, change, 1e-2 * change);  // its own, of neither half more
    EXPECT_LE(found.report.residual, 1e-5);
    if (norm == ScoreNorm::sum) {
      EXPECT_GE(found.report.residual, 1e-6);  // and not long after it could have ended
    }
    EXPECT_GT(found.authority[1] / found.authority[2], 90);
    EXPECT_TRUE(found.unique);
  }
}

TEST(HitsConvergence, TheBlockFormConvergesInSinglePrecision) {
  // The joint change is rounding long before the small half has settled.
  const Graph graph = graph_of(two_stars(1000, 1010), false);
  const HitsResult found = run_hits<float>(graph, hits_options(until(1e-5, 20000)), {}, HitsUpdate::block),
                   wide = run_hits(graph, hits_options(until(1e-5, 20000)), {}, HitsUpdate::block);
  EXPECT_TRUE(found.report.converged);
  EXPECT_NEAR(found.report.iterations, wide.report.iterations, 50);
  EXPECT_NEAR(found.authority[1], wide.authority[1], 1e-4);
}

TEST(HitsConvergence, AChangeThatGrowsIsNotRounding) {
  // From far below what rounding changes, 1.1 times as much each step.
  OracleGraph oracle{8, {}};
  oracle.edges.push_back({0, 1, 1.05});
  oracle.edges.push_back({2, 3, 1});
  HitsOptions options = hits_options(until(1e-14));
  options.start_hubs = {1e-14, 0, 1, 0, 0, 0, 0, 0};
  const HitsResult found = run_hits(graph_of(oracle, true), options);
  EXPECT_FALSE(found.report.stagnated);
  EXPECT_TRUE(found.report.converged);
  EXPECT_NEAR(found.hub[0], 1, 1e-12);
}

TEST(HitsConvergence, AStartNearAPairThatIsNoLongerTheDominantOneLeavesIt) {
  // Two and three hubs that share as many authorities; the links of the two weigh 10.
  OracleGraph oracle{10, {}};
  for (std::size_t hub : {0, 1})
    for (std::size_t authority : {2, 3}) oracle.edges.push_back({hub, authority, 10});
  for (std::size_t hub : {4, 5, 6})
    for (std::size_t authority : {7, 8, 9}) oracle.edges.push_back({hub, authority, 1});
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    HitsOptions options = hits_options(until(1e-6));
    options.start_hubs.assign(10, 1e-9);
    for (std::size_t hub : {4, 5, 6}) options.start_hubs[hub] = 1;
    const HitsResult found = run_hits(graph_of(oracle, true), options, {}, update);
    EXPECT_TRUE(found.report.converged);
    EXPECT_TRUE(found.unique);
    EXPECT_NEAR(found.authority[2], 0.5, 1e-6);
    EXPECT_NEAR(found.hub[4], 0, 1e-6);
  }
}

TEST(HitsConvergence, AStartMayBeGivenAPartOfAllNodes) {
  // All that 2 had were old hubs, 3 is a better one now.
  const OracleGraph oracle{5, {{1, 2}, {2, 3}, {3, 1}, {3, 4}}};
  HitsOptions options = hits_options(until(1e-9));
  options.start_hubs = {0, 1, 0, 0, 0};
  EXPECT_NEAR(run_hits(graph_of(oracle, false), options).authority[2], 1, 1e-12);
  options.start_hubs = with_even_part(options.start_hubs, 1e-3, "start");
  EXPECT_NEAR(total(options.start_hubs), 1, 1e-15);
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    const HitsResult found = run_hits(graph_of(oracle, false), options, {}, update);
    EXPECT_NEAR(found.authority[1], 0.5, 1e-8);
    EXPECT_NEAR(found.authority[4], 0.5, 1e-8);
    EXPECT_NEAR(found.hub[3], 1, 1e-8);
  }
}

}  // namespace
}  // namespace tessera::test
