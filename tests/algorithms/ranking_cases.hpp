// Graphs for the tests of the algorithms, and runs of an algorithm on several ranks (threads of one
// process), whose results must agree on every rank.
#pragma once
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <tuple>

#include "algorithms/hits.hpp"
#include "algorithms/pagerank.hpp"
#include "algorithms/random_walk_restart.hpp"
#include "engine/graph_stats.hpp"
#include "tests/reference/oracle.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {

/// How a run is cut up; results must not depend on it (but on the kernel, in the last bits).
struct Setup {
  int ranks = 1;
  int threads = 1;
  KernelKind kernel = KernelKind::tile_composite;
  OrderRequest order = OrderRequest::automatic;
};

/// The project's graph of an oracle's: edges must be distinct.
inline Graph graph_of(const OracleGraph& oracle, bool weighted) {
  std::vector<std::tuple<VertexId, VertexId, double>> rows;  // target, source
  for (const OracleEdge& e : oracle.edges)
    rows.emplace_back(static_cast<VertexId>(e.target), static_cast<VertexId>(e.source), e.weight);
  std::sort(rows.begin(), rows.end());
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (const auto& [target, source, weight] : rows) edges.emplace_back(source, target);
  Graph graph = sample_graph(edges, range_labels(oracle.num_vertices, 0), weighted);
  for (std::size_t e = 0; weighted && e < rows.size(); ++e) graph.weights[e] = std::get<2>(rows[e]);
  return graph;
}

/// Links of a graph without weights, as the oracle has them.
inline OracleGraph oracle_of(const Graph& graph) {
  OracleGraph oracle{graph.num_vertices, {}};
  for (std::size_t v = 0; v < graph.num_vertices; ++v)
    for (EdgeOffset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e)
      oracle.edges.push_back({graph.col_indices[e], v});
  return oracle;
}

/// Runs `work(block of the graph, comm)` on all ranks; the result of rank 0. All ranks must have the same
/// scores, which `scores_of` takes from a result.
template <class Result, class ScoresOf>
Result run_on_ranks(const Graph& graph, const Setup& setup, const ScoresOf& scores_of,
                    const std::function<Result(const Graph&, Communicator&)>& work) {
  std::vector<Result> results(static_cast<std::size_t>(setup.ranks));
  run_ranks(setup.ranks, [&](Communicator& comm) {
    omp_set_num_threads(setup.threads);
    results[static_cast<std::size_t>(comm.rank())] = work(block_of(graph, comm), comm);
  });
  for (const Result& result : results) EXPECT_EQ(scores_of(result), scores_of(results[0]));
  return results[0];
}

/// The best of all scores, as a sort has them.
inline BestScores first_of_sorted(const std::vector<double>& scores, std::uint64_t count) {
  BestScores best;
  for (std::size_t v = 0; v < scores.size(); ++v) best.vertices.push_back(static_cast<VertexId>(v));
  std::stable_sort(best.vertices.begin(), best.vertices.end(),
                   [&](VertexId a, VertexId b) { return scores[a] > scores[b]; });
  best.vertices.resize(std::min<std::uint64_t>(count, scores.size()));
  for (const VertexId v : best.vertices) best.scores.push_back(scores[v]);
  return best;
}

template <class S = double>
PageRankResult run_pagerank(const Graph& graph, const PageRankOptions& options, const Setup& setup = {}) {
  return run_on_ranks<PageRankResult>(
      graph, setup,
      [](const PageRankResult& r) { return std::tuple(r.scores, r.best.vertices, r.best.scores); },
      [&](const Graph& block, Communicator& comm) {
        const auto backend = make_backend<S>("cpu");
        auto op =
            SpmvOperator<S>::in_edges(block, {.kernel = setup.kernel, .order = setup.order}, *backend, comm);
        return pagerank(op, out_weights(block, comm), options);
      });
}

inline HitsOptions hits_options(StopRule stop, ScoreNorm norm = ScoreNorm::sum) {
  HitsOptions options;
  options.stop = stop;
  options.normalize = norm;
  return options;
}

template <class S = double>
HitsResult run_hits(const Graph& graph, const HitsOptions& options, const Setup& setup = {},
                    HitsUpdate update = HitsUpdate::alternating) {
  return run_on_ranks<HitsResult>(
      graph, setup,
      [](const HitsResult& r) {
        return std::tuple(r.authority, r.hub, r.best.vertices, r.best.scores, r.hubs_of_best);
      },
      [&](const Graph& block, Communicator& comm) {
        const auto backend = make_backend<S>("cpu");
        const OperatorOptions how{.kernel = setup.kernel, .order = setup.order};
        if (update == HitsUpdate::block) {
          auto op = SpmvOperator<S>::hits_block(block, how, *backend, comm);
          return hits_block(op, options);
        }
        auto [to_authority, to_hub] = SpmvOperator<S>::in_and_out_edges(block, how, *backend, comm);
        return hits(to_authority, to_hub, options);
      });
}

/// `graph` must have both directions of each edge.
template <class S = double>
std::vector<RwrResult> run_walks(const Graph& graph, const std::vector<VertexId>& queries,
                                 const RwrOptions& options, const Setup& setup = {}) {
  using Results = std::vector<RwrResult>;
  return run_on_ranks<Results>(
      graph, setup,
      [](const Results& results) {
        std::vector<std::tuple<std::vector<double>, std::vector<VertexId>, std::vector<double>>> scores;
        for (const RwrResult& r : results) scores.emplace_back(r.scores, r.best.vertices, r.best.scores);
        return scores;
      },
      [&](const Graph& block, Communicator& comm) {
        const auto backend = make_backend<S>("cpu");
        auto op =
            SpmvOperator<S>::in_edges(block, {.kernel = setup.kernel, .order = setup.order}, *backend, comm);
        return random_walk_restart(op, out_weights(block, comm), queries, options);
      });
}

/// The same of an edge and of its reverse.
inline void put_weights(OracleGraph& graph) {
  for (OracleEdge& e : graph.edges)
    e.weight = 0.25 + std::fmod(static_cast<double>((e.source + 1) * (e.target + 1)) * 0.37, 3.0);
}

/// Distinct edges, skewed towards small ids, some vertices without out- or in-edges.
inline OracleGraph random_oracle_graph(unsigned seed, std::size_t n, std::size_t num_edges, bool weighted,
                                       bool symmetric = false) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < num_edges; ++i) {
    const auto u = static_cast<std::size_t>(std::pow(uniform(random), 2) * static_cast<double>(n));
    const auto v = static_cast<std::size_t>(std::pow(uniform(random), 3) * static_cast<double>(n));
    pairs.emplace(u, v);
    if (symmetric) pairs.emplace(v, u);
  }
  OracleGraph graph{n, {}};
  for (const auto& [u, v] : pairs) graph.edges.push_back({u, v, 1});
  if (weighted) put_weights(graph);
  return graph;
}

inline StopRule until(double tolerance, int max_iterations = 100000) {
  return {.tolerance = tolerance, .norm = Norm::l1, .max_iterations = max_iterations, .fixed_iterations = 0};
}
inline StopRule steps(int count) {
  StopRule rule;
  rule.fixed_iterations = count;
  return rule;
}

inline PageRankOptions pagerank_options(double damping, StopRule stop) {
  PageRankOptions options;
  options.damping = damping;
  options.stop = stop;
  return options;
}
inline std::vector<double> uniform_jump(std::size_t n) {
  return std::vector<double>(n, 1.0 / static_cast<double>(n));
}

inline double total(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}

}  // namespace tessera::test
