#include "algorithms/pagerank.hpp"

#include <atomic>
#include <cmath>

#include "kernels/base/error.hpp"
#include "tests/algorithms/ranking_cases.hpp"

namespace tessera::test {
namespace {

TEST(PageRank, ATwoCycleWithATailHasTheHandValues) {
  // 0 <-> 1, 2 -> 0; c = 1/2, jump 1/6 each: p2 = 1/6, p0 = 1/6 + (p1 + p2)/2, p1 = 1/6 + p0/2.
  const OracleGraph oracle{3, {{0, 1}, {1, 0}, {2, 0}}};
  const PageRankResult result = run_pagerank(graph_of(oracle, false), pagerank_options(0.5, until(1e-15)));
  EXPECT_NEAR(result.scores[0], 4.0 / 9, 1e-14);
  EXPECT_NEAR(result.scores[1], 7.0 / 18, 1e-14);
  EXPECT_NEAR(result.scores[2], 1.0 / 6, 1e-14);
  EXPECT_NEAR(result.sum, 1, 1e-14);
  EXPECT_TRUE(result.report.converged);
}

TEST(PageRank, AStarUnderEachDanglingRuleHasTheHandValues) {
  // 1, 2, 3 -> 0, and 0 has no out-link; c = 1/2.
  const OracleGraph oracle{4, {{1, 0}, {2, 0}, {3, 0}}};
  const Graph graph = graph_of(oracle, false);
  PageRankOptions options = pagerank_options(0.5, until(1e-15));
  const auto centre_and_sum = [&](Dangling rule) {
    options.dangling = rule;
    const PageRankResult result = run_pagerank(graph, options);
    return std::pair(result.scores[0], result.sum);
  };
  // drop: leaves 1/8 each, centre 1/8 + 3/16.
  EXPECT_NEAR(centre_and_sum(Dangling::drop).first, 5.0 / 16, 1e-14);
  EXPECT_NEAR(centre_and_sum(Dangling::drop).second, 11.0 / 16, 1e-14);
  // uniform: leaf l = 1/8 + z/8, centre z = l + 3l/2: z = 5/11 and l = 2/11.
  EXPECT_NEAR(centre_and_sum(Dangling::uniform).first, 5.0 / 11, 1e-14);
  EXPECT_NEAR(centre_and_sum(Dangling::personalization).first, 5.0 / 11, 1e-14);
  // rescale: l = (1/8) / t and z = l + (3l/2) / t with t = (1 - z)/2 + 1/2: a cubic; its defining equations.
  const auto [z, sum] = centre_and_sum(Dangling::rescale);
  const double t = (1 - z) / 2 + 0.5, leaf = 0.125 / t;
  EXPECT_NEAR(sum, 1, 1e-14);
  EXPECT_NEAR(z, leaf + 1.5 * leaf / t, 1e-13);
  EXPECT_NEAR(z + 3 * leaf, 1, 1e-13);
}

TEST(PageRank, EachRuleSolvesItsLinearSystem) {
  for (const bool weighted : {false, true})
    for (unsigned seed = 0; seed < 6; ++seed) {
      const OracleGraph oracle = random_oracle_graph(seed, 40, 30 + 40 * seed, weighted);
      const Graph graph = graph_of(oracle, weighted);
      std::vector<double> jump(40, 0.0);
      for (std::size_t v = seed; v < 40; v += 3) jump[v] = 1.0 + static_cast<double>(v);
      std::vector<double> jump_to_one = jump;
      for (double& value : jump_to_one) value /= total(jump);
      for (const bool personal : {false, true}) {
        PageRankOptions options = pagerank_options(0.85, until(1e-14));
        if (personal) options.personalization = jump;
        const auto expected_jump = personal ? jump_to_one : uniform_jump(40);
        const std::pair<Dangling, OracleDangling> rules[] = {
            {Dangling::uniform, OracleDangling::uniform},
            {Dangling::personalization, OracleDangling::personalization},
            {Dangling::drop, OracleDangling::drop}};
        for (const auto& [rule, oracle_rule] : rules) {
          options.dangling = rule;
          const auto expected = oracle_pagerank(oracle, 0.85, oracle_rule, expected_jump);
          const PageRankResult result = run_pagerank(graph, options);
          const double error = l1_distance(result.scores, expected);
          EXPECT_LE(error, 1e-12) << seed << ' ' << weighted << personal << static_cast<int>(rule);
          const PageRankResult narrow = run_pagerank<float>(graph, options);
          EXPECT_LE(l1_distance(narrow.scores, expected), 1e-6);
          EXPECT_LE(l1_distance(narrow.scores, expected), narrow.error_bound);
        }
      }
    }
}

/// Nearly all of a score is its jump, whose own rounding counts, too.
TEST(PageRank, OfRoundedJumpsIsWithinItsErrorBound) {
  OracleGraph oracle{242, {}};
  for (std::size_t v = 0; v < 241; ++v) oracle.edges.push_back({v, 241});
  PageRankOptions options = pagerank_options(0.009, steps(20));
  options.dangling = Dangling::drop;
  options.personalization.assign(242, 1.0);
  options.personalization[241] = 0;
  const double jump = (1 - 0.009) / 241;
  std::vector<double> expected(242, jump);
  expected[241] = 0.009 * 241 * jump;
  const PageRankResult result = run_pagerank<float>(graph_of(oracle, false), options);
  EXPECT_LE(l1_distance(result.scores, expected), result.error_bound);
  EXPECT_LE(result.error_bound, 2e-7);
}

TEST(PageRank, VerticesWithoutLinksHaveTheBitsOfAStepOfTheirOwn) {
  // Half of the vertices have no link. A start that is given keeps each of their scores by itself.
  OracleGraph oracle = random_oracle_graph(11, 60, 150, false);
  oracle.num_vertices = 120;
  const Graph graph = graph_of(oracle, false);
  for (const Dangling rule :
       {Dangling::uniform, Dangling::personalization, Dangling::drop, Dangling::rescale})
    for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf})
      for (const test::Setup& setup :
           {test::Setup{}, test::Setup{.ranks = 3}, test::Setup{.ranks = 7, .kernel = KernelKind::csr},
            test::Setup{.ranks = 2, .kernel = KernelKind::tile_messages}}) {
        PageRankOptions options = pagerank_options(setup.ranks == 3 ? 0 : 0.85, steps(20));
        options.dangling = rule;
        options.stop.norm = norm;
        const PageRankResult together = run_pagerank<float>(graph, options, setup);
        options.start.assign(120, 1.0);
        const PageRankResult each = run_pagerank<float>(graph, options, setup);
        EXPECT_EQ(together.scores, each.scores);
        EXPECT_EQ(together.sum, each.sum);
        EXPECT_EQ(together.report.residual_history, each.report.residual_history);
        EXPECT_GT(together.scores[119], 0);
        EXPECT_EQ(together.scores[119], together.scores[60]);
      }
}

