#include "algorithms/random_walk_restart.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/score_order.hpp"
#include "kernels/base/error.hpp"
#include "tests/algorithms/ranking_cases.hpp"
#include "tests/support/ring_graph.hpp"

namespace tessera::test {
namespace {

RwrOptions options_with(double c, StopRule stop, unsigned batch_size = 32) {
  RwrOptions options;
  options.continue_probability = c;
  options.stop = stop;
  options.batch_size = batch_size;
  return options;
}

TEST(RandomWalkRestart, AnEdgeHasTheHandValues) {
  // r0 = c r1 + (1 - c), r1 = c r0: r0 = 1 / (1 + c).
  const OracleGraph oracle{2, {{0, 1}, {1, 0}}};
  for (const int ranks : {1, 3}) {  // of three one has no row
    const auto results =
        run_walks(graph_of(oracle, false), {0}, options_with(0.9, until(1e-15)), {.ranks = ranks});
    EXPECT_NEAR(results[0].scores[0], 1 / 1.9, 1e-13);
    EXPECT_NEAR(results[0].scores[1], 0.9 / 1.9, 1e-13);
  }
}

TEST(RandomWalkRestart, SolvesItsLinearSystem) {
  for (const bool weighted : {false, true}) {
    const OracleGraph oracle = random_oracle_graph(2, 60, 200, weighted, true);
    const Graph graph = graph_of(oracle, weighted);
    const std::vector<VertexId> queries{0, 59, 7, 30, 7};
    const auto results = run_walks(graph, queries, options_with(0.9, until(1e-14)));
    const auto narrow = run_walks<float>(graph, queries, options_with(0.9, until(1e-7)));
    ASSERT_EQ(results.size(), queries.size());
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const auto exact = oracle_walk(oracle, 0.9, queries[q]);
      EXPECT_LE(l1_distance(results[q].scores, exact), 1e-12);
      EXPECT_LE(l1_distance(results[q].scores, exact), results[q].error_bound + 1e-14);
      EXPECT_LE(l1_distance(narrow[q].scores, exact), narrow[q].error_bound);
      EXPECT_LE(l1_distance(narrow[q].scores, exact), 1e-6);
      EXPECT_TRUE(results[q].report.converged);
    }
    EXPECT_EQ(results[2].scores, results[4].scores);
  }
}

TEST(RandomWalkRestart, AQuerysResultDoesNotDependOnTheBatch) {
  const Graph graph = graph_of(random_oracle_graph(5, 300, 900, true, true), true);
  std::vector<VertexId> queries;
  for (VertexId v = 0; v < 300; v += 7) queries.push_back(v);
  const auto alone = run_walks(graph, queries, options_with(0.9, until(1e-9), 1));
  for (const unsigned batch_size : {3u, 8u, 32u, 1000u})
    for (const int ranks : {1, 3}) {
      const auto together =
          run_walks(graph, queries, options_with(0.9, until(1e-9), batch_size), {.ranks = ranks});
      for (std::size_t q = 0; q < queries.size(); ++q) {
        EXPECT_EQ(together[q].scores, alone[q].scores) << batch_size << ' ' << q;
        EXPECT_EQ(together[q].report.iterations, alone[q].report.iterations);
        EXPECT_EQ(together[q].report.residual_history, alone[q].report.residual_history);
      }
    }
}

template <class S>
void expect_best(const Graph& graph, const std::vector<VertexId>& queries, const RwrOptions& options,
                 const Setup& setup) {
  const auto all = run_walks<S>(graph, queries, options, setup);
  for (const std::uint64_t top : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{60},
                                  graph.num_vertices, graph.num_vertices + 9}) {
    RwrOptions of_best = options;
    of_best.top = top;
    const auto results = run_walks<S>(graph, queries, of_best, setup);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const BestScores best = first_of_sorted(all[q].scores, top);
      EXPECT_EQ(results[q].best.vertices, best.vertices) << top << ' ' << q;
      EXPECT_EQ(results[q].best.scores, best.scores);
      EXPECT_TRUE(results[q].scores.empty());
      EXPECT_TRUE(all[q].best.vertices.empty());
      EXPECT_EQ(results[q].report.residual_history, all[q].report.residual_history);
      EXPECT_EQ(results[q].error_bound, all[q].error_bound);
    }
  }
}

