// Iterations on devices that work ahead of the host, and whose exchanges arrive as late as they may: the
// bits are those of a backend that does one thing after the other. No GPU is needed.
#include <gtest/gtest.h>

#include "algorithms/hits.hpp"
#include "algorithms/pagerank.hpp"
#include "algorithms/random_walk_restart.hpp"
#include "engine/graph_stats.hpp"
#include "tests/support/link_devices.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/ring_graph.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

using Scores = std::vector<double>;

/// The CPU's backend with the tiles of the made-up devices, not asynchronous, its products in order.
template <class S>
class StepByStep : public LinkedBackend<S> {
 public:
  StepByStep(Communicator& comm, TilingLimits limits) : LinkedBackend<S>(comm, limits) {
    this->takes_steps = false;
    this->runs_steps = false;
  }
  bool is_asynchronous() const override { return false; }

 protected:
  bool mixes_rows() const override { return false; }
};

struct Setting {
  KernelKind kernel;
  int ranks;
  unsigned num_vectors = 1;
  bool ends_with_updates = true, runs_steps = true, takes_steps = true;
};
constexpr Setting kSettings[] = {{KernelKind::tile_messages, 1},
                                 {KernelKind::tile_messages, 1, 1, false},
                                 {KernelKind::tile_messages, 3},
                                 {KernelKind::tile_messages, 3, 1, false},
                                 {KernelKind::tile_composite, 3},
                                 {KernelKind::csr, 1},
                                 {.kernel = KernelKind::csr, .ranks = 1, .runs_steps = false},
                                 {.kernel = KernelKind::csr, .ranks = 1, .takes_steps = false},
                                 {KernelKind::csr, 2},
                                 {KernelKind::csr, 3, 9}};

/// What `work(graph, op, comm)` gives on one rank step by step, and everywhere ahead. joins: products and
/// updates, where a device can.
template <class Work>
void expect_the_same(const Work& work, bool joins = true, const Graph& whole = skewed_graph(400, 900)) {
  for (const auto& [kernel, ranks, num_vectors, ends, runs, steps] : kSettings) {
    decltype(work(whole, std::declval<SpmvOperator<float>&>(), std::declval<Communicator&>())) expected,
        found;
    run_ranks(1, [&, kernel = kernel](Communicator& comm) {
      StepByStep<float> backend(comm, kSmallTiles);
      auto op = SpmvOperator<float>::in_edges(whole, {.kernel = kernel}, backend, comm);
      EXPECT_FALSE(op.works_ahead());
      expected = work(whole, op, comm);
    });
    run_ranks(ranks, [&, kernel = kernel, num_vectors = num_vectors, ends = ends, runs = runs,
                      steps = steps](Communicator& comm) {
      LinkedBackend<float> backend(comm, kSmallTiles);
      backend.ends_with_updates = ends;
      backend.takes_steps = steps;
      backend.runs_steps = runs;
      if (comm.size() > 1) link_devices<float>(backend, comm);
      const Graph block = block_of(whole, comm);
      auto op =
          SpmvOperator<float>::in_edges(block, {.kernel = kernel, .num_vectors = num_vectors}, backend, comm);
      EXPECT_TRUE(op.works_ahead());
      const auto mine = work(block, op, comm);
      EXPECT_EQ(backend.num_ended > 0, joins && ends && kernel == KernelKind::tile_messages);
      if (comm.is_root()) found = mine;
    });
    EXPECT_EQ(found, expected) << to_string(kernel) << ", " << ranks << " ranks";
  }
}

/// Scores, changes of all steps, and sum; in runs where there are any.
std::tuple<Scores, Scores, double> ranked(const Graph& graph, SpmvOperator<float>& op, Communicator& comm,
                                          const PageRankOptions& options) {
  const PageRankResult result = pagerank(op, out_weights(graph, comm), options);
  EXPECT_GE(result.report.iterations, std::max(options.stop.fixed_iterations, 1));
  const auto& backend = dynamic_cast<LinkedBackend<float>&>(op.backend());
  EXPECT_EQ(op.prepare_to_run_steps(),
            comm.size() == 1 && op.plan().kernel == KernelKind::csr && backend.runs_steps);
  EXPECT_EQ(backend.num_runs > 0, op.prepare_to_run_steps());
  EXPECT_EQ(backend.num_run_steps, backend.num_runs > 0 ? result.report.iterations : 0);
  return {result.scores, result.report.residual_history, result.sum};
}

