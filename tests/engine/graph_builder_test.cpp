// Building against a naive builder: every kind of label, every rule, any number of ranks and threads.
#include "engine/graph_builder.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "engine/graph_generator.hpp"
#include "engine/graph_stats.hpp"
#include "kernels/base/error.hpp"
#include "tests/engine/graph_cases.hpp"

namespace tessera {
namespace {

using test::built_graph;
using test::Case;
using test::naive_graph;

void expect_same_everywhere(const Case& c) {
  const test::PlainGraph expected = naive_graph(c);
  for (int ranks = 1; ranks <= 7; ++ranks) EXPECT_EQ(built_graph(c, ranks), expected) << ranks << " ranks";
  for (int threads = 2; threads <= 4; ++threads)
    EXPECT_EQ(built_graph(c, 1, threads), expected) << threads << " threads";
}

TEST(GraphBuilder, RowsListSourcesAscending) {
  const Case c{.edges = {{"9", "4"}, {"7", "4"}, {"4", "7"}, {"7", "9"}}};
  const test::PlainGraph g = built_graph(c, 1);
  EXPECT_EQ(g.labels, (std::vector<std::string>{"4", "7", "9"}));
  EXPECT_EQ(g.row_offsets, (std::vector<std::uint64_t>{0, 2, 3, 4}));
  EXPECT_EQ(g.col_indices, (std::vector<VertexId>{1, 2, 0, 1}));
  expect_same_everywhere(c);
}

TEST(GraphBuilder, CopiesLieSideBySide) {
  const auto comm = make_single_rank();
  const Graph one = build_graph(generate_edges({.scale = 5, .edge_factor = 3}, *comm), {}, *comm);
  const Graph all = side_by_side(one, 3);
  ASSERT_EQ(all.num_vertices, 3 * one.num_vertices);
  ASSERT_EQ(all.num_edges, 3 * one.num_edges);
  EXPECT_EQ(all.row_offsets[all.num_vertices], all.num_edges);
  for (std::uint64_t v = 0; v < all.num_vertices; ++v) {
    const std::uint64_t copy = v / one.num_vertices, original = v % one.num_vertices;
    const EdgeOffset begin = one.row_offsets[original];
    ASSERT_EQ(all.row_offsets[v + 1] - all.row_offsets[v], one.row_offsets[original + 1] - begin);
    for (EdgeOffset e = all.row_offsets[v], k = begin; e < all.row_offsets[v + 1]; ++e, ++k)
      ASSERT_EQ(all.col_indices[e], one.col_indices[k] + copy * one.num_vertices);
  }
  EXPECT_THROW(side_by_side(one, std::uint64_t{1} << 40), ResourceError);
  Graph weighted = side_by_side(one, 1);
  weighted.weighted = true;
  weighted.weights = Buffer<double>(one.num_edges);
  for (std::uint64_t e = 0; e < one.num_edges; ++e) weighted.weights[e] = 0.5 + static_cast<double>(e);
  const Graph twice = side_by_side(weighted, 2);
  ASSERT_TRUE(twice.weighted);
  for (std::uint64_t e = 0; e < twice.num_edges; ++e)
    ASSERT_EQ(twice.weights[e], weighted.weights[e % one.num_edges]);
}

TEST(GraphBuilder, NoEdgesGiveNoVertices) {
  for (LabelKind kind : {LabelKind::integer, LabelKind::string, LabelKind::range}) {
    const Case c{.kind = kind, .edges = {}};
    EXPECT_EQ(built_graph(c, 1).row_offsets, std::vector<std::uint64_t>{0});
    expect_same_everywhere(c);
  }
}

TEST(GraphBuilder, DeclaredSizeKeepsIsolatedVertices) {
  const Case c{.kind = LabelKind::range, .declared_vertices = 5, .edges = {{"2", "4"}}};
  EXPECT_EQ(built_graph(c, 1).labels.size(), 5u);
  expect_same_everywhere(c);
}

TEST(GraphBuilder, VertexWithNothingButADroppedLoopStays) {
  Case c{.edges = {{"3", "3"}, {"5", "5"}, {"5", "5"}}};
  c.self_loops = SelfLoops::drop;
  const test::PlainGraph g = built_graph(c, 1);
  EXPECT_EQ(g.labels.size(), 2u);
  EXPECT_EQ(g.num_edges, 0u);
  EXPECT_EQ(g.self_loops, 3u);
  EXPECT_EQ(g.self_loops_dropped, 3u);
  expect_same_everywhere(c);
}

TEST(GraphBuilder, UndirectedSelfLoopIsOneEdge) {
  const Case c{.undirected = true, .edges = {{"1", "1"}, {"1", "2"}}};
  EXPECT_EQ(built_graph(c, 1).num_edges, 3u);
  expect_same_everywhere(c);
}

TEST(GraphBuilder, MergedWeightsAreAddedInFileOrder) {
  // 1e16 + 1 + 1 rounds to 1e16 from the left, and 1 + 1 + 1e16 does not.
  for (bool large_first : {true, false}) {
    Case c{.weighted = true, .edges = {{"1", "2", 1}, {"1", "2", 1}}};
    c.edges.insert(large_first ? c.edges.begin() : c.edges.end(), {"1", "2", 1e16});
    EXPECT_EQ(built_graph(c, 1).weights, std::vector<double>{large_first ? 1e16 : 1e16 + 2});
    expect_same_everywhere(c);
  }
}

TEST(GraphBuilder, DropKeepsTheFirstWeightAndKeepKeepsFileOrder) {
  Case c{.weighted = true, .edges = {{"1", "2", 5}, {"3", "2", 1}, {"1", "2", 4}, {"1", "2", 6}}};
  c.duplicates = Duplicates::drop;
  EXPECT_EQ(built_graph(c, 3).weights, (std::vector<double>{5, 1}));
  c.duplicates = Duplicates::keep;
  EXPECT_EQ(built_graph(c, 3).weights, (std::vector<double>{5, 4, 6, 1}));
  EXPECT_EQ(built_graph(c, 3).duplicate_edges, 2u);
}

TEST(GraphBuilder, LabelsOfUpTo64BitsAreOrderedByValue) {
  Case c{.wide = true, .edges = {{"18446744073709551615", "9"}, {"10", "9223372036854775808"}, {"9", "10"}}};
  EXPECT_EQ(built_graph(c, 2).labels,
            (std::vector<std::string>{"9", "10", "9223372036854775808", "18446744073709551615"}));
  expect_same_everywhere(c);
}

TEST(GraphBuilder, ScatteredLabelsOf32BitsWork) {
  expect_same_everywhere(Case{.edges = {{"4000000000", "17"}, {"17", "4294967295"}, {"0", "4000000000"}}});
}

TEST(GraphBuilder, StringsAreOrderedByTheirBytes) {
  const Case c{
      .kind = LabelKind::string,
      .edges = {
          {"\xff", "b"}, {"\xc3\xa9", "a"}, {"", "aaaaaaaaa"}, {"aaaaaaaab", "aaaaaaaa"}, {"a", "\xff"}}};
  EXPECT_EQ(built_graph(c, 1).labels, (std::vector<std::string>{"", "a", "aaaaaaaa", "aaaaaaaaa", "aaaaaaaab",
                                                                "b", "\xc3\xa9", "\xff"}));
  expect_same_everywhere(c);
}

TEST(GraphBuilder, StringsThatDifferOnlyInZeroBytesAreDifferent) {
  const std::string zero(1, '\0');
  const Case c{.kind = LabelKind::string, .edges = {{"a", "a" + zero}, {"a" + zero + zero, "a"}}};
  EXPECT_EQ(built_graph(c, 1).labels.size(), 3u);
  expect_same_everywhere(c);
}

TEST(GraphBuilder, KeyBeyondTheDeclaredSizeIsRefused) {
  const Case c{.kind = LabelKind::range, .declared_vertices = 3, .edges = {{"2", "4"}}};
  EXPECT_THROW(built_graph(c, 1), InternalError);
  EXPECT_THROW(built_graph(c, 3), InternalError);
}

TEST(GraphBuilder, FactsAreSummedOverRanks) {
  const Case c{.undirected = true, .reverse = true, .edges = {{"1", "2"}, {"2", "3"}, {"3", "4"}}};
  test::run_ranks(3, [&](Communicator& comm) {
    const Graph graph = build_graph(test::parsed_share(c, comm), test::options_of(c), comm);
    EXPECT_EQ(graph.facts.edges_read, 3u);
    EXPECT_EQ(graph.num_edges, 6u);
    EXPECT_TRUE(graph.facts.undirected);
    EXPECT_TRUE(graph.facts.reversed);
  });
}

/// Any rules, labels from a small set so that duplicates and loops are common.
Case any_case() {
  Case c;
  c.kind = *rc::gen::element(LabelKind::range, LabelKind::integer, LabelKind::string);
  c.weighted = *rc::gen::arbitrary<bool>();
  c.undirected = *rc::gen::arbitrary<bool>();
  c.reverse = *rc::gen::arbitrary<bool>();
  c.duplicates = *rc::gen::element(Duplicates::merge, Duplicates::keep, Duplicates::drop);
  c.self_loops = *rc::gen::element(SelfLoops::keep, SelfLoops::drop);
  c.declared_vertices = 40;
  c.wide = *rc::gen::arbitrary<bool>();
  const std::uint64_t stride = c.kind == LabelKind::range ? 1 : *rc::gen::element<std::uint64_t>(1, 90000001);
  if (c.kind == LabelKind::string) c.wide = false;
  const auto raw = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 40), rc::gen::inRange(0, 40)));
  double weight = 0.1;
  for (const auto& [u, v] : raw) {
    c.edges.push_back({std::to_string(1 + u * stride), std::to_string(1 + v * stride), weight});
    weight = weight * 1.7 + 0.01 * v;
  }
  return c;
}

