// Runs of HITS steps that a device goes through without the host: the bits are those of steps one by one,
// wherever a run ends. No GPU is needed.
#include "algorithms/pair_runs.hpp"

#include <gtest/gtest.h>

#include "algorithms/hits.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

struct Runs {
  HitsResult result;
  int count = 0, half_steps = 0;  ///< of the runs
};

/// most_half_steps: of a run, behind which a norm is said to be too small. in_pair: what a device says of
/// matrices each of which may run.
Runs runs_of(HitsOptions options, const Graph& graph = skewed_graph(400, 900), int last_step = 1 << 20,
             int most_half_steps = PairRun::kMostSteps, bool in_pair = true) {
  Runs found;
  run_ranks(1, [&](Communicator& comm) {
    LinkedBackend<float> backend(comm, kSmallTiles);
    backend.most_half_steps = most_half_steps;
    backend.runs_pairs = in_pair;
    auto [to_authority, to_hub] =
        SpmvOperator<float>::in_and_out_edges(graph, {.kernel = KernelKind::csr}, backend, comm);
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < last_step; };
    found.result = hits(to_authority, to_hub, options);
    found.count = backend.num_runs;
    found.half_steps = backend.num_run_steps;
  });
  return found;
}

void expect_the_same(const Runs& runs, HitsOptions options, const Graph& graph = skewed_graph(400, 900),
                     int last_step = 1 << 20) {
  HitsResult expected;
  run_ranks(1, [&](Communicator& comm) {
    const auto backend = make_backend<float>("cpu");
    auto [to_authority, to_hub] =
        SpmvOperator<float>::in_and_out_edges(graph, {.kernel = KernelKind::csr}, *backend, comm);
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < last_step; };
    expected = hits(to_authority, to_hub, options);
  });
  EXPECT_EQ(runs.result.authority, expected.authority);
  EXPECT_EQ(runs.result.hub, expected.hub);
  EXPECT_EQ(runs.result.report.residual_history, expected.report.residual_history);
  EXPECT_EQ(runs.result.report.residual_l1, expected.report.residual_l1);
  EXPECT_EQ(runs.result.report.converged, expected.report.converged);
  EXPECT_EQ(runs.result.report.interrupted, expected.report.interrupted);
  EXPECT_EQ(runs.result.unique, expected.unique);
}

TEST(PairRuns, AreAsLongAsStepsAreLeftBehindThoseThatAreLookedAt) {
  HitsOptions options;
  constexpr int kOfRuns = PairRun::kMostSteps + 20;  // of two half-steps each
  options.stop.fixed_iterations = 2 + kOfRuns;
  const Runs runs = runs_of(options);
  EXPECT_EQ(runs.count, 3);
  EXPECT_EQ(runs.half_steps, 2 * kOfRuns);
  expect_the_same(runs, options);
}

TEST(PairRuns, EndAtTheTolerance) {
  for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf})
    for (const double tolerance : {1e-3, 1e-6}) {
      HitsOptions options;
      options.stop.norm = norm;
      options.stop.tolerance = tolerance;
      const Runs runs = runs_of(options);
      EXPECT_GT(runs.count, 0);
      EXPECT_EQ(runs.half_steps, 2 * (runs.result.report.iterations - 2));
      expect_the_same(runs, options);
    }
}

TEST(PairRuns, AreMadeAgainUpToWhereTheyShouldHaveEnded) {
  HitsOptions options;
  options.stop.fixed_iterations = 50;
  const Graph graph = skewed_graph(400, 900);
  for (const int last_step : {1, 2, 3, 4, 9, 50})
    expect_the_same(runs_of(options, graph, last_step), options, graph, last_step);
  EXPECT_EQ(runs_of(options, graph, 9).half_steps, 2 * (48 + 7));
}

TEST(PairRuns, GoOnUntilNothingChangesAndWhereChangesGrow) {
  Graph weighted = skewed_graph(400, 900);
  ASSERT_FALSE(weighted.weights.empty());
  weighted.weights[weighted.weights.size() - 1] = 0x1p60;
  HitsOptions options;
  options.stop = {.tolerance = 1e-30, .max_iterations = 300};
  const Runs settled = runs_of(options);
  EXPECT_EQ(settled.count, 1);
  EXPECT_EQ(settled.half_steps, 2 * (settled.result.report.iterations - 2));
  EXPECT_EQ(settled.result.report.residual, 0);
  expect_the_same(settled, options);
  options.start_hubs.assign(400, 0.0);
  options.start_hubs[2] = 1;
  options.stop.tolerance = 1e-6;
  const Runs growing = runs_of(options, weighted);
  EXPECT_GT(growing.count, 0);
  expect_the_same(growing, options, weighted);
}

/// In the middle of a step or between two; after the first half already, so that the host makes all steps.
TEST(PairRuns, EndWhereANormIsTooSmall) {
  const Graph graph = skewed_graph(400, 900);
  for (const int most_half_steps : {1, 2, 3, 5, 6})
    for (const int last_step : {4, 7, 12, 40}) {
      HitsOptions options;
      options.stop.fixed_iterations = 20;
      const Runs runs = runs_of(options, graph, last_step, most_half_steps);
      EXPECT_GT(runs.count, 0);
      expect_the_same(runs, options, graph, last_step);
    }
}

TEST(PairRuns, AreOfSumsOnly) {
  for (const ScoreNorm norm : {ScoreNorm::max, ScoreNorm::l2}) {
    HitsOptions options;
    options.normalize = norm;
    EXPECT_EQ(runs_of(options).count, 0);
  }
  EXPECT_EQ(runs_of({}, skewed_graph(5, 0)).count, 0);
}

TEST(PairRuns, PassOnWhatAnObserverThrows) {
  for (const int step : {2, 3, 6})
    run_ranks(1, [&](Communicator& comm) {
      LinkedBackend<float> backend(comm, kSmallTiles);
      auto [to_authority, to_hub] = SpmvOperator<float>::in_and_out_edges(
          skewed_graph(400, 900), {.kernel = KernelKind::csr}, backend, comm);
      const HitsResult expected = hits(to_authority, to_hub, {});
      HitsOptions throwing;
      throwing.observer = [&](const IterationProgress& progress) {
        if (progress.iteration == step) throw InputError("from here");
        return true;
      };
      EXPECT_THROW(hits(to_authority, to_hub, throwing), InputError);
      EXPECT_EQ(hits(to_authority, to_hub, {}).authority, expected.authority);
    });
}

TEST(PairRuns, AreOfMatricesThatRunInPairOnly) {
  HitsOptions options;
  options.stop.fixed_iterations = 20;
  const Runs none = runs_of(options, skewed_graph(400, 900), 1 << 20, PairRun::kMostSteps, false);
  EXPECT_EQ(none.count, 0);
  EXPECT_GT(runs_of(options).count, 0);
  expect_the_same(none, options);
}

}  // namespace
}  // namespace tessera::test
