// Random walks with restart on a device, one by one and in blocks from which finished walks go: the bits of
// the CPU, but where rows are added up in fours. Skips, visibly, where no device answers.
#include "algorithms/random_walk_restart.hpp"

#include <cmath>
#include <numeric>

#include "kernels/rows_in_fours.hpp"
#include "tests/algorithms/ranking_cases.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/linked_gpus.hpp"
#include "tests/support/ring_graph.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

using Walked = std::vector<std::tuple<std::vector<double>, std::vector<double>, int>>;

/// Row by row in CSR, whose bits are the same everywhere, but for more than 16 walks in f32. graph: a rank's
/// part.
template <class S>
Walked walked(Backend<S>& backend, Communicator& comm, const Graph& graph, const RwrOptions& options) {
  auto op = SpmvOperator<S>::in_edges(graph, {.kernel = KernelKind::csr, .num_vectors = options.batch_size},
                                      backend, comm);
  std::vector<VertexId> queries;
  for (VertexId q = 0; q < 60; ++q) queries.push_back(q * q % 3000);
  Walked all;
  for (const RwrResult& walk : random_walk_restart<S>(op, out_weights(graph, comm), queries, options))
    all.emplace_back(walk.scores, walk.report.residual_history, walk.report.iterations);
  return all;
}

template <class S>
Walked walked(const std::string& backend_name, const Graph& graph, const RwrOptions& options) {
  const auto comm = make_single_rank();
  return walked<S>(*make_backend<S>(backend_name), *comm, graph, options);
}

/// More than 16 in f32 are added up in another order than on the CPU (kernels/rows_in_fours.hpp), so that
/// scores differ in their last digits.
void expect_nearly(const Walked& found, const Walked& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t q = 0; q < found.size(); ++q) {
    const auto& [scores, history, steps] = found[q];
    const auto& [expected_scores, expected_history, expected_steps] = expected[q];
    EXPECT_EQ(steps, expected_steps);
    ASSERT_EQ(scores.size(), expected_scores.size());
    for (std::size_t v = 0; v < scores.size(); ++v)
      ASSERT_NEAR(scores[v], expected_scores[v], 1e-6 * expected_scores[v] + 1e-9) << q << ' ' << v;
  }
}

TEST(DeviceWalks, HaveTheBitsOfTheCpu) {
  if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  const std::string device = usable_backends().back();
  const Graph graph = graph_of(random_oracle_graph(5, 3000, 9000, true), true);
  for (const unsigned batch_size : {1u, 7u, 25u, 60u})
    for (const Norm norm : {Norm::l1, Norm::l2}) {
      RwrOptions options;
      options.batch_size = batch_size;
      options.stop.norm = norm;
      options.stop.tolerance = 1e-5;
      if (batch_size <= 16)
        EXPECT_EQ(walked<float>("cpu", graph, options), walked<float>(device, graph, options)) << batch_size;
      else
        expect_nearly(walked<float>(device, graph, options), walked<float>("cpu", graph, options));
      EXPECT_EQ(walked<double>("cpu", graph, options), walked<double>(device, graph, options)) << batch_size;
    }
}

/// Large enough that a step is one kernel; walks leave the block at different times.
TEST(DeviceWalks, OfALargerGraphAreThoseOfTheCpu) {
  if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  const Graph graph = graph_of(random_oracle_graph(6, 60000, 4000000, true), true);
  RwrOptions options;
  options.batch_size = 25;
  options.stop.tolerance = 1e-4;
  const auto comm = make_single_rank();
  const auto backend = make_backend<float>(usable_backends().back());
  EXPECT_TRUE(
      SpmvOperator<float>::in_edges(graph, {.kernel = KernelKind::csr, .num_vectors = 25}, *backend, *comm)
          .steps_walks(25));
  const Walked found = walked<float>(usable_backends().back(), graph, options);
  expect_nearly(found, walked<float>("cpu", graph, options));
  EXPECT_EQ(walked<float>(usable_backends().back(), graph, options), found);
  options.batch_size = 16;
  EXPECT_EQ(walked<float>("cpu", graph, options), walked<float>(usable_backends().back(), graph, options));
}

/// One by one, where a step is two kernels, and where it is one.
TEST(DeviceWalks, AcceleratedOnesHaveTheBitsOfTheCpu) {
  if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  const std::string device = usable_backends().back();
  for (const auto& [n, reach] : {std::pair(4000, 2), std::pair(60000, 40)}) {
    const Graph graph = ring_graph(n, n - 500, reach);
    for (const unsigned batch_size : {1u, 7u, 16u, 25u, 60u}) {
      RwrOptions options;
      options.batch_size = batch_size;
      options.stop.tolerance = 1e-5;
      if (batch_size == 7) options.stop.norm = Norm::l2;
      const Walked found = walked<float>(device, graph, options),
                   expected = walked<float>("cpu", graph, options);
      if (batch_size <= 16)
        EXPECT_EQ(found, expected) << n << ' ' << batch_size;
      else
        expect_nearly(found, expected);
      EXPECT_LT(std::get<2>(found.front()), 60);  // plain steps are 110
      if (n > 10000 && batch_size != 25) continue;
      EXPECT_EQ(walked<double>("cpu", graph, options), walked<double>(device, graph, options)) << batch_size;
    }
  }
}

