#include "algorithms/hits.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"
#include "tests/algorithms/ranking_cases.hpp"

namespace tessera::test {
namespace {

std::vector<double> scaled(std::vector<double> values, double size) {
  for (double& value : values) value /= size;
  return values;
}

double l2_size(const std::vector<double>& values) {
  double squares = 0;
  for (double value : values) squares += value * value;
  return std::sqrt(squares);
}

TEST(Hits, APathHasTheHandValues) {
  // 0 -> 1, 0 -> 2, 3 -> 2: A A^T over hubs (0, 3) is [2 1; 1 1], its largest eigenvector (phi, 1).
  const OracleGraph oracle{4, {{0, 1}, {0, 2}, {3, 2}}};
  const double phi = (1 + std::sqrt(5.0)) / 2;
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    const HitsResult result = run_hits(graph_of(oracle, false), hits_options(until(1e-15)), {}, update);
    EXPECT_NEAR(result.hub[0], phi / (phi + 1), 1e-13);
    EXPECT_NEAR(result.hub[3], 1 / (phi + 1), 1e-13);
    EXPECT_EQ(result.hub[1], 0);
    EXPECT_NEAR(result.authority[2] / result.authority[1], (phi + 1) / phi, 1e-13);
    EXPECT_EQ(result.authority[0], 0);
    EXPECT_NEAR(total(result.authority), 1, 1e-14);
    EXPECT_TRUE(result.unique);
    EXPECT_TRUE(result.report.converged);
  }
}

TEST(Hits, FollowsTheFormulaStepByStep) {
  for (const bool weighted : {false, true}) {
    const OracleGraph oracle = random_oracle_graph(11, 45, 250, weighted);
    const Graph graph = graph_of(oracle, weighted);
    for (const int count : {1, 2, 7}) {
      const OracleHits expected = oracle_hits(oracle, count);
      const HitsResult result = run_hits(graph, hits_options(steps(count)));
      EXPECT_LE(l1_distance(result.authority, expected.authority), 1e-14);
      EXPECT_LE(l1_distance(result.hub, expected.hub), 1e-14);
      // The block form needs two steps for one: a of step 2k - 1, h of step 2k.
      const HitsResult block = run_hits(graph, hits_options(steps(2 * count)), {}, HitsUpdate::block);
      EXPECT_LE(l1_distance(block.authority, expected.authority), 1e-14);
      EXPECT_LE(l1_distance(block.hub, expected.hub), 1e-14);
    }
  }
}

/// The steps of `options`, from its start, on one rank and several.
void expect_the_formula(const OracleGraph& oracle, const HitsOptions& options) {
  const OracleHits expected = oracle_hits(oracle, options.stop.fixed_iterations, options.start_hubs);
  const Graph graph = graph_of(oracle, true);
  for (const int ranks : {1, 3}) {
    const HitsResult result = run_hits(graph, options, {.ranks = ranks});
    EXPECT_LE(l1_distance(result.authority, expected.authority), 1e-12) << ranks << " ranks";
    EXPECT_LE(l1_distance(result.hub, expected.hub), 1e-12) << ranks << " ranks";
  }
}

TEST(Hits, FollowsTheFormulaWhereWeightsDifferByMuch) {
  for (const double small : {1e-3, 1e-8, 1e-14})
    for (const double large : {1.0, 1e4, 1e13}) {
      OracleGraph oracle = random_oracle_graph(12, 45, 250, true);
      for (std::size_t i = 0; i < oracle.edges.size(); i += 5) oracle.edges[i].weight *= small;
      oracle.num_vertices = 46;
      oracle.edges.push_back({45, 1, large});
      expect_the_formula(oracle, hits_options(steps(7)));
    }
}

/// Sums of columns of one matrix are alike, those of the other are not.
TEST(Hits, FollowsTheFormulaWhereOneSideHasSmallSums) {
  const OracleGraph oracle{5, {{0, 1, 1}, {0, 2, 1}, {3, 1, 1e-11}, {4, 2, 1}}};
  OracleGraph turned = oracle;
  for (auto& edge : turned.edges) std::swap(edge.source, edge.target);
  for (const int count : {1, 2, 7}) {
    expect_the_formula(oracle, hits_options(steps(count)));
    expect_the_formula(turned, hits_options(steps(count)));
  }
}

/// All mass lies where weights are small at first, and comes to where they are large, or never does.
TEST(Hits, FollowsTheFormulaWhereProductsAreSmallBesideSumsOfColumns) {
  OracleGraph oracle = random_oracle_graph(13, 60, 300, true);
  for (auto& edge : oracle.edges) edge.weight *= 0x1p-45;
  HitsOptions options;
  options.start_hubs.assign(62, 1.0);
  options.start_hubs[60] = 0;
  oracle.num_vertices = 62;
  oracle.edges.push_back({60, 61, 1});
  for (const bool meets : {false, true}) {
    if (meets) oracle.edges.push_back({0, 61, 0x1p-20});
    for (const int count : {1, 3, 9}) {
      options.stop = steps(count);
      expect_the_formula(oracle, options);
    }
  }
}

TEST(Hits, ConvergesToTheMatchingPair) {
  for (const bool weighted : {false, true})
    for (unsigned seed = 20; seed < 24; ++seed) {
      const OracleGraph oracle = random_oracle_graph(seed, 50, 400, weighted);
      const Graph graph = graph_of(oracle, weighted);
      const OracleHits expected = oracle_hits(oracle, 3000);
      const HitsResult result = run_hits(graph, hits_options(until(1e-14)));
      EXPECT_LE(l1_distance(result.authority, expected.authority), 1e-11);
      EXPECT_LE(l1_distance(result.hub, expected.hub), 1e-11);
      EXPECT_GT(result.convergence_rate, 0);
      EXPECT_LT(result.convergence_rate, 1);
      const HitsResult block = run_hits(graph, hits_options(until(1e-14)), {}, HitsUpdate::block);
      EXPECT_LE(l1_distance(block.authority, expected.authority), 1e-11);
      EXPECT_LE(l1_distance(block.hub, expected.hub), 1e-11);
      const HitsResult narrow = run_hits<float>(graph, hits_options(until(1e-6)));
      EXPECT_LE(l1_distance(narrow.authority, expected.authority), 1e-4);
    }
}

TEST(Hits, TheNormSaysWhatIsOne) {
  const OracleGraph oracle = random_oracle_graph(30, 40, 200, false);
  const Graph graph = graph_of(oracle, false);
  const OracleHits sum_one = oracle_hits(oracle, 2000);
  const auto max_of = [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); };
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    const HitsResult by_max = run_hits(graph, hits_options(until(1e-13), ScoreNorm::max), {}, update);
    EXPECT_NEAR(max_of(by_max.authority), 1, 1e-15);
    EXPECT_LE(l1_distance(by_max.hub, scaled(sum_one.hub, max_of(sum_one.hub))), 1e-10);
    const HitsResult by_l2 = run_hits(graph, hits_options(until(1e-13), ScoreNorm::l2), {}, update);
    EXPECT_NEAR(l2_size(by_l2.hub), 1, 1e-14);
    EXPECT_LE(l1_distance(by_l2.authority, scaled(sum_one.authority, l2_size(sum_one.authority))), 1e-10);
  }
}

