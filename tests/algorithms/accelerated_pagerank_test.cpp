// PageRank of undirected graphs by accelerated steps (algorithms/step_acceleration.hpp).
#include <algorithm>
#include <functional>

#include "algorithms/pagerank.hpp"
#include "tests/algorithms/ranking_cases.hpp"
#include "tests/support/ring_graph.hpp"

namespace tessera::test {
namespace {

PageRankOptions accelerated(double damping, StopRule stop) {
  PageRankOptions options = pagerank_options(damping, stop);
  options.accelerate = true;
  return options;
}
PageRankOptions plain(PageRankOptions options) {
  options.accelerate = false;
  return options;
}

TEST(AcceleratedPageRank, SolvesTheLinearSystemOfEachRule) {
  for (const double damping : {0.85, 0.99}) {
    const Graph comb = comb_graph(60, 25);  // 23 vertices have no link
    for (const bool weighted : {false, true}) {
      OracleGraph oracle = oracle_of(comb);
      if (weighted) put_weights(oracle);  // those of an edge and its reverse are the same
      const Graph graph = graph_of(oracle, weighted);
      std::vector<double> jump(60, 0.5);
      jump[3] = 20;
      std::vector<double> jump_to_one = jump;
      for (double& value : jump_to_one) value /= total(jump);
      for (const bool personal : {false, true})
        for (const auto& [rule, oracle_rule] : {std::pair(Dangling::uniform, OracleDangling::uniform),
                                                {Dangling::personalization, OracleDangling::personalization},
                                                {Dangling::drop, OracleDangling::drop}}) {
          PageRankOptions options = accelerated(damping, until(1e-13));
          options.dangling = rule;
          if (personal) options.personalization = jump;
          const auto expected =
              oracle_pagerank(oracle, damping, oracle_rule, personal ? jump_to_one : uniform_jump(60));
          const PageRankResult result = run_pagerank(graph, options);
          EXPECT_TRUE(result.report.converged);
          EXPECT_LE(l1_distance(result.scores, expected), 1e-10);
          EXPECT_LE(l1_distance(result.scores, expected), result.error_bound);
          EXPECT_NEAR(result.sum, total(result.scores), 1e-13);
          const PageRankResult slow = run_pagerank(graph, plain(options));
          EXPECT_LT(2 * result.report.iterations, slow.report.iterations);
          const PageRankResult narrow = run_pagerank<float>(graph, options);
          EXPECT_LE(l1_distance(narrow.scores, expected), narrow.error_bound);
        }
    }
  }
}

TEST(AcceleratedPageRank, TakesAStepLessThanHalfAsOftenToTheUsualTolerance) {
  const Graph graph = comb_graph(1000, 480);
  for (const auto& [damping, times] : {std::pair(0.85, 2), {0.99, 6}}) {
    const PageRankOptions options = accelerated(damping, until(1e-6));
    const int fast = run_pagerank(graph, options).report.iterations,
              slow = run_pagerank(graph, plain(options)).report.iterations;
    EXPECT_LT(times * fast, slow) << damping;
  }
}

TEST(AcceleratedPageRank, HasTheSameBitsOnAnyRanksAndThreads) {
  const Graph graph = comb_graph(500, 230);
  const auto check = [&]<class S>(S, double tolerance) {
    for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf}) {
      PageRankOptions options = accelerated(0.9, until(tolerance));
      options.stop.norm = norm;
      const PageRankResult one = run_pagerank<S>(graph, options);
      EXPECT_TRUE(one.report.converged);
      for (const test::Setup& setup : {test::Setup{.ranks = 1, .threads = 3}, test::Setup{.ranks = 3}}) {
        const PageRankResult many = run_pagerank<S>(graph, options, setup);
        EXPECT_EQ(many.scores, one.scores);
        EXPECT_EQ(many.report.residual_history, one.report.residual_history);
        EXPECT_EQ(many.sum, one.sum);
      }
      const PageRankResult rows = run_pagerank<S>(graph, options, {.kernel = KernelKind::csr});
      EXPECT_LE(l1_distance(rows.scores, one.scores), 2 * one.error_bound);
    }
  };
  check(0.0F, 1e-6);
  check(0.0, 1e-12);
}

