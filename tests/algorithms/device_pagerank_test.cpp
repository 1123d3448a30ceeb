// PageRank of all kinds of options on a device, which goes ahead of the host by whole steps: the bits of the
// CPU, which does one thing after the other. Skips, visibly, where no device answers.
#include "kernels/base/error.hpp"
#include "tests/algorithms/ranking_cases.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/linked_gpus.hpp"
#include "tests/support/ring_graph.hpp"

namespace tessera::test {
namespace {

/// With row by row in CSR, whose bits are the same everywhere. runs: a device goes through steps by itself.
template <class S>
std::tuple<std::vector<double>, std::vector<double>, double, bool> ranked(const std::string& backend_name,
                                                                          const Graph& graph,
                                                                          const PageRankOptions& options,
                                                                          bool runs = true) {
  const auto comm = make_single_rank();
  const auto backend = make_backend<S>(backend_name);
  auto op = SpmvOperator<S>::in_edges(graph, {.kernel = KernelKind::csr}, *backend, *comm);
  EXPECT_EQ(op.prepare_to_run_steps(), runs && backend_name != "cpu");
  const PageRankResult result = pagerank(op, out_weights(graph, *comm), options);
  return {result.scores, result.report.residual_history, result.sum, result.report.interrupted};
}

void expect_the_bits_of_the_cpu(const Graph& graph, const PageRankOptions& options, bool runs = true) {
  const std::string device = usable_backends().back();
  EXPECT_EQ(ranked<float>("cpu", graph, options), ranked<float>(device, graph, options, runs));
  EXPECT_EQ(ranked<double>("cpu", graph, options), ranked<double>(device, graph, options, runs));
}

class DevicePageRank : public testing::Test {
 protected:
  void SetUp() override {
    if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  }
  /// Some vertices have no links, some no out-links.
  const Graph graph_ = graph_of(random_oracle_graph(5, 3000, 9000, true), true);
};

TEST_F(DevicePageRank, OfEachDanglingRuleAndJumpHasTheBitsOfTheCpu) {
  for (const Dangling dangling :
       {Dangling::uniform, Dangling::personalization, Dangling::drop, Dangling::rescale})
    for (const bool personal : {false, true})
      for (const bool from_elsewhere : {false, true}) {
        PageRankOptions options;
        options.dangling = dangling;
        options.stop.norm = personal == from_elsewhere ? Norm::l2 : Norm::linf;
        std::vector<double> mass(graph_.num_vertices, 0.5);
        mass.at(7) = 30;
        if (personal) options.personalization = mass;
        if (from_elsewhere) options.start = mass;
        expect_the_bits_of_the_cpu(graph_, options);
      }
}

/// Whose mass begins at one end: slow from the fifth step on.
PageRankOptions accelerated_from_one_end(const Graph& graph) {
  PageRankOptions options;
  options.accelerate = true;
  options.damping = 0.97;
  options.stop.max_iterations = 1000;
  options.personalization = std::vector<double>(graph.num_vertices, 0.01);
  options.personalization.front() = static_cast<double>(graph.num_vertices);
  return options;
}

/// Which leaves the runs of steps that a device goes through by itself.
TEST_F(DevicePageRank, OfAcceleratedStepsHasTheBitsOfTheCpu) {
  for (const std::uint64_t num_spine : {300u, 40000u}) {
    const Graph graph = comb_graph(2 * num_spine + 7, num_spine);
    PageRankOptions options = accelerated_from_one_end(graph);
    for (const int last_step : {5, 6, 7, 8, 9, 12, 15, 1000}) {
      options.observer = [&](const IterationProgress& progress) { return progress.iteration < last_step; };
      expect_the_bits_of_the_cpu(graph, options);
      options.stop.norm = options.stop.norm == Norm::l1 ? Norm::l2 : Norm::l1;
    }
    const std::size_t fast = std::get<1>(ranked<double>("cpu", graph, options)).size();
    options.accelerate = false;
    EXPECT_LT(2 * fast, std::get<1>(ranked<double>("cpu", graph, options)).size());
  }
}

/// Steps that end products until they are accelerated, on several GPUs with inputs that they write to each
/// other's memory.
TEST_F(DevicePageRank, OfAcceleratedTilesHasTheBitsOfOneGpuAndIsWithinItsErrorBound) {
  const Graph graph = comb_graph(90000, 40000);
  PageRankOptions options = accelerated_from_one_end(graph);
  options.personalization.clear();
  options.stop.tolerance = 1e-5;
  for (const int last_step : {9, 12, 13, 14, 1000}) {
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < last_step; };
    PageRankResult on_one;
    for (int ranks = 1; ranks <= num_devices(); ranks *= 2) {
      PageRankResult found;
      run_ranks(ranks, [&](Communicator& comm) {
        const Graph block = block_of(graph, comm);
        auto op = SpmvOperator<float>::in_edges(block, {.kernel = KernelKind::tile_messages},
                                                LinkedGpus<float>::of(comm), comm);
        const PageRankResult mine = pagerank(op, out_weights(block, comm), options);
        if (comm.is_root()) found = mine;
      });
      if (ranks == 1) on_one = found;
      EXPECT_EQ(found.scores, on_one.scores) << ranks << " GPUs";
      EXPECT_EQ(found.report.residual_history, on_one.report.residual_history);
      EXPECT_EQ(found.sum, on_one.sum);
    }
    PageRankOptions exact = options;
    exact.observer = {};
    exact.stop.tolerance = 1e-12;
    EXPECT_LE(l1_distance(on_one.scores, run_pagerank(graph, exact).scores), on_one.error_bound);
  }
  LinkedGpus<float>::clear();
}

TEST_F(DevicePageRank, StopsAtItsStep) {
  constexpr int kRun = RankRun::kMostSteps;
  for (const int steps : {1, 2, 13, kRun - 1, kRun, kRun + 1, 2 * kRun + 1}) {
    PageRankOptions options;
    options.stop = {.max_iterations = 2 * steps, .fixed_iterations = steps};
    expect_the_bits_of_the_cpu(graph_, options);
    options.stop.fixed_iterations = 0;
    options.stop.tolerance = 0;
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < steps; };
    expect_the_bits_of_the_cpu(graph_, options);
  }
}