TEST(Hits, TwoEqualStarsAreNotUnique) {
  // 1, 2, 3 -> 0 and 5, 6, 7 -> 4: the same eigenvalue twice.
  const OracleGraph oracle{8, {{1, 0}, {2, 0}, {3, 0}, {5, 4}, {6, 4}, {7, 4}}};
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block})
    for (const int ranks : {1, 3}) {
      const HitsResult result =
          run_hits(graph_of(oracle, false), hits_options(until(1e-12)), {.ranks = ranks}, update);
      EXPECT_FALSE(result.unique);
      EXPECT_NEAR(result.authority[0], 0.5, 1e-12);
      EXPECT_NEAR(result.authority[4], 0.5, 1e-12);
    }
}

TEST(Hits, ARunThatIsStoppedDoesNotLookForTies) {
  const OracleGraph oracle{8, {{1, 0}, {2, 0}, {3, 0}, {5, 4}, {6, 4}, {7, 4}}};
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    HitsOptions options = hits_options(until(1e-12));
    options.observer = [](const IterationProgress&) { return false; };
    const HitsResult result = run_hits(graph_of(oracle, false), options, {}, update);
    EXPECT_EQ(result.report.iterations, 1);
    EXPECT_TRUE(result.report.interrupted);
    EXPECT_TRUE(result.unique);
  }
}