TEST(PageRank, TheErrorBoundHoldsAtEveryTolerance) {
  const OracleGraph oracle = random_oracle_graph(3, 50, 300, false);
  const Graph graph = graph_of(oracle, false);
  const auto exact = oracle_pagerank(oracle, 0.9, OracleDangling::uniform, uniform_jump(50));
  for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-10}) {
    const PageRankResult result = run_pagerank(graph, pagerank_options(0.9, until(tolerance)));
    EXPECT_LE(l1_distance(result.scores, exact), result.error_bound);
    EXPECT_LE(result.error_bound, 9.01 * tolerance);
    EXPECT_LE(result.report.residual, tolerance);
  }
}

/// Dangling mass goes where the jumps go, which have sum 1.
std::vector<long double> precise_pagerank(const OracleGraph& graph, double damping,
                                          const std::vector<long double>& jump) {
  const long double c = damping;
  std::vector<long double> out(graph.num_vertices, 0), score = jump;
  for (const OracleEdge& e : graph.edges) out[e.source] += e.weight;
  for (int step = 0; step < 400; ++step) {
    std::vector<long double> next(graph.num_vertices, 0);
    long double kept = 0;
    for (const OracleEdge& e : graph.edges) {
      const long double sent = c * score[e.source] * e.weight / out[e.source];
      next[e.target] += sent;
      kept += sent;
    }
    for (std::size_t v = 0; v < next.size(); ++v) next[v] += (1 - kept) * jump[v];
    score = next;
  }
  return score;
}

