// The best scores of PageRank alone, where these are asked for: those that a sort of all gives.
#include "tests/algorithms/ranking_cases.hpp"

namespace tessera::test {
namespace {

template <class S>
void expect_best(const Graph& graph, PageRankOptions options, const Setup& setup) {
  const PageRankResult all = run_pagerank<S>(graph, options, setup);
  EXPECT_TRUE(all.best.vertices.empty());
  const std::uint64_t n = graph.num_vertices;
  for (const std::uint64_t top :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, n / 2, n - 1, n, n + 9}) {
    options.top = top;
    const PageRankResult result = run_pagerank<S>(graph, options, setup);
    const BestScores expected = first_of_sorted(all.scores, top);
    EXPECT_EQ(result.best.vertices, expected.vertices) << top << " of " << n;
    EXPECT_EQ(result.best.scores, expected.scores) << top << " of " << n;
    EXPECT_TRUE(result.scores.empty());
    EXPECT_EQ(result.sum, all.sum);
    if (!std::isnan(all.error_bound)) {  // as it is of rescaled steps
      EXPECT_EQ(result.error_bound, all.error_bound);
    }
    EXPECT_EQ(result.report.residual_history, all.report.residual_history);
  }
}

constexpr Dangling kRules[] = {Dangling::uniform, Dangling::personalization, Dangling::drop,
                               Dangling::rescale};

TEST(BestPageRank, AreThoseOfAllScores) {
  OracleGraph oracle = random_oracle_graph(5, 80, 160, false);
  oracle.num_vertices = 100;  // the last ones without links, whose score others without in-links share
  const Graph graph = graph_of(oracle, false);
  for (const Dangling rule : kRules)
    for (const int ranks : {1, 3, 7})
      for (const bool personal : {false, true}) {
        PageRankOptions options = pagerank_options(0.85, until(1e-6));
        options.dangling = rule;
        if (personal) {  // most scores are 0
          options.personalization.assign(100, 0.0);
          options.personalization[41] = options.personalization[99] = 1;
        }
        expect_best<float>(graph, options, {.ranks = ranks});
        options.stop = steps(3);
        expect_best<double>(graph, options, {.ranks = ranks});
      }
}

/// Vertices without links whose ids come first go behind all that are above them, and before equal ones.
TEST(BestPageRank, EqualScoresAreInTheOrderOfVertices) {
  OracleGraph oracle{60, {}};
  for (std::size_t v = 20; v < 40; ++v) oracle.edges.push_back({v, 59 - (v % 3)});
  const Graph graph = graph_of(oracle, false);
  for (const int ranks : {1, 2, 5})
    expect_best<double>(graph, pagerank_options(0.85, steps(4)), {.ranks = ranks});
}

/// Accelerated steps may leave scores below 0, which are raised.
TEST(BestPageRank, OfAcceleratedStepsAreThoseOfAllScores) {
  OracleGraph oracle{120, {}};  // a path, and vertices without links
  for (std::size_t v = 0; v + 1 < 100; ++v) {
    oracle.edges.push_back({v, v + 1});
    oracle.edges.push_back({v + 1, v});
  }
  const Graph graph = graph_of(oracle, false);
  PageRankOptions options = pagerank_options(0.99, until(1e-9));
  options.stop.max_iterations = 5000;
  options.accelerate = true;
  for (const int ranks : {1, 3}) expect_best<double>(graph, options, {.ranks = ranks});
  const int accelerated = run_pagerank<double>(graph, options).report.iterations;
  options.accelerate = false;
  EXPECT_LT(accelerated, run_pagerank<double>(graph, options).report.iterations);
}

TEST(BestPageRank, OfNoVerticesAreNone) {
  const Graph graph = sample_graph({}, range_labels(0, 0), false);
  PageRankOptions options = pagerank_options(0.85, steps(2));
  options.top = 5;
  EXPECT_TRUE(run_pagerank<double>(graph, options).best.vertices.empty());
}

}  // namespace
}  // namespace tessera::test
