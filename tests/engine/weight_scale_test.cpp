// Weights near 1, by powers of two.
#include "engine/weight_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/sample_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

Graph weighted_path(std::initializer_list<double> weights) {
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (VertexId v = 0; v < weights.size(); ++v) edges.emplace_back(v, v + 1);
  Graph graph = sample_graph(edges, range_labels(weights.size() + 1, 0), true);
  std::copy(weights.begin(), weights.end(), graph.weights.begin());
  return graph;
}

TEST(WeightScale, LeavesWhatIsNearOne) {
  const auto comm = make_single_rank();
  for (const double largest : {1.0, 0x1p60, 0x1p-60})
    EXPECT_FALSE(with_weights_near_one(weighted_path({largest, 0, largest / 4}), *comm).has_value());
  EXPECT_FALSE(with_weights_near_one(weighted_path({0, 0}), *comm).has_value());
  EXPECT_FALSE(with_weights_near_one(sample_graph({{0, 1}}, range_labels(2, 0), false), *comm).has_value());
}

TEST(WeightScale, BringsTheLargestOfAllRanksBetweenOneAndTwo) {
  for (const int exponent : {100, -100, 1000, -1000}) {
    const double unit = std::ldexp(1.0, exponent);
    const Graph whole = weighted_path({0.75 * unit, 0, 1.5 * unit, unit * 0x1p-40, 1.25 * unit});
    run_ranks(2, [&](Communicator& comm) {
      const Graph graph = block_of(whole, comm);
      const auto scaled = with_weights_near_one(graph, comm);
      ASSERT_TRUE(scaled.has_value());
      ASSERT_EQ(scaled->weights.size(), graph.weights.size());
      for (std::size_t i = 0; i < graph.weights.size(); ++i)
        EXPECT_EQ(scaled->weights[i], std::ldexp(graph.weights[i], -exponent));
      EXPECT_EQ(scaled->in_edges().col_indices, graph.in_edges().col_indices);
      EXPECT_EQ(scaled->num_edges, graph.num_edges);
      EXPECT_EQ(scaled->first_row, graph.first_row);
    });
  }
}

}  // namespace
}  // namespace tessera::test
