// HITS on a device, which goes ahead of the host by whole steps: the bits of the CPU, which does one thing
// after the other. Skips, visibly, where no device answers.
#include "kernels/base/error.hpp"
#include "tests/algorithms/ranking_cases.hpp"
#include "tests/support/backends.hpp"

namespace tessera::test {
namespace {

/// Row by row in CSR, whose bits are the same everywhere.
template <class S>
HitsResult ranked(const std::string& backend_name, const Graph& graph, const HitsOptions& options) {
  const auto comm = make_single_rank();
  const auto backend = make_backend<S>(backend_name);
  auto [to_authority, to_hub] =
      SpmvOperator<S>::in_and_out_edges(graph, {.kernel = KernelKind::csr}, *backend, *comm);
  EXPECT_EQ(to_authority.prepare_to_run_steps() && to_hub.prepare_to_run_steps() &&
                to_authority.runs_in_pair_with(to_hub),
            backend_name != "cpu");
  return hits(to_authority, to_hub, options);
}

template <class S>
void expect_the_same(const Graph& graph, const HitsOptions& options) {
  const HitsResult expected = ranked<S>("cpu", graph, options),
                   found = ranked<S>(usable_backends().back(), graph, options);
  EXPECT_EQ(found.authority, expected.authority);
  EXPECT_EQ(found.hub, expected.hub);
  EXPECT_EQ(found.report.residual_history, expected.report.residual_history);
  EXPECT_EQ(found.report.interrupted, expected.report.interrupted);
  EXPECT_EQ(found.unique, expected.unique);
}

void expect_the_bits_of_the_cpu(const Graph& graph, const HitsOptions& options) {
  expect_the_same<float>(graph, options);
  expect_the_same<double>(graph, options);
}

class DeviceHits : public testing::Test {
 protected:
  void SetUp() override {
    if (usable_backends().size() < 2) GTEST_SKIP() << kNoDevice;
  }
};

TEST_F(DeviceHits, OfEachNormHasTheBitsOfTheCpu) {
  for (const bool weighted : {false, true}) {
    const Graph graph = graph_of(random_oracle_graph(5, 3000, 9000, weighted), weighted);
    for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf})
      for (const ScoreNorm normalize : {ScoreNorm::sum, ScoreNorm::max}) {
        HitsOptions options;
        options.normalize = normalize;
        options.stop.norm = norm;
        options.stop.max_iterations = 100;
        expect_the_bits_of_the_cpu(graph, options);
      }
  }
}

/// Rows of either side are in windows.
TEST_F(DeviceHits, OfManyRowsHasTheBitsOfTheCpu) {
  for (const bool weighted : {false, true}) {
    HitsOptions options;
    options.stop.fixed_iterations = 20;
    expect_the_bits_of_the_cpu(graph_of(random_oracle_graph(7, 300000, 600000, weighted), weighted), options);
  }
}

TEST_F(DeviceHits, StopsAtItsStep) {
  const Graph graph = graph_of(random_oracle_graph(6, 1000, 6000, true), true);
  constexpr int kBefore = 2, kRun = PairRun::kMostSteps / 2;  // steps of the host, and of a run
  for (const int steps : {1, 2, 3, 4, 13, kBefore + kRun, kBefore + kRun + 1, kBefore + 2 * kRun + 1}) {
    HitsOptions options;
    options.stop = {.max_iterations = 2 * steps, .fixed_iterations = steps};
    expect_the_bits_of_the_cpu(graph, options);
    options.stop.fixed_iterations = 0;
    options.stop.tolerance = 0;
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < steps; };
    expect_the_bits_of_the_cpu(graph, options);
  }
}

/// While the device goes on.
TEST_F(DeviceHits, IsTheSameAfterAnObserverThrew) {
  const auto comm = make_single_rank();
  const auto backend = make_backend<float>(usable_backends().back());
  const Graph graph = graph_of(random_oracle_graph(6, 1000, 6000, true), true);
  auto [to_authority, to_hub] =
      SpmvOperator<float>::in_and_out_edges(graph, {.kernel = KernelKind::csr}, *backend, *comm);
  HitsOptions options;
  options.stop.fixed_iterations = PairRun::kMostSteps / 2;
  const HitsResult expected = hits(to_authority, to_hub, options);
  for (const int step : {2, 3, 6, 100}) {
    HitsOptions throwing = options;
    throwing.observer = [&](const IterationProgress& progress) {
      if (progress.iteration == step) throw InputError("from here");
      return true;
    };
    EXPECT_THROW(hits(to_authority, to_hub, throwing), InputError);
    EXPECT_EQ(hits(to_authority, to_hub, options).authority, expected.authority) << step;
  }
}

/// Until the scores come to where one large weight lies, norms are too small to be known.
TEST_F(DeviceHits, OfWeightsThatDifferByMuchHasTheBitsOfTheCpu) {
  OracleGraph oracle = random_oracle_graph(12, 450, 2500, true);
  oracle.num_vertices = 451;
  oracle.edges.push_back({450, 1, 0x1p60});
  HitsOptions options;
  options.stop.max_iterations = 60;
  expect_the_bits_of_the_cpu(graph_of(oracle, true), options);
  options.start_hubs.assign(451, 0.0);
  options.start_hubs[2] = 1;
  expect_the_bits_of_the_cpu(graph_of(oracle, true), options);
}

}  // namespace
}  // namespace tessera::test