TEST(Hits, AWeakerComponentLeavesThePairUnique) {
  // A star of 4 and a star of 3.
  const OracleGraph oracle{9, {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {6, 5}, {7, 5}, {8, 5}}};
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    const HitsResult result = run_hits(graph_of(oracle, false), hits_options(until(1e-9)), {}, update);
    EXPECT_TRUE(result.unique);
    EXPECT_NEAR(result.authority[0], 1, 1e-7);
    EXPECT_NEAR(result.convergence_rate, 0.75, 0.01);
  }
}

TEST(Hits, ALongThinComponentIsUnique) {
  // A path of alternating hubs and authorities: 0 -> 1 <- 2 -> 3 <- 4 ...
  OracleGraph oracle{61, {}};
  for (std::size_t hub = 0; hub < 61; hub += 2) {
    if (hub > 0) oracle.edges.push_back({hub, hub - 1});
    if (hub + 1 < 61) oracle.edges.push_back({hub, hub + 1});
  }
  EXPECT_TRUE(run_hits(graph_of(oracle, false), hits_options(until(1e-9))).unique);
}

TEST(Hits, WithoutEdgesAllScoresAreZero) {
  const HitsResult result = run_hits(graph_of({4, {}}, false), hits_options(until(1e-9)));
  EXPECT_EQ(result.authority, std::vector<double>(4, 0.0));
  EXPECT_EQ(result.hub, std::vector<double>(4, 0.0));
  EXPECT_TRUE(result.report.converged);
  EXPECT_TRUE(run_hits(graph_of({0, {}}, false), hits_options(until(1e-9))).hub.empty());
}

TEST(Hits, AStartWithoutLinksLeavesZeros) {
  const Graph graph = graph_of({4, {{0, 1, 1}, {2, 1, 1}}}, false);
  HitsOptions options = hits_options(steps(3));
  options.start_hubs = {0, 1, 0, 1};
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    const HitsResult result = run_hits(graph, options, {}, update);
    EXPECT_EQ(result.authority, std::vector<double>(4, 0.0));
    for (const double score : result.hub) EXPECT_TRUE(std::isfinite(score));
  }
}

/// The heavy edge, which the start does not reach, would outgrow the path in the block form.
TEST(Hits, BothFormsStayInThePartThatTheyStartIn) {
  OracleGraph oracle{22, {{20, 21, 1e7}}};
  for (std::size_t v = 0; v + 1 < 20; ++v) {
    oracle.edges.push_back({v, v + 1, 1});
    oracle.edges.push_back({v + 1, v, 1});
  }
  const Graph graph = graph_of(oracle, true);
  HitsOptions options = hits_options(until(1e-9));
  options.start_hubs.assign(22, 0);
  options.start_hubs[0] = 1;
  const HitsResult expected = run_hits(graph, options);
  for (const int ranks : {1, 3}) {
    const HitsResult block = run_hits(graph, options, {.ranks = ranks}, HitsUpdate::block);
    EXPECT_LE(l1_distance(block.authority, expected.authority), 1e-6);
    EXPECT_LE(l1_distance(block.hub, expected.hub), 1e-6);
  }
  options.stop = steps(20);
  EXPECT_NEAR(total(run_hits<float>(graph, options, {}, HitsUpdate::block).authority), 1, 1e-6);
}