RC_GTEST_PROP(GraphBuilderProperty, AgreesWithTheNaiveBuilderForAnyRanksAndThreads, ()) {
  const Case c = any_case();
  const int ranks = *rc::gen::inRange(1, 8), threads = *rc::gen::inRange(1, 5);
  const auto edges_per_chunk = *rc::gen::inRange<std::size_t>(1, 20);
  RC_ASSERT(built_graph(c, ranks, threads, edges_per_chunk) == naive_graph(c));
}

RC_GTEST_PROP(GraphBuilderProperty, TransposedTwiceIsTheSameGraph, ()) {
  const Case c = any_case();
  test::GraphCollector collector;
  test::run_ranks(*rc::gen::inRange(1, 8), [&](Communicator& comm) {
    const Graph graph = build_graph(test::parsed_share(c, comm), test::options_of(c), comm);
    collector.add(transposed(transposed(graph, comm), comm), comm);
  });
  RC_ASSERT(collector.whole() == naive_graph(c));
}

RC_GTEST_PROP(GraphBuilderProperty, TransposedIsTheGraphReadInReverse, ()) {
  Case c = any_case();
  c.undirected = false;
  test::GraphCollector collector;
  test::run_ranks(*rc::gen::inRange(1, 8), [&](Communicator& comm) {
    collector.add(transposed(build_graph(test::parsed_share(c, comm), test::options_of(c), comm), comm),
                  comm);
  });
  c.reverse = !c.reverse;
  RC_ASSERT(collector.whole() == naive_graph(c));
}

