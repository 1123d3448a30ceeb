// Rows of undirected graphs beside the naive builder, which is given the directed graph's edges in the order
// of its rows.
#include "engine/merged_rows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "kernels/base/error.hpp"
#include "tests/engine/graph_cases.hpp"

namespace tessera {
namespace {

using test::Case;

constexpr std::uint64_t kVertices = 12;  // so few that edges meet their reverse, and each other

Case directed_case(bool weighted) {
  Case c{.kind = LabelKind::range, .weighted = weighted, .declared_vertices = kVertices, .edges = {}};
  c.duplicates = Duplicates::keep;
  const auto vertex = rc::gen::inRange<std::uint64_t>(1, kVertices + 1);
  double weight = 0.1;
  for (const auto& [u, v] : *rc::gen::container<std::vector<std::pair<std::uint64_t, std::uint64_t>>>(
           rc::gen::pair(vertex, vertex))) {
    c.edges.push_back({std::to_string(u), std::to_string(v), weight});
    weight = weight * 1.7 + 0.01 * static_cast<double>(v);  // sums depend on their order
  }
  return c;
}

/// The edges of a graph, row by row, to be read as undirected.
Case undirected_case(const test::PlainGraph& graph, bool weighted, Duplicates duplicates) {
  Case c{.kind = LabelKind::range,
         .weighted = weighted,
         .undirected = true,
         .declared_vertices = kVertices,
         .edges = {}};
  c.duplicates = duplicates;
  for (std::uint64_t row = 0; row < kVertices; ++row)
    for (std::uint64_t e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e)
      c.edges.push_back({std::to_string(graph.col_indices[e] + 1), std::to_string(row + 1),
                         weighted ? graph.weights[e] : 1.0});
  return c;
}

RC_GTEST_PROP(MergedRowsProperty, AreThoseOfTheGraphReadAsUndirected, ()) {
  const bool weighted = *rc::gen::arbitrary<bool>();
  const Case c = directed_case(weighted);
  const int ranks = *rc::gen::inRange(1, 5);
  const test::PlainGraph directed = naive_graph(c);
  for (const Duplicates duplicates : {Duplicates::merge, Duplicates::keep, Duplicates::drop}) {
    test::GraphCollector collector;
    test::run_ranks(ranks, [&](Communicator& comm) {
      const Graph graph = build_graph(test::parsed_share(c, comm), test::options_of(c), comm);
      collector.add(symmetrised(graph, duplicates, comm), comm);
    });
    const test::PlainGraph expected = naive_graph(undirected_case(directed, weighted, duplicates));
    RC_ASSERT(collector.whole().row_offsets == expected.row_offsets);
    RC_ASSERT(collector.whole().col_indices == expected.col_indices);
    RC_ASSERT(collector.whole().weights == expected.weights);
    RC_ASSERT(collector.whole().num_edges == expected.num_edges);
  }
}

TEST(MergedRows, RefuseWeightsThatOverflowTogether) {
  const double most = std::numeric_limits<double>::max();
  const Case c{.weighted = true, .edges = {{"1", "2", most}, {"2", "1", most}}};
  test::run_ranks(2, [&](Communicator& comm) {
    const Graph graph = build_graph(test::parsed_share(c, comm), test::options_of(c), comm);
    EXPECT_THROW(symmetrised(graph, Duplicates::merge, comm), Error);
    EXPECT_EQ(symmetrised(graph, Duplicates::keep, comm).num_edges, 4u);
  });
}

}  // namespace
}  // namespace tessera
