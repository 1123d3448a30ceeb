// The best authorities alone with their hub scores, where these are asked for: those that a sort of all
// gives.
#include "tests/algorithms/ranking_cases.hpp"

namespace tessera::test {
namespace {

template <class S = double>
void expect_best(const Graph& graph, HitsOptions options, const Setup& setup, HitsUpdate update) {
  const HitsResult all = run_hits<S>(graph, options, setup, update);
  EXPECT_TRUE(all.best.vertices.empty());
  EXPECT_TRUE(all.hubs_of_best.empty());
  const std::uint64_t n = graph.num_vertices;
  for (const std::uint64_t top : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, n / 2, n, n + 9}) {
    options.top = top;
    const HitsResult result = run_hits<S>(graph, options, setup, update);
    const BestScores expected = first_of_sorted(all.authority, top);
    EXPECT_EQ(result.best.vertices, expected.vertices) << top << " of " << n;
    EXPECT_EQ(result.best.scores, expected.scores) << top << " of " << n;
    std::vector<double> hubs;
    for (const VertexId vertex : expected.vertices) hubs.push_back(all.hub[vertex]);
    EXPECT_EQ(result.hubs_of_best, hubs) << top << " of " << n;
    EXPECT_TRUE(result.authority.empty() && result.hub.empty());
    EXPECT_EQ(result.has_authorities, all.has_authorities);
    EXPECT_EQ(result.has_hubs, all.has_hubs);
    EXPECT_EQ(result.unique, all.unique);
    EXPECT_EQ(result.convergence_rate, all.convergence_rate);
    EXPECT_EQ(result.report.residual_history, all.report.residual_history);
  }
}

TEST(BestHits, AreThoseOfAllScores) {
  OracleGraph oracle = random_oracle_graph(6, 70, 140, true);
  oracle.num_vertices = 90;  // the last ones without links
  const Graph graph = graph_of(oracle, true);
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block})
    for (const ScoreNorm norm : {ScoreNorm::sum, ScoreNorm::max, ScoreNorm::l2})
      for (const int ranks : {1, 3, 7}) {
        HitsOptions options = hits_options(steps(6));
        options.normalize = norm;
        expect_best(graph, options, {.ranks = ranks}, update);
        options.start_hubs.assign(90, 0.5);
        options.start_hubs[7] = 3;
        expect_best<float>(graph, options, {.ranks = ranks}, update);
      }
}

TEST(BestHits, OfManyEqualScoresAreTheFirst) {
  OracleGraph oracle{200, {}};  // every hub points to authorities of its own
  for (std::size_t v = 0; v < 60; ++v)
    for (const std::size_t to : {80 + 2 * v, 81 + 2 * v}) oracle.edges.push_back({199 - to, to});
  const Graph graph = graph_of(oracle, false);
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block})
    for (const int ranks : {1, 3}) expect_best(graph, hits_options(steps(3)), {.ranks = ranks}, update);
}

TEST(BestHits, OfARunThatIsStoppedAreThoseOfItsLastStep) {
  const Graph graph = graph_of(random_oracle_graph(6, 70, 140, true), true);
  HitsOptions options = hits_options(until(1e-12));
  options.observer = [](const IterationProgress& progress) { return progress.iteration < 3; };
  expect_best(graph, options, {}, HitsUpdate::alternating);
  options.top = 2;
  EXPECT_TRUE(run_hits(graph, options).report.interrupted);
}

TEST(BestHits, WithoutALinkThatCountsAreZero) {
  const OracleGraph oracle{30, {{1, 2, 0.0}, {4, 2, 0.0}}};
  const Graph graph = graph_of(oracle, true);
  for (const HitsUpdate update : {HitsUpdate::alternating, HitsUpdate::block})
    for (const int ranks : {1, 2}) expect_best(graph, hits_options(steps(2)), {.ranks = ranks}, update);
  const HitsResult result = run_hits(graph, hits_options(steps(2)));
  EXPECT_FALSE(result.has_authorities || result.has_hubs);
}

TEST(BestHits, OfNoVerticesAreNone) {
  const Graph graph = sample_graph({}, range_labels(0, 0), false);
  HitsOptions options = hits_options(steps(2));
  options.top = 5;
  EXPECT_TRUE(run_hits(graph, options).best.vertices.empty());
}

}  // namespace
}  // namespace tessera::test