long double distance(const std::vector<double>& scores, const std::vector<long double>& exact) {
  long double sum = 0;
  for (std::size_t v = 0; v < exact.size(); ++v) sum += std::abs(scores[v] - exact[v]);
  return sum;
}

TEST(PageRank, TheErrorBoundCoversTheRoundingOfJumps) {
  for (const double damping : {0.0, 0.1, 0.85})
    for (unsigned seed = 0; seed < 20; ++seed) {
      const OracleGraph oracle = random_oracle_graph(seed, 40, 100, true);
      PageRankOptions options = pagerank_options(damping, steps(300));
      options.dangling = Dangling::personalization;
      // Few, so that errors do not cancel.
      options.personalization.assign(40, 0);
      for (std::size_t v = seed; v < 40; v += 13)
        options.personalization[v] = 1 + std::fmod(static_cast<double>(v) * 0.7, 1.3);
      std::vector<long double> jump(options.personalization.begin(), options.personalization.end());
      long double sum = 0;
      for (const long double value : jump) sum += value;
      for (long double& value : jump) value /= sum;
      const std::vector<long double> exact = precise_pagerank(oracle, damping, jump);
      for (const KernelKind kernel : {KernelKind::csr, KernelKind::tile_messages}) {
        const PageRankResult result = run_pagerank(graph_of(oracle, true), options, {.kernel = kernel});
        EXPECT_LE(distance(result.scores, exact), result.error_bound) << damping << ' ' << seed;
      }
    }
}

TEST(PageRank, TheErrorBoundCoversTheSumOfALongRow) {
  // All leaves link to 0, which links to 1: p0 = b + c (p1 + (n - 2) b), p1 = b + c p0 with b = (1 - c) / n.
#ifdef __SANITIZE_ADDRESS__
  constexpr std::size_t n = 100001;
  constexpr int kSteps = 200;
#else
  constexpr std::size_t n = 200001;
  constexpr int kSteps = 300;
#endif
  OracleGraph oracle{n, {{0, 1}}};
  for (std::size_t leaf = 1; leaf < n; ++leaf) oracle.edges.push_back({leaf, 0});
  const Graph graph = graph_of(oracle, false);
  const long double c = 0.85, b = (1 - c) / n;
  std::vector<long double> exact(n, b);
  exact[0] = (b + c * (n - 1) * b) / (1 - c * c);
  exact[1] = b + c * exact[0];
  for (const KernelKind kernel : {KernelKind::csr, KernelKind::tile_composite, KernelKind::tile_messages})
    for (const int ranks : {1, 3}) {
      const PageRankResult result =
          run_pagerank(graph, pagerank_options(0.85, steps(kSteps)), {.ranks = ranks, .kernel = kernel});
      EXPECT_LE(distance(result.scores, exact), result.error_bound) << static_cast<int>(kernel);
      EXPECT_LT(result.error_bound, 1e-12);
    }
}

TEST(PageRank, AWarmStartFromTheAnswerTakesOneStep) {
  const OracleGraph oracle = random_oracle_graph(4, 50, 300, false);
  const Graph graph = graph_of(oracle, false);
  PageRankOptions options = pagerank_options(0.85, until(1e-9));
  const PageRankResult cold = run_pagerank(graph, options);
  options.start = cold.scores;
  for (double& value : options.start) value *= 7;  // need not have sum 1
  const PageRankResult warm = run_pagerank(graph, options);
  EXPECT_GT(cold.report.iterations, 10);
  EXPECT_LE(warm.report.iterations, 2);
  EXPECT_LE(l1_distance(warm.scores, cold.scores), 1e-8);
}