TEST(RandomWalkRestart, TheBestAloneAreThoseOfAllScores) {
  OracleGraph oracle = random_oracle_graph(5, 80, 160, false, true);
  oracle.num_vertices = 100;  // the last ones without links, so that many scores are 0
  const Graph graph = graph_of(oracle, false);
  const std::vector<VertexId> queries{0, 99, 41, 7};
  for (const unsigned batch_size : {1u, 32u})
    for (const int ranks : {1, 3, 7}) {
      const test::Setup setup{.ranks = ranks};
      expect_best<float>(graph, queries, options_with(0.9, until(1e-5), batch_size), setup);
      expect_best<double>(graph, queries, options_with(0.9, steps(2), batch_size),
                          setup);  // few have come far
      expect_best<double>(graph, {0, 41}, options_with(0.97, until(1e-12), batch_size), setup);
    }
}

/// Of a star all leaves are as near to the hub: more than are worth to be listed.
TEST(RandomWalkRestart, TheBestOfManyEqualOnesAreTheFirst) {
  OracleGraph star{300, {}};
  for (std::size_t leaf = 0; leaf < 300; ++leaf)
    if (leaf != 41) {
      star.edges.push_back({41, leaf, 1});
      star.edges.push_back({leaf, 41, 1});
    }
  const Graph graph = graph_of(star, false);
  for (const int ranks : {1, 3}) {
    const test::Setup setup{.ranks = ranks};
    expect_best<float>(graph, {41, 7}, options_with(0.9, until(1e-5)), setup);
    expect_best<double>(graph, {41}, options_with(0.9, until(1e-9)), setup);
  }
}

TEST(RandomWalkRestart, ConvergedQueriesLeaveTheBlock) {
  // Vertex 4 is isolated: its walk is over after two steps; the others take many.
  const OracleGraph oracle{5, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}}};
  RwrOptions options = options_with(0.9, until(1e-10));
  std::vector<int> left;
  options.observer = [&](const IterationProgress& progress) {
    left.push_back(progress.vectors_left);
    return true;
  };
  const auto results = run_walks(graph_of(oracle, false), {0, 4, 3}, options);
  EXPECT_EQ(results[1].report.iterations, 2);
  EXPECT_NEAR(results[1].scores[4], 0.1, 1e-16);
  EXPECT_NEAR(total(results[1].scores), 0.1, 1e-16);
  ASSERT_GT(left.size(), 3u);
  EXPECT_EQ(left[0], 3);
  EXPECT_EQ(left[1], 2);
  EXPECT_EQ(left.back(), 0);
  EXPECT_EQ(results[0].report.iterations, static_cast<int>(left.size()));
}

TEST(RandomWalkRestart, AWalkThatStartsWithoutLinksChangesNoOther) {
  // With it the others take all rows along, without it none that has no link.
  OracleGraph oracle = random_oracle_graph(4, 40, 120, false, true);
  oracle.num_vertices = 60;
  const Graph graph = graph_of(oracle, false);
  const RwrOptions options = options_with(0.9, until(1e-8));
  for (const int ranks : {1, 3, 7}) {
    const auto with = run_walks<float>(graph, {0, 59, 3}, options, {.ranks = ranks});
    const auto without = run_walks<float>(graph, {0, 3}, options, {.ranks = ranks});
    EXPECT_EQ(with[0].scores, without[0].scores);
    EXPECT_EQ(with[2].scores, without[1].scores);
    EXPECT_EQ(with[2].report.residual_history, without[1].report.residual_history);
    EXPECT_GT(with[1].scores[59], 0);
  }
}

TEST(RandomWalkRestart, StayingAtHomeIsOneStep) {
  const auto results = run_walks(graph_of({2, {{0, 1}, {1, 0}}}, false), {1}, options_with(0, until(1e-12)));
  EXPECT_EQ(results[0].scores, (std::vector<double>{0, 1}));
  EXPECT_EQ(results[0].report.iterations, 1);
}

TEST(RandomWalkRestart, RoundingThatKeepsUpALongWalkIsNoticed) {
  const Graph graph = graph_of({2, {{0, 1}, {1, 0}}}, false);
  RwrOptions options = options_with(0.99, until(1e-6));
  EXPECT_TRUE(run_walks<float>(graph, {0}, options)[0].report.converged);
  options.accelerate = false;
  const auto results = run_walks<float>(graph, {0}, options);
  EXPECT_TRUE(results[0].report.stagnated);
  EXPECT_LT(results[0].report.iterations, 2000);
  options.stop.tolerance = results[0].report.reachable_tolerance;
  EXPECT_TRUE(run_walks<float>(graph, {0}, options)[0].report.converged);
}

