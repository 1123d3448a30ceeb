// The claim of the whole design: the same bits for any number of ranks and threads.
#include <gtest/gtest.h>
// after gtest
#include <rapidcheck/gtest.h>

#include "tests/algorithms/ranking_cases.hpp"

namespace tessera::test {
namespace {

// Under sanitizers large graphs would take minutes; what bits are is for the optimised tests to say.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kManyVertices = 100000, kManyEdges = 300000;
constexpr int kStepsOfMany = 8;
#else
constexpr std::size_t kManyVertices = 150000, kManyEdges = 400000;
constexpr int kStepsOfMany = 40;
#endif
constexpr std::pair<int, int> kRanksAndThreads[] = {{1, 2}, {1, 4}, {2, 1}, {3, 1}, {4, 1}, {7, 1}, {2, 2}};

/// Every number that the algorithms give.
template <class S>
std::vector<std::vector<double>> all_results(const Graph& graph, const std::vector<VertexId>& queries,
                                             const Setup& setup, int most_steps = 40) {
  PageRankOptions pagerank_options;
  pagerank_options.stop = until(1e-9, most_steps);
  HitsOptions hits_options;
  hits_options.stop = until(1e-9, most_steps);
  RwrOptions walk_options;
  walk_options.stop = until(1e-9, most_steps);
  const auto rank = run_pagerank<S>(graph, pagerank_options, setup);
  const auto pair = run_hits<S>(graph, hits_options, setup);
  const auto block = run_hits<S>(graph, hits_options, setup, HitsUpdate::block);
  const auto walks = run_walks<S>(graph, queries, walk_options, setup);
  return {rank.scores, rank.report.residual_history, pair.authority,  pair.hub,        block.authority,
          block.hub,   pair.report.residual_history, walks[0].scores, walks[1].scores, {rank.sum}};
}

template <class S>
void expect_same_bits(const Graph& graph, const Setup& setup) {
  const std::vector<VertexId> queries{0, static_cast<VertexId>(graph.num_vertices - 1)};
  const auto expected = all_results<S>(graph, queries, {.ranks = 1, .threads = 1, .kernel = setup.kernel});
  RC_ASSERT(all_results<S>(graph, queries, setup) == expected);
}

RC_GTEST_PROP(SameBits, ForAnyNumberOfRanksAndThreads, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 90);
  const auto seed = *rc::gen::arbitrary<unsigned>();
  const auto num_edges = *rc::gen::inRange<std::size_t>(0, 700);
  const bool weighted = *rc::gen::arbitrary<bool>();
  const auto [ranks, threads] = *rc::gen::elementOf(
      std::vector<std::pair<int, int>>(std::begin(kRanksAndThreads), std::end(kRanksAndThreads)));
  const auto kernel =
      *rc::gen::element(KernelKind::tile_composite, KernelKind::tile_messages, KernelKind::csr);
  const Graph graph = graph_of(random_oracle_graph(seed, n, num_edges, weighted), weighted);
  if (*rc::gen::arbitrary<bool>())
    expect_same_bits<float>(graph, {ranks, threads, kernel});
  else
    expect_same_bits<double>(graph, {ranks, threads, kernel});
}

/// Large enough for several tiles and for work that is worth several threads.
TEST(SameBits, OnGraphsOfSeveralTiles) {
  for (const KernelKind kernel : {KernelKind::tile_composite, KernelKind::tile_messages})
    for (const bool weighted : {false, true}) {
      const Graph graph = graph_of(random_oracle_graph(3, kManyVertices, kManyEdges, weighted), weighted);
      const auto expected = all_results<float>(graph, {0, 5}, {1, 1, kernel}, kStepsOfMany);
      for (const auto& [ranks, threads] : {std::pair(1, 2), std::pair(1, 4), std::pair(3, 2)})
        EXPECT_EQ(all_results<float>(graph, {0, 5}, {ranks, threads, kernel}, kStepsOfMany), expected)
            << to_string(kernel) << ' ' << ranks << ' ' << threads;
    }
}

}  // namespace
}  // namespace tessera::test
