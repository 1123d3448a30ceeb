// Runs of PageRank steps that a device goes through without the host: how many, and how long. What they end
// in is compared in work_ahead_test.cpp. No GPU is needed.
#include "algorithms/rank_runs.hpp"

#include <gtest/gtest.h>

#include "algorithms/pagerank.hpp"
#include "engine/graph_stats.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/ring_graph.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

/// Matrices for blocks of vectors, too, leave out vertices without links.
const OperatorOptions kOfBlocks{.kernel = KernelKind::csr, .num_vectors = 9};

struct Runs {
  int steps = 0;                    ///< of the ranking
  int count = 0, steps_of_all = 0;  ///< of the runs
  std::vector<double> scores;
};

void expect_runs(const Runs& runs, int steps, int count, int steps_of_all) {
  EXPECT_EQ(runs.steps, steps);
  EXPECT_EQ(runs.count, count);
  EXPECT_EQ(runs.steps_of_all, steps_of_all);
}

Runs runs_of(PageRankOptions options, int last_step = 1 << 20, const Graph& graph = skewed_graph(400, 900)) {
  Runs found;
  run_ranks(1, [&](Communicator& comm) {
    LinkedBackend<float> backend(comm, kSmallTiles);
    auto op = SpmvOperator<float>::in_edges(graph, kOfBlocks, backend, comm);
    options.observer = [&](const IterationProgress& progress) { return progress.iteration < last_step; };
    const PageRankResult result = pagerank(op, out_weights(graph, comm), options);
    found.steps = result.report.iterations;
    found.scores = result.scores;
    found.count = backend.num_runs;
    found.steps_of_all = backend.num_run_steps;
  });
  return found;
}

TEST(RankRuns, AreAsLongAsStepsAreLeft) {
  PageRankOptions options;
  constexpr int kSteps = 2 * RankRun::kMostSteps + 44;
  options.stop.fixed_iterations = kSteps;
  expect_runs(runs_of(options), kSteps, 3, kSteps);
  options.stop = {.tolerance = 0, .norm = Norm::linf, .max_iterations = 20};
  const Runs limited = runs_of(options);
  EXPECT_EQ(limited.count, 1);
  EXPECT_EQ(limited.steps_of_all, 20);
}

TEST(RankRuns, EndAtTheTolerance) {
  PageRankOptions options;
  for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf}) {
    options.stop.norm = norm;
    const Runs runs = runs_of(options);
    EXPECT_GT(runs.steps, 3);
    EXPECT_EQ(runs.steps_of_all, runs.steps);
  }
}

TEST(RankRuns, AreMadeAgainUpToWhereTheyShouldHaveEnded) {
  PageRankOptions options;
  options.stop.fixed_iterations = 50;
  expect_runs(runs_of(options, 4), 4, 2, 50 + 4);
  expect_runs(runs_of(options, 1), 1, 2, 50 + 1);
  EXPECT_EQ(runs_of(options, 50).steps_of_all, 50);
}

PageRankResult step_by_step(const PageRankOptions& options, const Graph& graph) {
  PageRankResult result;
  run_ranks(1, [&](Communicator& comm) {
    const auto backend = make_backend<float>("cpu");
    auto op = SpmvOperator<float>::in_edges(graph, kOfBlocks, *backend, comm);
    result = pagerank(op, out_weights(graph, comm), options);
  });
  return result;
}

/// A device does not see vertices without links, whose change counts, too: what the ring gains they lose.
TEST(RankRuns, GoOnWhereTheHostSeesMore) {
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (VertexId v = 0; v < 10; ++v) edges.emplace_back(v, (v + 1) % 10);
  const Graph graph = sample_graph(edges, range_labels(2000, 0), false);
  const Runs runs = runs_of({}, 1 << 20, graph);
  EXPECT_GT(runs.count, 2);
  EXPECT_EQ(runs.steps_of_all, runs.steps);
  const PageRankResult plain = step_by_step({}, graph);
  EXPECT_EQ(runs.steps, plain.report.iterations);
  EXPECT_EQ(runs.scores, plain.scores);
}

/// Acceleration begins where a run ends anyway, or in the middle of one.
TEST(RankRuns, AreLeftAtAnyStep) {
  for (const double damping : {0.5, 0.85, 0.9, 0.95, 0.99})
    for (const VertexId num_spine : {20, 60, 190}) {
      const Graph comb = comb_graph(2 * num_spine + 7, num_spine);
      PageRankOptions options;
      options.accelerate = true;
      options.damping = damping;
      options.stop.max_iterations = 1000;
      const Runs runs = runs_of(options, 1 << 20, comb);
      EXPECT_EQ(runs.scores, step_by_step(options, comb).scores) << damping << ", " << num_spine;
    }
}

/// Nothing is left behind that a next ranking would trip over.
TEST(RankRuns, PassOnWhatAnObserverThrows) {
  for (const int step : {1, 2, 5})
    run_ranks(1, [&](Communicator& comm) {
      LinkedBackend<float> backend(comm, kSmallTiles);
      const Graph graph = skewed_graph(400, 900);
      auto op = SpmvOperator<float>::in_edges(graph, kOfBlocks, backend, comm);
      const auto weights = out_weights(graph, comm);
      PageRankOptions options;
      const PageRankResult expected = pagerank(op, weights, options);
      PageRankOptions throwing;
      throwing.observer = [&](const IterationProgress& progress) {
        if (progress.iteration == step) throw InputError("from here");
        return true;
      };
      EXPECT_THROW(pagerank(op, weights, throwing), InputError);
      EXPECT_EQ(pagerank(op, weights, options).scores, expected.scores);
    });
}

}  // namespace
}  // namespace tessera::test