TEST(Hits, AWarmStartFromTheAnswerTakesOneStep) {
  const OracleGraph oracle = random_oracle_graph(31, 50, 300, false);
  const Graph graph = graph_of(oracle, false);
  HitsOptions options = hits_options(until(1e-9));
  const HitsResult cold = run_hits(graph, options);
  options.start_hubs = cold.hub;
  const HitsResult warm = run_hits(graph, options);
  EXPECT_LE(warm.report.iterations, 3);
  EXPECT_LT(warm.report.iterations, cold.report.iterations);
  EXPECT_LE(l1_distance(warm.hub, cold.hub), 1e-8);
}

TEST(Hits, BadStartsAndWeightsAreRefused) {
  HitsOptions options = hits_options(until(1e-9));
  options.start_hubs = {0, 0};
  EXPECT_THROW(run_hits(graph_of({2, {{0, 1}}}, false), options), OptionError);
  options.start_hubs = {1, -1};
  EXPECT_THROW(run_hits(graph_of({2, {{0, 1}}}, false), options), OptionError);
  const OracleGraph heavy{2, {{0, 1, 1e200}}};
  EXPECT_THROW(run_hits(graph_of(heavy, true), hits_options(until(1e-9))), InputError);
}

TEST(Hits, TheUnitOfWeightsChangesNothing) {
  // Sums of these, and their products with small scores, leave f32, in which tiles send them.
  OracleGraph oracle = random_oracle_graph(17, 300, 3000, true);
  for (auto& edge : oracle.edges) edge.weight = 1 + edge.weight / 64;
  const HitsOptions options = hits_options(steps(12), ScoreNorm::max);
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block})
    for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr}) {
      const HitsResult expected =
          run_hits<float>(graph_of(oracle, true), options, {.kernel = kernel}, update);
      for (const int exponent : {-125, 125}) {
        OracleGraph other = oracle;
        for (auto& edge : other.edges) edge.weight = std::ldexp(edge.weight, exponent);
        for (const int ranks : {1, 3}) {
          const HitsResult found =
              run_hits<float>(graph_of(other, true), options, {.ranks = ranks, .kernel = kernel}, update);
          EXPECT_EQ(found.authority, expected.authority) << exponent;
          EXPECT_EQ(found.hub, expected.hub) << exponent;
          EXPECT_TRUE(found.unique);
        }
      }
    }
}

TEST(Hits, TheLargestScoreIsOneToTheBit) {
  HitsOptions options = hits_options(until(1e-9), ScoreNorm::max);
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    const HitsResult found =
        run_hits(graph_of(random_oracle_graph(31, 50, 300, true), true), options, {}, update);
    EXPECT_EQ(*std::ranges::max_element(found.authority), 1);
    EXPECT_EQ(*std::ranges::max_element(found.hub), 1);
  }
}

TEST(Hits, TheOrderOfNodesChangesRoundingsOnly) {
  const Graph graph = graph_of(random_oracle_graph(9, 80, 400, true), true);
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block}) {
    const HitsResult expected = run_hits(graph, hits_options(steps(8)), {.kernel = KernelKind::csr}, update);
    for (const OrderRequest order : {OrderRequest::by_length, OrderRequest::as_given})
      for (const int ranks : {1, 3}) {
        const HitsResult found =
            run_hits(graph, hits_options(steps(8)),
                     {.ranks = ranks, .kernel = KernelKind::tile_messages, .order = order}, update);
        EXPECT_LE(l1_distance(found.authority, expected.authority), 1e-13);
        EXPECT_LE(l1_distance(found.hub, expected.hub), 1e-13);
      }
  }
}

}  // namespace
}  // namespace tessera::test