TEST(AcceleratedPageRank, FastScoresKeepPlainSteps) {
  const Graph graph = graph_of(random_oracle_graph(3, 300, 6000, false, true), false);
  const PageRankOptions options = accelerated(0.85, until(1e-6));
  const PageRankResult result = run_pagerank(graph, options), slow = run_pagerank(graph, plain(options));
  EXPECT_EQ(result.report.iterations, slow.report.iterations);
  EXPECT_EQ(result.scores, slow.scores);
}

TEST(AcceleratedPageRank, FixedStepsRescaledOnesAndThoseOfADampingNearOneArePlain) {
  const Graph graph = comb_graph(100, 40);
  PageRankOptions fixed = accelerated(0.95, steps(40)), rescaled = accelerated(0.95, until(1e-9)),
                  near_one = accelerated(0.9999999, until(1e-5));
  rescaled.dangling = Dangling::rescale;
  EXPECT_TRUE(accelerates(accelerated(0.99999, until(1e-5))));
  for (const PageRankOptions& options : {fixed, rescaled, near_one}) {
    EXPECT_FALSE(accelerates(options));
    const PageRankResult asked = run_pagerank(graph, options), slow = run_pagerank(graph, plain(options));
    EXPECT_EQ(asked.scores, slow.scores);
    EXPECT_EQ(asked.report.residual_history, slow.report.residual_history);
  }
}

/// Half of the vertices have no link, and many scores are small beside what accelerated steps might come to.
TEST(AcceleratedPageRank, SumsLoseNothingOfChangesNearRounding) {
  const Graph graph = comb_graph(40000, 10000);
  const PageRankOptions options = accelerated(0.99, until(1e-14));
  const PageRankResult fast = run_pagerank(graph, options);
  EXPECT_TRUE(fast.report.converged);
  PageRankOptions exact = plain(options);
  exact.stop.tolerance = 1e-15;
  EXPECT_LE(l1_distance(fast.scores, run_pagerank(graph, exact).scores), fast.error_bound);
}

TEST(AcceleratedPageRank, ReachesInSinglePrecisionWhatPlainStepsReach) {
  struct Case {
    std::size_t clique, num_vertices;
    double damping, tolerance;
  };
  for (const Case& of : {Case{20, 101, 0.997, 1e-6}, {30, 201, 0.999, 1e-6}, {60, 201, 0.9995, 5e-6}}) {
    const Graph graph = lollipop_graph(of.num_vertices, of.clique);
    const PageRankOptions options = accelerated(of.damping, until(of.tolerance));
    const PageRankResult fast = run_pagerank<float>(graph, options),
                         slow = run_pagerank<float>(graph, plain(options));
    EXPECT_TRUE(slow.report.converged) << of.damping;
    EXPECT_TRUE(fast.report.converged) << of.damping;
    EXPECT_LT(4 * fast.report.iterations, slow.report.iterations) << of.damping;
    EXPECT_LE(
        l1_distance(fast.scores, run_pagerank(graph, plain(accelerated(of.damping, until(1e-12)))).scores),
        fast.error_bound);
  }
}

/// From the root of a tree residuals grow tenfold before they shrink.
TEST(AcceleratedPageRank, LetsResidualsGrowFirst) {
  OracleGraph tree{16383, {}};
  for (std::size_t v = 1; v < tree.num_vertices; ++v) {
    tree.edges.push_back({v, (v - 1) / 2});
    tree.edges.push_back({(v - 1) / 2, v});
  }
  PageRankOptions options = accelerated(0.999, until(1e-6));
  options.personalization.assign(tree.num_vertices, 0.0);
  options.personalization[0] = 1;
  const PageRankResult result = run_pagerank(graph_of(tree, false), options);
  const std::vector<double>& history = result.report.residual_history;
  EXPECT_GT(*std::max_element(history.begin(), history.end()), 5 * history[4]);
  EXPECT_LT(result.report.iterations, 1000);
}

