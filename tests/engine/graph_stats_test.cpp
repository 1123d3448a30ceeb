// Degrees and shape: hand-made graphs, and the same answer on any number of ranks and threads.
#include "engine/graph_stats.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "tests/engine/graph_cases.hpp"
#include "tests/support/sample_graph.hpp"

namespace tessera {
namespace {

using test::Case;

Graph build(const Case& c, Communicator& comm) {
  return build_graph(test::parsed_share(c, comm), test::options_of(c), comm);
}

template <class T>
std::vector<T> listed(const Buffer<T>& buffer) {
  return {buffer.begin(), buffer.end()};
}

/// 1 -> 2, 1 -> 3, 2 -> 3, 4 isolated.
Case small() {
  return {.kind = LabelKind::range, .declared_vertices = 4, .edges = {{"1", "2"}, {"1", "3"}, {"2", "3"}}};
}

TEST(GraphStats, CountsASmallGraphOnAnyRanks) {
  for (int ranks : {1, 2, 7})
    test::run_ranks(ranks, [](Communicator& comm) {
      const GraphStats stats = graph_stats(build(small(), comm), comm);
      EXPECT_EQ(stats.num_vertices, 4u);
      EXPECT_EQ(stats.num_edges, 3u);
      EXPECT_EQ(stats.max_in_degree, 2u);
      EXPECT_EQ(stats.max_out_degree, 2u);
      EXPECT_DOUBLE_EQ(stats.mean_degree, 0.75);
      EXPECT_EQ(stats.dangling, 2u);
      EXPECT_EQ(stats.sources_only, 2u);
      EXPECT_EQ(stats.isolated, 1u);
      EXPECT_FALSE(stats.symmetric);
      EXPECT_DOUBLE_EQ(stats.top_1_percent_in, 2 / 3.0);
      // Degrees 0 0 1 2: Gini = (2 * (3 * 1 + 4 * 2)) / (4 * 3) - 5 / 4.
      EXPECT_DOUBLE_EQ(stats.gini_in, 22 / 12.0 - 1.25);
      EXPECT_EQ(stats.in_degree_histogram, (std::vector<std::uint64_t>{2, 1, 1}));
      EXPECT_EQ(stats.out_degree_histogram, (std::vector<std::uint64_t>{2, 1, 1}));
    });
}

TEST(GraphStats, DegreesAreInOriginalOrder) {
  test::run_ranks(3, [](Communicator& comm) {
    const Graph graph = build(small(), comm);
    EXPECT_EQ(listed(in_degrees(graph, comm)), (std::vector<std::uint64_t>{0, 1, 2, 0}));
    EXPECT_EQ(listed(out_degrees(graph, comm)), (std::vector<std::uint64_t>{2, 1, 0, 0}));
    EXPECT_EQ(listed(out_weights(graph, comm)), (std::vector<double>{2, 1, 0, 0}));
    const GraphDegrees degrees = graph_degrees(graph, comm);
    EXPECT_EQ(listed(degrees.in), listed(in_degrees(graph, comm)));
    EXPECT_EQ(listed(degrees.out), listed(out_degrees(graph, comm)));
  });
}

TEST(GraphStats, OutWeightsAreTheDegreesThatAreGivenUnlessEdgesHaveWeights) {
  GraphDegrees given{.in = {}, .out = Buffer<std::uint64_t>(4)};
  std::iota(given.out.begin(), given.out.end(), 5);
  Case weighted = small();
  weighted.weighted = true;
  weighted.edges = {{"1", "2", 0.5}, {"1", "3", 0.25}, {"2", "3", 3}};
  test::run_ranks(2, [&](Communicator& comm) {
    EXPECT_EQ(listed(out_weights(build(small(), comm), comm, &given)), (std::vector<double>{5, 6, 7, 8}));
    EXPECT_EQ(listed(out_weights(build(weighted, comm), comm, &given)), (std::vector<double>{0.75, 3, 0, 0}));
  });
}

/// Counts of ranks are added two at a time, unless they may have more than 32 bits.
TEST(GraphStats, DegreesOfRanksAreThoseOfOne) {
  for (const std::uint64_t n : {1, 2, 7, 8}) {
    const Graph whole = test::random_graph(test::range_labels(n, 0), 3 * n, false, 2);
    const GraphDegrees one = graph_degrees(whole, *make_single_rank());
    for (const bool many : {false, true})
      test::run_ranks(3, [&](Communicator& comm) {
        const auto expect_degrees = [&](Graph block) {
          if (many) block.num_edges = std::uint64_t{1} << 32;
          const GraphDegrees found = graph_degrees(block, comm);
          EXPECT_EQ(listed(found.in), listed(one.in));
          EXPECT_EQ(listed(found.out), listed(one.out));
        };
        expect_degrees(test::block_of(whole, comm));
        expect_degrees(test::mapped_block_of(whole, comm));
      });
  }
}

TEST(GraphStats, GraphWithoutVerticesHasNoDegrees) {
  for (int ranks : {1, 3})
    test::run_ranks(ranks, [](Communicator& comm) {
      const GraphStats stats = graph_stats(build(Case{.weighted = true, .edges = {}}, comm), comm);
      EXPECT_EQ(stats.num_edges, 0u);
      EXPECT_EQ(stats.gini_in, 0);
      EXPECT_TRUE(stats.symmetric);
      EXPECT_TRUE(stats.in_degree_histogram.empty());
    });
}

TEST(GraphStats, SymmetryLooksAtThePatternOnly) {
  Case c{.weighted = true, .edges = {{"1", "2", 5}, {"2", "1", 1}, {"2", "1", 1}, {"3", "3", 1}}};
  c.duplicates = Duplicates::keep;
  test::run_ranks(2, [&](Communicator& comm) { EXPECT_TRUE(graph_stats(build(c, comm), comm).symmetric); });
}

TEST(GraphStats, OutWeightsOfExactlyRepresentableSumsAreExact) {
  // 2^60 absorbs a 1 in any order of doubles; the exact sum keeps both.
  Case c{.weighted = true, .edges = {{"1", "2", 1}, {"1", "3", 0x1p60}, {"1", "4", 127}, {"2", "1", 0.5}}};
  test::run_ranks(3, [&](Communicator& comm) {
    EXPECT_EQ(listed(out_weights(build(c, comm), comm)), (std::vector<double>{0x1p60 + 128, 0.5, 0, 0}));
  });
}

/// However weights of other vertices differ, and as large and as small as doubles are.
TEST(GraphStats, OutWeightsAreExactBesideTheLargestOfTheirVertex) {
  const Case c{.weighted = true,
               .edges = {{"1", "2", 0x1p-900},
                         {"1", "3", 0x1p-901},
                         {"2", "1", 0x1p1022},
                         {"2", "3", 0x1p1022},
                         {"3", "1", 0x1p-1074},
                         {"3", "2", 0x1p-1074},
                         {"4", "1", 0x1p500},
                         {"4", "2", 0x1p450}}};
  test::run_ranks(3, [&](Communicator& comm) {
    EXPECT_EQ(listed(out_weights(build(c, comm), comm)),
              (std::vector<double>{0x1.8p-900, 0x1p1023, 0x1p-1073, 0x1p500 + 0x1p450}));
  });
}

RC_GTEST_PROP(GraphStatsProperty, OutWeightsHaveTheSameBitsForAnyRanksAndThreads, ()) {
  Case c{.weighted = true, .edges = {}};
  const auto raw = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 12), rc::gen::inRange(0, 300), rc::gen::inRange(1, 1 << 20)));
  for (const auto& [u, v, w] : raw)
    c.edges.push_back({std::to_string(u), std::to_string(v), std::exp(w * 1e-5) / 3});
  const int ranks = *rc::gen::inRange(2, 8), threads = *rc::gen::inRange(1, 5);
  std::vector<double> one, several;
  test::run_ranks(1, [&](Communicator& comm) { one = listed(out_weights(build(c, comm), comm)); });
  test::run_ranks(ranks, [&](Communicator& comm) {
    omp_set_num_threads(threads);
    const std::vector<double> weights = listed(out_weights(build(c, comm), comm));
    if (comm.is_root()) several = weights;
  });
  RC_ASSERT(one == several);
}

}  // namespace
}  // namespace tessera