/// However many go together, if they are more than 16, and whoever ends before.
TEST(DeviceWalks, InFoursDoNotDependOnTheBatch) {
  if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  const Graph graph = graph_of(random_oracle_graph(5, 3000, 9000, true), true);
  RwrOptions options;
  options.stop.tolerance = 1e-5;
  options.batch_size = 20;
  const Walked found = walked<float>(usable_backends().back(), graph, options);
  options.batch_size = 30;
  EXPECT_EQ(walked<float>(usable_backends().back(), graph, options), found);
  options.batch_size = 60;
  EXPECT_EQ(walked<float>(usable_backends().back(), graph, options), found);
}

/// Against scores in f64 whose own error is far smaller.
TEST(DeviceWalks, InFoursAreWithinTheirErrorBound) {
  if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  const auto comm = make_single_rank();
  const auto device = make_backend<float>(usable_backends().back());
  const auto cpu = make_backend<double>("cpu");
  std::vector<VertexId> queries(25);
  std::iota(queries.begin(), queries.end(), VertexId{0});
  for (const bool weighted : {false, true}) {
    const Graph graph = graph_of(random_oracle_graph(7, 5000, 60000, weighted), weighted);
    const auto weights = out_weights(graph, *comm);
    const auto walks = [&]<class S>(Backend<S>& backend, double tolerance) {
      auto op =
          SpmvOperator<S>::in_edges(graph, {.kernel = KernelKind::csr, .num_vectors = 25}, backend, *comm);
      RwrOptions options;
      options.batch_size = 25;
      options.stop.tolerance = tolerance;
      return random_walk_restart<S>(op, weights, queries, options);
    };
    const auto found = walks(*device, 1e-6), exact = walks(*cpu, 1e-13);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      double distance = 0;
      for (std::size_t v = 0; v < found[q].scores.size(); ++v)
        distance += std::abs(found[q].scores[v] - exact[q].scores[v]);
      EXPECT_LE(distance, found[q].error_bound) << q << (weighted ? ", weighted" : "");
      EXPECT_LE(found[q].error_bound, 1e-4);
    }
  }
}

void expect_several_gpus_have_the_bits_of_one(const Graph& graph) {
  for (const unsigned batch_size : {1u, 16u, 25u, 60u}) {
    RwrOptions options;
    options.batch_size = batch_size;
    options.stop.tolerance = 1e-5;
    Walked on_one;
    for (int ranks = 1; ranks <= num_devices(); ranks *= 2) {
      Walked found;
      run_ranks(ranks, [&](Communicator& comm) {
        const Walked mine = walked<float>(LinkedGpus<float>::of(comm), comm, block_of(graph, comm), options);
        if (comm.is_root()) found = mine;
      });
      if (ranks == 1) on_one = found;
      EXPECT_EQ(found, on_one) << batch_size << " walks, " << ranks << " GPUs";
    }
  }
  LinkedGpus<float>::clear();
}

/// Rows that are cut and rows that are not, a GPU a rank; who is done leaves the block on all ranks.
TEST(DeviceWalks, OnSeveralGpusHaveTheBitsOfOne) {
  if (num_devices() < 2) GTEST_SKIP() << num_devices() << " GPUs here, fewer than 2";
  const Graph graph = skewed_graph(4000, 400000);
  EdgeOffset longest = 0;
  for (std::size_t row = 0; row < graph.num_vertices; ++row)
    longest = std::max(longest, graph.row_offsets[row + 1] - graph.row_offsets[row]);
  ASSERT_GT(longest, kFour * kMostOfFewColumns);  // else no row is of several runs
  expect_several_gpus_have_the_bits_of_one(graph);
}

TEST(DeviceWalks, AcceleratedOnSeveralGpusHaveTheBitsOfOne) {
  if (num_devices() < 2) GTEST_SKIP() << num_devices() << " GPUs here, fewer than 2";
  expect_several_gpus_have_the_bits_of_one(ring_graph(4000, 3500, 3));
}

TEST(DeviceWalks, OfAGraphWithoutEdgesStayWhereTheyAre) {
  if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  const Graph graph = graph_of(random_oracle_graph(1, 3000, 0, false), false);
  RwrOptions options;
  options.batch_size = 25;
  EXPECT_EQ(walked<float>("cpu", graph, options), walked<float>(usable_backends().back(), graph, options));
}

}  // namespace
}  // namespace tessera::test
