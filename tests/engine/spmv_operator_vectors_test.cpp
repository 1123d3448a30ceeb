// Vectors in local order, and the same numbers by vertex.
#include <gtest/gtest.h>

#include <random>

#include "engine/spmv_operator.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

std::vector<double> random_vector(std::size_t size) {
  std::mt19937_64 random(size);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(size);
  for (double& value : values) value = uniform(random);
  return values;
}

Graph graph_of_97() {
  std::mt19937_64 random(10);
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (int e = 0; e < 400; ++e)  // most of them to few vertices
    edges.emplace_back(random() % 97, std::min(random() % 97, random() % 97));
  return sample_graph(edges, range_labels(97, 0), false);
}

TEST(SpmvOperatorVectors, ComeBackInTheirOrder) {
  const Graph whole = graph_of_97();
  for (const int ranks : {1, 2, 5})
    run_ranks(ranks, [&](Communicator& comm) {
      const auto backend = make_backend<double>("cpu");
      const auto op = SpmvOperator<double>::in_edges(block_of(whole, comm), {}, *backend, comm);
      const std::vector<double> values = random_vector(97);
      EXPECT_EQ(op.to_original(op.to_local(values)), values);
      std::uint64_t mine = 0;
      for (VertexId v = 0; v < 97; ++v) {
        const VertexId at = op.local_index(v);
        if (at == kNoVertex) continue;
        ASSERT_LT(at, op.num_local_rows());
        ++mine;
        EXPECT_EQ(op.local_rows()[at], v);
      }
      EXPECT_EQ(mine, op.num_local_rows());
      EXPECT_EQ(op.local_index(97), kNoVertex);
      EXPECT_EQ(op.local_index(kNoVertex), kNoVertex);
      EXPECT_THROW(op.to_local(random_vector(96)), InternalError);
      EXPECT_EQ(all_sum(comm, mine), 97u);
    });
}

TEST(SpmvOperatorVectors, ValuesOfSomeRowsAreThoseOfAll) {
  const Graph whole = graph_of_97();
  for (const int ranks : {1, 2, 5})
    run_ranks(ranks, [&](Communicator& comm) {
      const auto backend = make_backend<float>("cpu");
      const auto op = SpmvOperator<float>::in_edges(block_of(whole, comm), {}, *backend, comm);
      const std::vector<double> values = random_vector(97);  // some below 0
      Buffer<float> local = op.to_local(values);
      const std::vector<VertexId> rows{96, 3, 64, 0, 63, 40};
      const auto expect_rows = [&] {
        const std::vector<double> all = op.to_original(local);
        const std::vector<double> found = op.values_of(local, rows);
        ASSERT_EQ(found.size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(found[i], all[rows[i]]) << rows[i];
      };
      expect_rows();
      local.truncate(local.size() / 2);  // the last rows are 0
      expect_rows();
      EXPECT_TRUE(op.values_of(local, {}).empty());
      EXPECT_THROW(op.values_of(local, std::vector<VertexId>{3, 97}), InternalError);
      EXPECT_THROW(op.values_of(local, std::vector<VertexId>{3, 5, 3}), InternalError);
    });
}

}  // namespace
}  // namespace tessera::test