/// In f32 with a damping near 1 no step comes to such a tolerance.
TEST(AcceleratedPageRank, StagnatesSoonerThanPlainStepsAndNotHigher) {
  OracleGraph oracle{3000, {}};
  const auto link = [&](std::size_t u, std::size_t v) {
    oracle.edges.push_back({u, v});
    oracle.edges.push_back({v, u});
  };
  for (std::size_t v = 0; v + 1 < 2000; ++v) link(v, v + 1);
  for (std::size_t v = 2000; v < 3000; ++v) link(0, v);
  const Graph graph = graph_of(oracle, false);
  const PageRankOptions options = accelerated(0.999, until(1e-7));
  const PageRankResult fast = run_pagerank<float>(graph, options),
                       slow = run_pagerank<float>(graph, plain(options));
  EXPECT_FALSE(slow.report.converged);
  EXPECT_LE(fast.report.residual_l1, slow.report.residual_l1);
  EXPECT_LT(10 * fast.report.iterations, slow.report.iterations);
  EXPECT_TRUE(fast.report.stagnated);
}

TEST(AcceleratedPageRank, WhenStoppedIsWithinItsErrorBound) {
  const Graph graph = comb_graph(200, 90);
  const auto exact = oracle_pagerank(oracle_of(graph), 0.9, OracleDangling::uniform, uniform_jump(200));
  for (const int last_step : {3, 4, 5, 6, 7, 12, 25}) {
    PageRankOptions options = accelerated(0.9, until(1e-12));
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < last_step; };
    const PageRankResult result = run_pagerank(graph, options);
    EXPECT_EQ(result.report.iterations, last_step);
    EXPECT_TRUE(result.report.interrupted);
    EXPECT_LE(l1_distance(result.scores, exact), result.error_bound) << last_step;
    EXPECT_NEAR(result.sum, total(result.scores), 1e-14);
    EXPECT_GE(*std::min_element(result.scores.begin(), result.scores.end()), 0);
  }
}

/// All mass begins at one end, far from which scores go below 0 on their way.
TEST(AcceleratedPageRank, OfAStartElsewhereHasNoNegativeScores) {
  const Graph graph = comb_graph(400, 190);
  PageRankOptions options = accelerated(0.99, until(1e-7));
  options.personalization.assign(400, 0.0);
  options.personalization[0] = 1;
  const auto exact =
      oracle_pagerank(oracle_of(graph), 0.99, OracleDangling::uniform, options.personalization);
  for (const int last_step : {8, 20, 1000}) {
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < last_step; };
    const PageRankResult result = run_pagerank(graph, options);
    EXPECT_GE(*std::min_element(result.scores.begin(), result.scores.end()), 0);
    EXPECT_NEAR(result.sum, total(result.scores), 1e-13);
    EXPECT_LE(l1_distance(result.scores, exact), result.error_bound);
  }
}

/// Whoever says that a graph is undirected and errs gets the same scores, if later.
TEST(AcceleratedPageRank, OfLinksOneWayEndsItsAcceleration) {
  OracleGraph oracle{60, {}};
  for (std::size_t v = 0; v < 60; ++v) oracle.edges.push_back({v, (v + 1) % 60});
  oracle.edges.push_back({30, 0});
  PageRankOptions options = accelerated(0.9, until(1e-9));
  options.personalization.assign(60, 0.0);
  options.personalization[5] = 1;
  const PageRankResult result = run_pagerank(graph_of(oracle, false), options);
  EXPECT_TRUE(result.report.converged);
  const std::vector<double>& history = result.report.residual_history;
  EXPECT_NE(std::adjacent_find(history.begin(), history.end(), std::less<double>()), history.end());
  const auto exact = oracle_pagerank(oracle, 0.9, OracleDangling::uniform, options.personalization);
  EXPECT_LE(l1_distance(result.scores, exact), result.error_bound);
}

}  // namespace
}  // namespace tessera::test