TEST(WorkAhead, PageRankHasTheSameBits) {
  for (const Dangling dangling :
       {Dangling::uniform, Dangling::personalization, Dangling::drop, Dangling::rescale})
    for (const int steps : {0, 1, 7})
      expect_the_same([&](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
        PageRankOptions options;
        options.dangling = dangling;
        options.stop.fixed_iterations = steps;
        return ranked(graph, op, comm, options);
      });
}

TEST(WorkAhead, APageRankThatStagnatesHasTheSameBits) {
  expect_the_same([](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
    PageRankOptions options;
    options.stop = {.tolerance = 1e-30, .max_iterations = 1000};
    const PageRankResult result = pagerank(op, out_weights(graph, comm), options);
    EXPECT_TRUE(result.report.stagnated || result.report.residual == 0);
    return std::pair(result.scores, result.report.residual_history);
  });
}

TEST(WorkAhead, APageRankFromElsewhereHasTheSameBits) {
  for (const double first : {0.5, 7.0})
    expect_the_same([&](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
      PageRankOptions options;
      options.start = Scores(op.num_rows(), 0.5);
      options.start.front() = first;
      return ranked(graph, op, comm, options);
    });
}

TEST(WorkAhead, APersonalPageRankHasTheSameBits) {
  for (const Dangling dangling : {Dangling::uniform, Dangling::personalization, Dangling::rescale})
    for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf}) {
      const auto personal = [&](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
        PageRankOptions options;
        options.dangling = dangling;
        options.stop.norm = norm;
        options.personalization = Scores(op.num_rows(), 0.5);
        options.personalization.at(7) = 30;
        return ranked(graph, op, comm, options);
      };
      expect_the_same(personal, false);
    }
}

TEST(WorkAhead, AStoppedPageRankHasTheScoresOfItsLastStep) {
  expect_the_same([](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
    PageRankOptions options;
    options.observer = [](const IterationProgress& progress) { return progress.iteration < 4; };
    const PageRankResult result = pagerank(op, out_weights(graph, comm), options);
    EXPECT_TRUE(result.report.interrupted);
    return std::pair(result.scores, result.report.iterations);
  });
}

/// From the step on that changes have shrunk slowly to, no step ends a product or is of a run.
TEST(WorkAhead, AnAcceleratedPageRankHasTheSameBits) {
  const Graph comb = comb_graph(400, 190);
  for (const bool personal : {false, true})
    for (const auto& [tolerance, last_step] :
         {std::pair(1e-6, 1000), {1e-8, 1000}, {1e-6, 5}, {1e-6, 6}, {1e-6, 9}, {1e-6, 12}})
      expect_the_same(
          [&, personal = personal, tolerance = tolerance, last_step = last_step](
              const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
            PageRankOptions options;
            options.accelerate = true;
            options.stop.tolerance = tolerance;
            if (personal) options.personalization = Scores(op.num_rows(), 0.5);
            if (personal) options.personalization.at(7) = 30;
            options.observer = [=](const IterationProgress& progress) {
              return progress.iteration < last_step;
            };
            const PageRankResult result = pagerank(op, out_weights(graph, comm), options);
            const auto& backend = dynamic_cast<LinkedBackend<float>&>(op.backend());
            if (last_step != 6) {
              EXPECT_EQ(backend.num_further > 0, last_step > 6) << last_step;
            }
            // Runs are short where steps may go further, which makes what is left of one be in vain.
            EXPECT_EQ(backend.num_runs > 0, op.prepare_to_run_steps());
            constexpr int kFewSteps = 8;  // the rest of a run, and its beginning once more
            const int num_plain = result.report.iterations - backend.num_further;
            EXPECT_LE(backend.num_run_steps, num_plain + 2 * kFewSteps);
            return std::tuple(result.scores, result.report.residual_history, result.sum, result.error_bound);
          },
          !personal, comb);
}

/// Of every query.
struct Walks {
  std::vector<Scores> scores;
  std::vector<int> steps;
  std::vector<double> error_bounds;
  bool operator==(const Walks&) const = default;
};