TEST(RandomWalkRestart, SlowWalksTakeLessThanHalfOfTheStepsToTheSameTolerance) {
  const Graph graph = ring_graph(300, 250, 2);
  const OracleGraph oracle = oracle_of(graph);
  RwrOptions options = options_with(0.95, until(1e-10));
  const std::vector<VertexId> queries{0, 270, 100};
  const auto fast = run_walks(graph, queries, options);
  options.accelerate = false;
  const auto plain = run_walks(graph, queries, options);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const auto exact = oracle_walk(oracle, 0.95, queries[q]);
    for (const auto* results : {&fast, &plain}) {
      const RwrResult& result = (*results)[q];
      EXPECT_TRUE(result.report.converged);
      EXPECT_LE(result.report.residual, 1e-10);
      EXPECT_LE(l1_distance(result.scores, exact), result.error_bound);
      EXPECT_LE(result.error_bound, 2.1e-9);  // 1e-10 / (1 - c), and rounding
      EXPECT_GE(*std::min_element(result.scores.begin(), result.scores.end()), 0);
    }
    EXPECT_LE(fast[q].report.iterations, queries[q] == 270 ? 2 : plain[q].report.iterations / 2);
  }
}

TEST(RandomWalkRestart, ResidualsThatGrowForAWhileDoNotEndAcceleration) {
  OracleGraph tree{511, {}};
  for (std::size_t v = 1; v < tree.num_vertices; ++v) {
    tree.edges.push_back({v, (v - 1) / 2});
    tree.edges.push_back({(v - 1) / 2, v});
  }
  const auto result = run_walks(graph_of(tree, false), {0}, options_with(0.99, until(1e-6)));
  const std::vector<double>& history = result[0].report.residual_history;
  EXPECT_GT(*std::max_element(history.begin(), history.end()), 1.5 * history.front());
  EXPECT_LT(result[0].report.iterations, 150);  // plain steps are 1,400
  EXPECT_LE(l1_distance(result[0].scores, oracle_walk(tree, 0.99, 0)), result[0].error_bound);
}

TEST(RandomWalkRestart, AcceleratedWalksHaveTheSameBitsForAnyBatchRanksAndKernel) {
  // Some fast, some slow.
  OracleGraph oracle = oracle_of(ring_graph(400, 250, 1));
  for (const OracleEdge& e : random_oracle_graph(3, 150, 1500, false, true).edges)
    oracle.edges.push_back({e.source + 250, e.target + 250});
  const Graph graph = graph_of(oracle, false);
  std::vector<VertexId> queries;
  for (VertexId v = 0; v < 400; v += 19) queries.push_back(v);
  const auto check = [&]<class S>(S, double tolerance) {
    const auto alone = run_walks<S>(graph, queries, options_with(0.9, until(tolerance), 1));
    const auto [fewest, most] = std::minmax_element(alone.begin(), alone.end(), [](auto& a, auto& b) {
      return a.report.iterations < b.report.iterations;
    });
    EXPECT_LT(fewest->report.iterations, most->report.iterations);
    for (const unsigned batch_size : {4u, 32u})
      for (const int ranks : {1, 3}) {
        const auto together =
            run_walks<S>(graph, queries, options_with(0.9, until(tolerance), batch_size), {.ranks = ranks});
        for (std::size_t q = 0; q < queries.size(); ++q) {
          EXPECT_EQ(together[q].scores, alone[q].scores) << batch_size << ' ' << q;
          EXPECT_EQ(together[q].report.residual_history, alone[q].report.residual_history);
          EXPECT_EQ(together[q].error_bound, alone[q].error_bound);
        }
      }
  };
  check(0.0F, 1e-6);
  check(0.0, 1e-11);
}

TEST(RandomWalkRestart, TightTolerancesAreMetAsByPlainSteps) {
  // In f32 accelerated steps end where rounding is felt.
  const Graph graph = ring_graph(300, 250, 2);
  for (const double tolerance : {1e-7, 6e-8}) {
    RwrOptions options = options_with(0.9, until(tolerance));
    const auto fast = run_walks<float>(graph, {7}, options);
    options.accelerate = false;
    const auto plain = run_walks<float>(graph, {7}, options);
    EXPECT_EQ(fast[0].report.converged, plain[0].report.converged) << tolerance;
    EXPECT_LT(fast[0].report.iterations, plain[0].report.iterations) << tolerance;
    EXPECT_GE(*std::min_element(fast[0].scores.begin(), fast[0].scores.end()), 0);
  }
}

