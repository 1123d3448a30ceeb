// Real graphs with answers of an independent program, read from their files and ranked on every backend that
// answers, on the CPU also on 4 ranks:
// PageRank and RWR to 1e-10 in f64 and 1e-6 in f32 (L1), HITS to 1e-8 in f64. The answers hold the best
// hundred scores and checksums over all; an L1 error d moves the sum by at most d and the others by 2 d.
#include "tests/support/reference_data.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "algorithms/hits.hpp"
#include "algorithms/pagerank.hpp"
#include "algorithms/random_walk_restart.hpp"
#include "engine/graph_builder.hpp"
#include "engine/graph_stats.hpp"
#include "engine/io/label_file.hpp"
#include "engine/load_graph.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

const std::string kManyMore = TESSERA_REFERENCE_DATA;

StopRule until(double tolerance) {
  return {.tolerance = tolerance, .norm = Norm::l1, .max_iterations = 20000, .fixed_iterations = 0};
}

class ReferenceData : public testing::TestWithParam<ReferenceCase> {
 protected:
  ReferenceData() : reference_(load_reference(GetParam())) {}

  /// Every answer of this name, by `work(answer, graph, comm)`, which gives scores in original order.
  template <class Work>
  void check(const std::string& name, int ranks, double allowed, const Work& work) {
    for (const ReferenceAnswer& answer : reference_.answers) {
      if (answer.name != name) continue;
      run_ranks(ranks, [&](Communicator& comm) {
        omp_set_num_threads(ranks == 1 ? 2 : 1);
        GraphOptions options = reference_.options;
        if (name == "rwr") options.undirected = true;
        const Graph graph = load_graph(options, comm);
        compare(answer, work(answer, graph, comm), graph, allowed, comm);
      });
    }
  }

 private:
  static void compare(const ReferenceAnswer& answer, const std::vector<double>& scores, const Graph& graph,
                      double allowed, Communicator& comm) {
    std::vector<std::string> labels;
    for (const auto& [label, score] : answer.top) labels.push_back(label);
    const std::vector<VertexId> ids = find_labels(labels, graph.labels, comm);
    double distance = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_NE(ids[i], kNoVertex) << labels[i];
      distance += std::abs(scores[ids[i]] - answer.top.at(labels[i]));
    }
    EXPECT_LE(distance, allowed);
    double sum = 0, sum_squares = 0, sum_positions = 0, largest = 0;
    const auto n = static_cast<double>(scores.size());
    for (std::size_t k = 0; k < scores.size(); ++k) {
      sum += scores[k];
      sum_squares += scores[k] * scores[k];
      sum_positions += scores[k] * static_cast<double>(k + 1) / n;
      largest = std::max(largest, scores[k]);
    }
    EXPECT_NEAR(sum, answer.sum, allowed);
    EXPECT_NEAR(sum_squares, answer.sum_squares, 2 * allowed);
    EXPECT_NEAR(sum_positions, answer.sum_positions, allowed);
    EXPECT_NEAR(largest, answer.largest, allowed);
  }

  ReferenceGraph reference_;
};

/// Where a graph is ranked.
struct Place {
  std::string backend;
  int ranks;
};
std::vector<Place> places() {
  std::vector<Place> all{{"cpu", 1}, {"cpu", 4}};
  for (const std::string& name : usable_backends())
    if (name != "cpu") all.push_back({name, 1});
  return all;
}

template <class S>
constexpr double kTolerance = sizeof(S) == 8 ? 1e-13 : 3e-8;

template <class S>
std::vector<double> pagerank_scores(const Graph& graph, Dangling rule, const Place& place,
                                    Communicator& comm) {
  const auto backend = make_backend<S>(place.backend);
  auto op = SpmvOperator<S>::in_edges(graph, {}, *backend, comm);
  PageRankOptions options;
  options.stop = until(kTolerance<S>);
  options.dangling = rule;
  return pagerank(op, out_weights(graph, comm), options).scores;
}

template <class S>
std::vector<double> walk_scores(const Graph& graph, const std::string& query, const Place& place,
                                Communicator& comm) {
  const auto backend = make_backend<S>(place.backend);
  auto op = SpmvOperator<S>::in_edges(graph, {}, *backend, comm);
  RwrOptions options;
  options.stop = until(kTolerance<S>);
  const std::vector<VertexId> ids = find_labels(std::vector{query}, graph.labels, comm);
  return random_walk_restart(op, out_weights(graph, comm), ids, options)[0].scores;
}

TEST_P(ReferenceData, PageRankInBothPrecisionsAndOnFourRanks) {
  const std::pair<std::string, Dangling> rules[] = {{"pagerank_uniform", Dangling::uniform},
                                                    {"pagerank_dropped", Dangling::drop}};
  for (const auto& [name, dangling] : rules)
    for (const Place& place : places()) {
      const auto in_precision = [&, rule = dangling](auto zero) {
        return [&, rule](const ReferenceAnswer&, const Graph& graph, Communicator& comm) {
          return pagerank_scores<decltype(zero)>(graph, rule, place, comm);
        };
      };
      check(name, place.ranks, 1e-10, in_precision(double{}));
      check(name, place.ranks, 1e-6, in_precision(float{}));
    }
}

TEST_P(ReferenceData, WalksInBothPrecisionsAndOnFourRanks) {
  for (const Place& place : places()) {
    const auto in_precision = [&](auto zero) {
      return [&](const ReferenceAnswer& answer, const Graph& graph, Communicator& comm) {
        return walk_scores<decltype(zero)>(graph, answer.query, place, comm);
      };
    };
    check("rwr", place.ranks, 1e-10, in_precision(double{}));
    check("rwr", place.ranks, 1e-6, in_precision(float{}));
  }
}

TEST_P(ReferenceData, HitsOnFourRanks) {
  for (const Place& place : places())
    for (const std::string name : {"hits_authority", "hits_hub"})
      check(name, place.ranks, 1e-8, [&](const ReferenceAnswer&, const Graph& graph, Communicator& comm) {
        const auto backend = make_backend<double>(place.backend);
        auto [to_authority, to_hub] = SpmvOperator<double>::in_and_out_edges(graph, {}, *backend, comm);
        HitsOptions options;
        options.stop = until(1e-13);
        const HitsResult result = hits(to_authority, to_hub, options);
        EXPECT_TRUE(result.unique);
        return name == "hits_hub" ? result.hub : result.authority;
      });
}

std::string name_of(const testing::TestParamInfo<ReferenceCase>& info) {
  std::string name = info.param.id;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, ReferenceData,
    testing::ValuesIn(reference_cases({std::string(TESSERA_TEST_DATA) + "/reference", kManyMore})), name_of);

TEST(ReferenceFolder, IsThere) {
  if (!is_reference_folder(kManyMore))
    GTEST_SKIP() << "no graphs.tsv in " << kManyMore << ": only the graphs of the repository were compared";
}

}  // namespace
}  // namespace tessera::test