Walks walks(const Graph& graph, SpmvOperator<float>& op, Communicator& comm, const RwrOptions& options) {
  const std::vector<VertexId> queries{0, 399, 5, 398, 100, 200, 397, 390, 380};
  Walks all;
  for (const RwrResult& walk : random_walk_restart(op, out_weights(graph, comm), queries, options)) {
    all.scores.push_back(walk.scores);
    all.steps.push_back(walk.report.iterations);
    all.error_bounds.push_back(walk.error_bound);
  }
  return all;
}

TEST(WorkAhead, WalksHaveTheSameBitsWhenSomeLeaveTheBlock) {
  for (const unsigned batch_size : {1u, 4u, 9u})
    expect_the_same([&](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
      RwrOptions options;
      options.batch_size = batch_size;
      int together = 0;
      options.observer = [&](const IterationProgress& progress) {
        together = std::max(together, progress.vectors_left);
        return true;
      };
      auto all = walks(graph, op, comm, options);
      const bool one_by_one = op.works_ahead() && op.plan().kernel == KernelKind::tile_messages;
      EXPECT_LE(together, one_by_one ? 1 : static_cast<int>(batch_size));
      EXPECT_EQ(together > 1, !one_by_one && batch_size > 1);
      const auto& backend = dynamic_cast<LinkedBackend<float>&>(op.backend());
      EXPECT_EQ(backend.num_stepped > 0, op.steps_walks(4) && batch_size > 1);
      EXPECT_NE(std::ranges::min(all.steps), std::ranges::max(all.steps));
      return all;
    });
}

/// Accelerated ones.
void expect_the_same_walks(const Graph& whole, const RwrOptions& options) {
  expect_the_same(
      [&](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
        auto all = walks(graph, op, comm, options);
        EXPECT_GT(dynamic_cast<LinkedBackend<float>&>(op.backend()).num_further, 0);
        return all;
      },
      true, whole);
}

TEST(WorkAhead, AcceleratedWalksHaveTheSameBits) {
  const Graph ring = ring_graph(400, 350, 3);
  for (const unsigned batch_size : {1u, 4u, 9u})
    for (const double tolerance : {1e-6, 6e-8}) {  // to the second one acceleration ends by rounding
      RwrOptions options;
      options.batch_size = batch_size;
      options.stop.tolerance = tolerance;
      expect_the_same_walks(ring, options);
    }
}

/// Links one way: acceleration ends because it does not help. Walks of a part with many links begin it late
/// or never, and leave.
TEST(WorkAhead, WalksWhoseAccelerationEndsHaveTheSameBits) {
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (VertexId v = 0; v < 60; ++v) edges.emplace_back(v, (v + 1) % 60);
  for (VertexId v = 60; v < 400; ++v)
    for (VertexId d = 1; d <= 6; ++d) {
      const VertexId w = 60 + (v * 31 + d * d * 47) % 340;
      edges.emplace_back(v, w);
      edges.emplace_back(w, v);
    }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const Graph mixed = sample_graph(edges, range_labels(400, 0), false);
  for (const unsigned batch_size : {1u, 4u, 9u}) {
    RwrOptions options;
    options.batch_size = batch_size;
    expect_the_same_walks(mixed, options);
  }
}

TEST(WorkAhead, StoppedAcceleratedWalksHaveTheScoresThatTheirLastStepBeganWith) {
  const Graph ring = ring_graph(400, 350, 3);
  for (const unsigned batch_size : {1u, 9u})
    for (const int last_step : {6, 7, 12}) {
      RwrOptions options;
      options.batch_size = batch_size;
      options.observer = [=](const IterationProgress& progress) { return progress.iteration < last_step; };
      expect_the_same(
          [&](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
            RwrOptions mine = options;
            if (op.plan().kernel == KernelKind::tile_messages) mine.batch_size = 1;
            return walks(graph, op, comm, mine);
          },
          true, ring);
    }
}

TEST(WorkAhead, StoppedWalksHaveTheScoresOfTheirLastStep) {
  expect_the_same([](const Graph& graph, SpmvOperator<float>& op, Communicator& comm) {
    RwrOptions options;
    // Walks one by one, as tile-messages take them, stop elsewhere than those of a block.
    options.batch_size = op.plan().kernel == KernelKind::tile_messages ? 1 : 5;
    options.observer = [](const IterationProgress& progress) { return progress.iteration < 3; };
    return walks(graph, op, comm, options);
  });
}