TEST(PageRank, FixedStepsAreTheFormulaAppliedSoOften) {
  const OracleGraph oracle{3, {{0, 1}, {1, 0}, {2, 0}}};
  const PageRankResult result = run_pagerank(graph_of(oracle, false), pagerank_options(0.5, steps(2)));
  // From 1/3 each: (1/2, 1/3, 1/6), then (1/6 + (1/3 + 1/6)/2, 1/6 + 1/4, 1/6).
  EXPECT_NEAR(result.scores[0], 5.0 / 12, 1e-15);
  EXPECT_NEAR(result.scores[1], 5.0 / 12, 1e-15);
  EXPECT_NEAR(result.scores[2], 1.0 / 6, 1e-15);
  EXPECT_EQ(result.report.iterations, 2);
  EXPECT_TRUE(result.report.converged);
  EXPECT_NEAR(result.report.residual, 1.0 / 12 + 1.0 / 12, 1e-15);
  EXPECT_EQ(result.report.residual_history.size(), 2u);
}

TEST(PageRank, NormsMeasureTheSameChange) {
  const Graph graph = graph_of({3, {{0, 1}, {1, 0}, {2, 0}}}, false);
  PageRankOptions options = pagerank_options(0.5, steps(2));
  options.stop.norm = Norm::l2;
  EXPECT_NEAR(run_pagerank(graph, options).report.residual, std::sqrt(2.0) / 12, 1e-15);
  options.stop.norm = Norm::linf;
  const PageRankResult result = run_pagerank(graph, options);
  EXPECT_NEAR(result.report.residual, 1.0 / 12, 1e-15);
  EXPECT_NEAR(result.report.residual_l1, 1.0 / 6, 1e-15);
}

TEST(PageRank, TinyChangesCountInTheL2Norm) {
  const OracleGraph oracle = random_oracle_graph(4, 50, 300, false);
  PageRankOptions options = pagerank_options(0.85, until(1e-14));
  options.stop.norm = Norm::l2;
  const PageRankResult result = run_pagerank(graph_of(oracle, false), options);
  const auto& history = result.report.residual_history;
  ASSERT_GT(history.size(), 20u);
  EXPECT_GT(history[history.size() - 2], 1e-14);  // not rounded to 0 on the way
  EXPECT_GT(history.back(), 0);
}

TEST(PageRank, GraphsAtTheEdgeOfTheRules) {
  PageRankOptions options = pagerank_options(0.85, until(1e-14));
  EXPECT_EQ(run_pagerank(graph_of({1, {}}, false), options).scores, std::vector<double>{1});
  EXPECT_EQ(run_pagerank(graph_of({1, {{0, 0}}}, false), options).scores, std::vector<double>{1});
  EXPECT_LE(l1_distance(run_pagerank(graph_of({5, {}}, false), options).scores, uniform_jump(5)), 1e-15);
  EXPECT_TRUE(run_pagerank(graph_of({0, {}}, false), options).scores.empty());
  options.dangling = Dangling::drop;
  EXPECT_NEAR(run_pagerank(graph_of({5, {}}, false), options).sum, 0.15, 1e-15);
  options.dangling = Dangling::rescale;
  EXPECT_NEAR(run_pagerank(graph_of({5, {}}, false), options).sum, 1, 1e-15);
  options.damping = 0;
  EXPECT_LE(l1_distance(run_pagerank(graph_of({4, {{0, 1}}}, false), options).scores, uniform_jump(4)),
            1e-16);
}

TEST(PageRank, StrongDampingConvergesWithoutFalseStagnation) {
  const OracleGraph oracle = random_oracle_graph(9, 30, 60, false);
  const PageRankResult result =
      run_pagerank(graph_of(oracle, false), pagerank_options(0.9999, until(1e-13, 1000000)));
  EXPECT_TRUE(result.report.converged);
  EXPECT_FALSE(result.report.stagnated);
  EXPECT_LE(
      l1_distance(result.scores, oracle_pagerank(oracle, 0.9999, OracleDangling::uniform, uniform_jump(30))),
      result.error_bound);
}