RC_GTEST_PROP(GraphBuilderProperty, SymmetrisedIsTheGraphReadAsUndirected, ()) {
  Case c = any_case();
  c.undirected = c.weighted = false;
  if (c.duplicates == Duplicates::drop) c.duplicates = Duplicates::merge;
  test::GraphCollector collector;
  test::run_ranks(*rc::gen::inRange(1, 8), [&](Communicator& comm) {
    const Graph graph = build_graph(test::parsed_share(c, comm), test::options_of(c), comm);
    const Graph both = symmetrised(graph, c.duplicates, comm);
    EXPECT_TRUE(both.is_symmetric);  // which degrees rest on
    EXPECT_TRUE(std::ranges::equal(graph_degrees(both, comm).out, out_degrees(both, comm)));
    collector.add(both, comm);
  });
  c.undirected = true;
  const test::PlainGraph expected = naive_graph(c);
  RC_ASSERT(collector.whole().row_offsets == expected.row_offsets);
  RC_ASSERT(collector.whole().col_indices == expected.col_indices);
}

TEST(Symmetrised, AddsWeightsOfBothDirectionsAndKeepsLoopsOnce) {
  const Case c{.weighted = true, .edges = {{"1", "2", 2}, {"2", "1", 3}, {"2", "2", 7}, {"3", "1", 1}}};
  test::run_ranks(1, [&](Communicator& comm) {
    const Graph graph = build_graph(test::parsed_share(c, comm), test::options_of(c), comm);
    const Graph both = symmetrised(graph, Duplicates::merge, comm);
    EXPECT_EQ(std::vector<double>(both.weights.begin(), both.weights.end()),
              (std::vector<double>{5, 1, 5, 7, 1}));
    EXPECT_TRUE(both.facts.undirected);
  });
}

/// Enough edges for several pieces and buckets, with one giant row.
TEST(GraphBuilder, ManyBucketsAgreeForAnyThreadsAndRanks) {
  auto build = [](Communicator& comm) {
    constexpr std::uint64_t kEdges = 700000;
    ParsedEdges parsed;
    parsed.max_key = 99999;
    EdgeChunk chunk;
    const std::uint64_t first = kEdges * comm.rank() / comm.size(),
                        last = kEdges * (comm.rank() + 1) / comm.size();
    chunk.pairs = Buffer<std::uint32_t>(2 * (last - first));
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t hash = (i + 1) * 0x9E3779B97F4A7C15u;
      chunk.pairs[2 * (i - first)] = static_cast<std::uint32_t>((hash >> 40) % 100000);
      chunk.pairs[2 * (i - first) + 1] =
          i % 3 == 0 ? 4321 : static_cast<std::uint32_t>((hash >> 20) % 100000);
    }
    parsed.chunks.push_back(std::move(chunk));
    return build_graph(std::move(parsed), {}, comm);
  };
  auto collected = [&](int ranks, int threads) {
    test::GraphCollector collector;
    test::run_ranks(ranks, [&](Communicator& comm) {
      omp_set_num_threads(threads);
      collector.add(build(comm), comm);
    });
    return collector.whole();
  };
  const test::PlainGraph one = collected(1, 1);
  EXPECT_GT(one.num_edges, 500000u);
  EXPECT_EQ(one.num_edges + one.duplicate_edges, 700000u);
  for (std::size_t v = 0; v + 1 < one.row_offsets.size(); ++v)
    ASSERT_TRUE(std::is_sorted(one.col_indices.begin() + one.row_offsets[v],
                               one.col_indices.begin() + one.row_offsets[v + 1]));
  EXPECT_TRUE(one == collected(1, 3));
  EXPECT_TRUE(one == collected(3, 2));
}

}  // namespace
}  // namespace tessera