/// Authorities and hubs after some steps.
std::pair<Scores, Scores> hits_scores(const Graph& whole, Backend<float>& backend, bool block_form,
                                      Communicator& comm, HitsOptions options = {}) {
  options.stop.fixed_iterations = 6;
  const OperatorOptions how{.kernel = KernelKind::tile_messages};
  const Graph block = block_of(whole, comm);
  HitsResult result;
  if (block_form) {
    auto op = SpmvOperator<float>::hits_block(block, how, backend, comm);
    result = hits_block(op, options);
  } else {
    auto [to_authority, to_hub] = SpmvOperator<float>::in_and_out_edges(block, how, backend, comm);
    result = hits(to_authority, to_hub, options);
  }
  return {result.authority, result.hub};
}

TEST(WorkAhead, HitsReadsProductsThatLieOutOfOrder) {
  const Graph whole = skewed_graph(400, 900);
  for (const bool block_form : {false, true}) {
    std::pair<Scores, Scores> expected, found;
    run_ranks(1, [&](Communicator& comm) {
      StepByStep<float> backend(comm, kSmallTiles);
      expected = hits_scores(whole, backend, block_form, comm);
    });
    for (const int ranks : {1, 3})
      for (const bool ends : {true, false}) {
        run_ranks(ranks, [&](Communicator& comm) {
          LinkedBackend<float> backend(comm, kSmallTiles);
          backend.ends_with_updates = ends;
          if (comm.size() > 1) link_devices<float>(backend, comm);
          const auto mine = hits_scores(whole, backend, block_form, comm);
          // Products are looked at until the host has seen the norm of one of their kind.
          EXPECT_EQ(backend.num_ended, !ends ? 0 : block_form ? 4 : 9);
          EXPECT_EQ(backend.num_normed, 0);
          if (comm.is_root()) found = mine;
        });
        EXPECT_EQ(found, expected) << ranks << " ranks, block form " << block_form << ends;
      }
  }
}

/// Until the scores come to where one large weight lies, sums are small beside it.
TEST(WorkAhead, HitsHasTheSameBitsWhereSumsAreSmallAtFirst) {
  Graph whole = skewed_graph(400, 900);
  whole.weights[whole.weights.size() - 1] = 0x1p60;
  HitsOptions options;
  options.start_hubs.assign(400, 0.0);
  options.start_hubs[2] = 1;
  for (const bool block_form : {false, true}) {
    std::pair<Scores, Scores> expected, found;
    run_ranks(1, [&](Communicator& comm) {
      StepByStep<float> backend(comm, kSmallTiles);
      expected = hits_scores(whole, backend, block_form, comm, options);
    });
    for (const int ranks : {1, 3}) {
      run_ranks(ranks, [&](Communicator& comm) {
        LinkedBackend<float> backend(comm, kSmallTiles);
        if (comm.size() > 1) link_devices<float>(backend, comm);
        const auto mine = hits_scores(whole, backend, block_form, comm, options);
        EXPECT_EQ(backend.num_ended, block_form ? 2 : 6);  // 4 or 9 where sums are alike
        EXPECT_EQ(backend.num_normed, 0);
        if (comm.is_root()) found = mine;
      });
      EXPECT_EQ(found, expected) << ranks << " ranks, block form " << block_form;
    }
  }
}

TEST(WorkAhead, HitsHasTheSameBitsWhereProductsGrowAndShrink) {
  const Graph whole = skewed_graph(400, 900);
  for (const ScoreNorm norm : {ScoreNorm::max, ScoreNorm::l2}) {
    HitsOptions options;
    options.normalize = norm;
    options.start_hubs.assign(400, 0.0);
    options.start_hubs[399] = 1;  // far from where the iteration goes
    std::pair<Scores, Scores> expected, found;
    run_ranks(3, [&](Communicator& comm) {
      LinkedBackend<float> backend(comm, kSmallTiles);
      link_devices<float>(backend, comm);
      const auto mine = hits_scores(whole, backend, false, comm, options);
      if (comm.is_root()) expected = mine;
    });
    run_ranks(1, [&](Communicator& comm) {
      LinkedBackend<float> backend(comm, kSmallTiles);
      found = hits_scores(whole, backend, false, comm, options);
      EXPECT_EQ(backend.num_normed, 10);
      // The first of each side is looked at once or, for squares, twice. Some others are not like the one
      // before, and looked at once more.
      EXPECT_GT(backend.num_norms, norm == ScoreNorm::max ? 12 : 14);
      EXPECT_LT(backend.num_norms, 24);
    });
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace tessera::test