TEST(PageRank, AnUnreachableToleranceEndsWithTheReachableOne) {
  const OracleGraph oracle = random_oracle_graph(5, 60, 500, true);
  const Graph graph = graph_of(oracle, true);
  PageRankOptions options = pagerank_options(0.99, until(1e-30));
  const PageRankResult result = run_pagerank<float>(graph, options);
  ASSERT_FALSE(result.report.converged);
  EXPECT_TRUE(result.report.stagnated);
  EXPECT_LT(result.report.iterations, 10000);
  EXPECT_GT(result.report.reachable_tolerance, 0);
  EXPECT_LT(result.report.reachable_tolerance, 1e-5);
  options.stop.tolerance = result.report.reachable_tolerance;
  EXPECT_TRUE(run_pagerank<float>(graph, options).report.converged);
}

TEST(PageRank, OneRanksObserverStopsAllRanks) {
  const Graph graph = graph_of(random_oracle_graph(5, 60, 500, false), false);
  for (const int ranks : {1, 3}) {
    PageRankOptions options = pagerank_options(0.85, until(1e-14));
    std::atomic<int> calls = 0;
    std::atomic_flag asked;
    options.observer = [&](const IterationProgress& progress) {
      ++calls;
      return progress.iteration < 4 || asked.test_and_set();
    };
    const PageRankResult result = run_pagerank(graph, options, {.ranks = ranks});
    EXPECT_TRUE(result.report.interrupted);
    EXPECT_FALSE(result.report.converged);
    EXPECT_EQ(result.report.iterations, 4);
    EXPECT_EQ(calls, 4 * ranks);
    EXPECT_NEAR(total(result.scores), 1, 1e-12);
  }
}

TEST(PageRank, OptionsOutOfRangeAreRefused) {
  const Graph graph = graph_of({3, {{0, 1}, {1, 2}}}, false);
  const auto refuse = [&](auto change) {
    PageRankOptions options = pagerank_options(0.85, until(1e-6));
    change(options);
    EXPECT_THROW(run_pagerank(graph, options), OptionError);
  };
  for (const double damping : {1.0, -0.1, 1.5, std::nan("")}) refuse([&](auto& o) { o.damping = damping; });
  refuse([](auto& o) { o.personalization = {0, 0, 0}; });
  refuse([](auto& o) { o.personalization = {1, 2}; });
  refuse([](auto& o) { o.personalization = {1, -1, 1}; });
  refuse([](auto& o) { o.start = {1, std::nan(""), 1}; });
  refuse([](auto& o) { o.start = {1, INFINITY, 1}; });
  refuse([](auto& o) { o.stop.tolerance = -1; });
  refuse([](auto& o) { o.stop.max_iterations = 0; });
}

TEST(PageRank, ScoresRescaledByALittleMassHaveSumOne) {
  // The scores with links sum to 2.5e-11 before the last step, and exact sums leave up to 2^-76 of each out.
  OracleGraph oracle{1001, {}};
  for (std::size_t leaf = 1; leaf <= 1000; ++leaf) oracle.edges.push_back({leaf, 0});
  PageRankOptions options = pagerank_options(0.999999999999, steps(50));
  options.dangling = Dangling::rescale;
  EXPECT_NEAR(run_pagerank(graph_of(oracle, false), options).sum, 1, 1e-9);
}

TEST(PageRank, WeightsTooLargeForScoresAreRefused) {
  const OracleGraph large{2, {{0, 1, 8e37}, {1, 0, 1}}};
  EXPECT_THROW(run_pagerank<float>(graph_of(large, true), pagerank_options(0.85, until(1e-6))), InputError);
  EXPECT_NO_THROW(run_pagerank(graph_of(large, true), pagerank_options(0.85, until(1e-6))));
  const OracleGraph huge{2, {{0, 1, 4e307}, {1, 0, 1}}};
  EXPECT_THROW(run_pagerank(graph_of(huge, true), pagerank_options(0.85, until(1e-6))), InputError);
}

TEST(PageRank, WeightsWhoseReciprocalsOverflowAreRefused) {
  const OracleGraph oracle{2, {{0, 1, 1e-305}, {1, 0, 1}}};
  EXPECT_THROW(run_pagerank<float>(graph_of(oracle, true), pagerank_options(0.85, until(1e-6))), InputError);
  EXPECT_NO_THROW(run_pagerank(graph_of(oracle, true), pagerank_options(0.85, until(1e-6))));
}

}  // namespace
}  // namespace tessera::test