TEST(RandomWalkRestart, AResidualThatGoesThroughZeroIsNotTakenForRounding) {
  const Graph graph = lollipop_graph(101, 20);
  RwrOptions options = options_with(0.999, until(1e-6));
  const auto fast = run_walks<float>(graph, {0}, options);
  options.accelerate = false;
  const auto plain = run_walks<float>(graph, {0}, options);
  EXPECT_TRUE(plain[0].report.converged);
  EXPECT_TRUE(fast[0].report.converged);
  EXPECT_LT(4 * fast[0].report.iterations, plain[0].report.iterations);
}

TEST(RandomWalkRestart, FixedStepsAreNeverAccelerated) {
  const Graph graph = ring_graph(100, 100, 1);
  RwrOptions options = options_with(0.95, {.fixed_iterations = 60});
  const auto asked = run_walks(graph, {3}, options);
  options.accelerate = false;
  EXPECT_EQ(asked[0].scores, run_walks(graph, {3}, options)[0].scores);
  EXPECT_EQ(asked[0].report.iterations, 60);
}

TEST(RandomWalkRestart, AMatrixThatIsNotSymmetricEndsItsAcceleration) {
  // Links of a ring one way: eigenvalues all around a circle, on which weights for real ones are too large.
  OracleGraph oracle{60, {}};
  for (std::size_t v = 0; v < 60; ++v) oracle.edges.push_back({v, (v + 1) % 60});
  RwrOptions options = options_with(0.9, until(1e-9));
  const auto result = run_walks(graph_of(oracle, false), {0}, options);
  EXPECT_TRUE(result[0].report.converged);
  const std::vector<double>& history = result[0].report.residual_history;
  EXPECT_NE(std::adjacent_find(history.begin(), history.end(), std::less<double>()), history.end());
  EXPECT_LE(l1_distance(result[0].scores, oracle_walk(oracle, 0.9, 0)), result[0].error_bound);
}

TEST(RandomWalkRestart, StoppedAcceleratedWalksAreWithinTheirErrorBound) {
  const Graph graph = ring_graph(100, 100, 1);
  const auto exact = oracle_walk(oracle_of(graph), 0.9, 5);
  double last = 2;
  for (const int last_step : {3, 4, 5, 6, 12, 25}) {
    RwrOptions options = options_with(0.9, until(1e-12));
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < last_step; };
    const auto result = run_walks(graph, {5}, options);
    EXPECT_EQ(result[0].report.iterations, last_step);
    EXPECT_LE(l1_distance(result[0].scores, exact), result[0].error_bound);
    EXPECT_LE(l1_distance(result[0].scores, exact), last);  // the first accelerated one is where it began
    last = l1_distance(result[0].scores, exact);
  }
}

TEST(RandomWalkRestart, StoppingAnswersWhatWasReached) {
  const Graph graph = graph_of(random_oracle_graph(5, 60, 200, false, true), false);
  RwrOptions options = options_with(0.9, until(1e-12), 2);
  options.observer = [](const IterationProgress& progress) { return progress.iteration < 3; };
  const auto results = run_walks(graph, {1, 2, 3}, options);
  EXPECT_EQ(results[0].report.iterations, 3);
  EXPECT_EQ(results[2].report.iterations, 0);
  for (const RwrResult& result : results) {
    EXPECT_TRUE(result.report.interrupted);
    EXPECT_FALSE(result.report.converged);
    EXPECT_EQ(result.scores.size(), 60u);
  }
  EXPECT_EQ(results[2].scores[3], 1);
  options.top = 3;
  const auto best = run_walks(graph, {1, 2, 3}, options);
  EXPECT_EQ(best[2].best.vertices, (std::vector<VertexId>{3, 0, 1}));
  EXPECT_EQ(best[2].best.scores, (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(best[2].error_bound, results[2].error_bound);
  EXPECT_EQ(best[0].best.vertices, first_of_sorted(results[0].scores, 3).vertices);
}

TEST(RandomWalkRestart, OptionsOutOfRangeAreRefused) {
  const Graph graph = graph_of({2, {{0, 1}, {1, 0}}}, false);
  for (const double c : {1.0, -0.5, std::nan("")})
    EXPECT_THROW(run_walks(graph, {0}, options_with(c, until(1e-9))), OptionError);
  EXPECT_THROW(run_walks(graph, {2}, options_with(0.9, until(1e-9))), OptionError);
  EXPECT_THROW(run_walks(graph, {0}, options_with(0.9, until(1e-9), 0)), OptionError);
  EXPECT_TRUE(run_walks(graph, {}, options_with(0.9, until(1e-9))).empty());
}

}  // namespace
}  // namespace tessera::test
