// Synthetic graphs: the same for any ranks and threads, in range, and as skewed as they should be.
#include "engine/graph_generator.hpp"

#include <gtest/gtest.h>

#include <set>

#include "engine/graph_builder.hpp"
#include "engine/graph_stats.hpp"
#include "kernels/base/error.hpp"
#include "tests/engine/graph_cases.hpp"

namespace tessera {
namespace {

/// All edges of all ranks, in order.
std::vector<std::uint32_t> edges_of(const GeneratorOptions& options, int ranks, int threads = 1) {
  std::vector<std::vector<std::uint32_t>> of_rank(ranks);
  test::run_ranks(ranks, [&](Communicator& comm) {
    omp_set_num_threads(threads);
    for (const EdgeChunk& chunk : generate_edges(options, comm).chunks)
      of_rank[comm.rank()].insert(of_rank[comm.rank()].end(), chunk.pairs.begin(), chunk.pairs.end());
  });
  std::vector<std::uint32_t> all;
  for (const auto& edges : of_rank) all.insert(all.end(), edges.begin(), edges.end());
  return all;
}

TEST(GraphGenerator, GivesTheSameEdgesForAnyRanksAndThreads) {
  for (GeneratorKind kind : {GeneratorKind::rmat, GeneratorKind::uniform}) {
    const GeneratorOptions options{.kind = kind, .scale = 9, .edge_factor = 3.5, .seed = 42};
    const auto one = edges_of(options, 1);
    EXPECT_EQ(one.size(), 2 * 1792u);
    EXPECT_EQ(edges_of(options, 3), one);
    EXPECT_EQ(edges_of(options, 7, 2), one);
  }
}

TEST(GraphGenerator, SeedsGiveDifferentGraphs) {
  EXPECT_NE(edges_of({.scale = 6, .seed = 1}, 1), edges_of({.scale = 6, .seed = 2}, 1));
}

TEST(GraphGenerator, LabelsStayBelowTwoToTheScale) {
  for (GeneratorKind kind : {GeneratorKind::rmat, GeneratorKind::uniform})
    for (int scale : {1, 2, 5, 31}) {
      const double factor = scale == 31 ? 1e-7 : 40;
      for (std::uint32_t label : edges_of({.kind = kind, .scale = scale, .edge_factor = factor}, 1))
        ASSERT_LT(label, std::uint64_t{1} << scale);
    }
}

TEST(GraphGenerator, ScramblingIsAPermutation) {
  // Without skew every label of 0..63 turns up among many edges, scrambled or not.
  for (bool scramble : {true, false}) {
    const auto edges = edges_of(
        {.scale = 6, .edge_factor = 64, .a = 0.25, .b = 0.25, .c = 0.25, .scramble_ids = scramble}, 1);
    EXPECT_EQ(std::set<std::uint32_t>(edges.begin(), edges.end()).size(), 64u);
  }
}

TEST(GraphGenerator, RmatIsSkewedAndUniformIsNot) {
  test::run_ranks(1, [](Communicator& comm) {
    const Graph rmat = build_graph(generate_edges({.scale = 12}, comm), {}, comm);
    const Graph uniform =
        build_graph(generate_edges({.kind = GeneratorKind::uniform, .scale = 12}, comm), {}, comm);
    EXPECT_EQ(rmat.num_vertices, 4096u);
    EXPECT_GT(graph_stats(rmat, comm).gini_in, 0.5);
    EXPECT_LT(graph_stats(uniform, comm).gini_in, 0.2);
  });
}

TEST(GraphGenerator, UnscrambledRmatHasItsHubAtZero) {
  const auto comm = make_single_rank();
  const Graph graph = build_graph(generate_edges({.scale = 10, .scramble_ids = false}, *comm), {}, *comm);
  const auto degrees = in_degrees(graph, *comm);
  EXPECT_EQ(std::max_element(degrees.begin(), degrees.end()) - degrees.begin(), 0);
}

TEST(GraphGenerator, RefusesParametersOutOfRange) {
  const auto comm = make_single_rank();
  EXPECT_THROW(generate_edges({.scale = 0}, *comm), OptionError);
  EXPECT_THROW(generate_edges({.scale = 32}, *comm), OptionError);
  EXPECT_THROW(generate_edges({.edge_factor = 0}, *comm), OptionError);
  EXPECT_THROW(generate_edges({.edge_factor = std::numeric_limits<double>::quiet_NaN()}, *comm), OptionError);
  EXPECT_THROW(generate_edges({.a = 0.9, .b = 0.2}, *comm), OptionError);
  EXPECT_THROW(generate_edges({.a = -0.1}, *comm), OptionError);
}

}  // namespace
}  // namespace tessera