/// While the device goes on.
TEST_F(DevicePageRank, IsTheSameAfterAnObserverThrew) {
  const auto comm = make_single_rank();
  const auto backend = make_backend<float>(usable_backends().back());
  auto op = SpmvOperator<float>::in_edges(graph_, {.kernel = KernelKind::csr}, *backend, *comm);
  const auto weights = out_weights(graph_, *comm);
  PageRankOptions options;
  options.stop.fixed_iterations = RankRun::kMostSteps;
  const PageRankResult expected = pagerank(op, weights, options);
  for (const int step : {1, 2, 5, 100}) {
    PageRankOptions throwing = options;
    throwing.observer = [&](const IterationProgress& progress) {
      if (progress.iteration == step) throw InputError("from here");
      return true;
    };
    EXPECT_THROW(pagerank(op, weights, throwing), InputError);
    EXPECT_EQ(pagerank(op, weights, options).scores, expected.scores) << step;
  }
}

TEST_F(DevicePageRank, OfGraphsWithoutEdgesAndOfManyRowsHasTheBitsOfTheCpu) {
  expect_the_bits_of_the_cpu(graph_of(random_oracle_graph(1, 5, 0, false), false), {}, false);
  const auto of_rows = [](VertexId num_rows) {
    return graph_of(random_oracle_graph(2, num_rows, 250000, false), false);
  };
  expect_the_bits_of_the_cpu(of_rows(400000), {});  // in windows
  expect_the_bits_of_the_cpu(of_rows(2000000), {}, false);
}

}  // namespace
}  // namespace tessera::test
