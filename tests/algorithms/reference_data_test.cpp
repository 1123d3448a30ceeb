// Real graphs with answers of an independent program, read from their files and ranked on every backend that
// answers with every kernel, on 1 and 4 ranks of the CPU, on 1, 2, 4, ... GPUs and on more ranks than GPUs
// (the same bits): PageRank and RWR to 1e-10 in f64 and 1e-6 in f32 (L1), HITS to 1e-8 in f64. The answers
// hold the best hundred scores and checksums over all; an L1 error d moves the sum by at most d and the
// others by 2 d.
#include "tests/support/reference_data.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "algorithms/hits.hpp"
#include "algorithms/pagerank.hpp"
#include "algorithms/random_walk_restart.hpp"
#include "engine/graph_builder.hpp"
#include "engine/graph_stats.hpp"
#include "engine/io/label_file.hpp"
#include "engine/load_graph.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/linked_gpus.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

const std::string kManyMore = TESSERA_REFERENCE_DATA;

StopRule until(double tolerance) {
  return {.tolerance = tolerance, .norm = Norm::l1, .max_iterations = 20000, .fixed_iterations = 0};
}

/// Where and how a graph is ranked.
struct Place {
  std::string backend;
  KernelKind kernel;
  int ranks;
};
/// Places with one rank come before those with more that must give the same bits.
std::vector<Place> places() {
  std::vector<Place> all;
  for (const std::string& name : tested_backends())
    for (const KernelKind kernel : {KernelKind::tile_composite, KernelKind::csr, KernelKind::tile_messages}) {
      all.push_back({name, kernel, 1});
      // tile-messages is slow there; same_bits_test has it on several ranks
      if (name == "cpu" && kernel != KernelKind::tile_messages) all.push_back({name, kernel, 4});
    }
  return all;
}
std::vector<Place> places_of_several_gpus() {
  std::vector<Place> all;
  for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr})
    for (int ranks = 1; ranks <= num_devices(); ranks *= 2) all.push_back({"cuda", kernel, ranks});
  return all;
}

/// More ranks than GPUs: vectors travel through the host.
std::vector<Place> places_of_shared_gpus() {
  std::vector<Place> all;
  for (const KernelKind kernel : {KernelKind::tile_messages, KernelKind::csr})
    for (const int ranks : {1, std::max(4, 2 * num_devices())}) all.push_back({"cuda", kernel, ranks});
  return all;
}

/// A backend of its own, or one of a group of GPUs.
template <class S>
class PlaceBackend {
 public:
  PlaceBackend(const Place& place, Communicator& comm) {
    const int devices = place.backend == "cpu" ? 0 : num_devices();
    if (devices >= 2 && place.ranks <= devices) {
      shared_ = &LinkedGpus<S>::of(comm);
    } else {
      if (devices > 0) use_device(comm.rank() % devices);
      own_ = make_backend<S>(place.backend);
    }
  }
  Backend<S>& operator*() const { return own_ != nullptr ? *own_ : *shared_; }

 private:
  std::unique_ptr<Backend<S>> own_;
  Backend<S>* shared_ = nullptr;
};

using Answers = std::vector<ReferenceAnswer>;
using Scores = std::vector<double>;
/// Scores in original order, one vector an answer.
using Ranking = std::function<std::vector<Scores>(const Answers&, const Graph&, const Place&, Communicator&)>;

/// L1 over the hundred best, and the checksums over all.
void compare(const ReferenceAnswer& answer, const Scores& scores, const Graph& graph, double allowed,
             Communicator& comm) {
  std::vector<std::string> labels;
  for (const auto& [label, score] : answer.top) labels.push_back(label);
  const std::vector<VertexId> ids = find_labels(labels, graph.labels, comm);
  double distance = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_NE(ids[i], kNoVertex) << labels[i];
    distance += std::abs(scores[ids[i]] - answer.top.at(labels[i]));
  }
  EXPECT_LE(distance, allowed) << answer.name;
  double sum = 0, sum_squares = 0, sum_positions = 0, largest = 0;
  const auto n = static_cast<double>(scores.size());
  for (std::size_t k = 0; k < scores.size(); ++k) {
    sum += scores[k];
    sum_squares += scores[k] * scores[k];
    sum_positions += scores[k] * static_cast<double>(k + 1) / n;
    largest = std::max(largest, scores[k]);
  }
  EXPECT_NEAR(sum, answer.sum, allowed) << answer.name;
  EXPECT_NEAR(sum_squares, answer.sum_squares, 2 * allowed) << answer.name;
  EXPECT_NEAR(sum_positions, answer.sum_positions, allowed) << answer.name;
  EXPECT_NEAR(largest, answer.largest, allowed) << answer.name;
}

void let_gpus_go() {
  LinkedGpus<float>::clear();
  LinkedGpus<double>::clear();
}

class ReferenceData : public testing::TestWithParam<ReferenceCase> {
 protected:
  ReferenceData() : reference_(load_reference(GetParam())) {}
  /// Checks of memory would take minutes there, and see no more than on smaller ones.
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    constexpr std::uintmax_t kMostBytes = 1 << 18;
    if (std::filesystem::file_size(reference_.options.path) > kMostBytes)
      GTEST_SKIP() << "graphs this large are left to the optimised tests";
#endif
  }
  /// A group of GPUs that has failed may be of no use to the next test.
  void TearDown() override {
    if (HasFailure()) let_gpus_go();
  }

  bool is_undirected() const { return reference_.options.undirected; }
  /// Answers whose name starts so.
  Answers answers_for(const std::string& algorithm) const {
    Answers answers;
    for (const ReferenceAnswer& answer : reference_.answers)
      if (answer.name.starts_with(algorithm)) answers.push_back(answer);
    return answers;
  }

  /// Every answer of the algorithm at every place; ranks must not change a bit.
  void check(const std::string& algorithm, double allowed, const Ranking& ranking,
             const std::vector<Place>& where = places()) const {
    const Answers answers = answers_for(algorithm);
    if (answers.empty()) return;  // who asks for this algorithm alone skips
    GraphOptions options = reference_.options;
    if (algorithm == "rwr") options.undirected = true;
    std::vector<Scores> on_one_rank;
    for (const Place& place : where) {
      std::vector<Scores> scores;
      run_ranks(place.ranks, [&](Communicator& comm) {
        omp_set_num_threads(place.ranks == 1 ? 2 : 1);
        const Graph graph = load_graph(options, comm);
        const std::vector<Scores> mine = ranking(answers, graph, place, comm);
        ASSERT_EQ(mine.size(), answers.size());
        for (std::size_t i = 0; i < answers.size(); ++i) compare(answers[i], mine[i], graph, allowed, comm);
        if (comm.is_root()) scores = mine;
      });
      if (place.ranks == 1)
        on_one_rank = scores;
      else
        EXPECT_EQ(scores, on_one_rank);
    }
  }

 private:
  ReferenceGraph reference_;
};

template <class S>
constexpr double kTolerance = sizeof(S) == 8 ? 1e-13 : 3e-8;

template <class S, bool kAccelerates = false>
std::vector<Scores> pagerank_scores(const Answers& answers, const Graph& graph, const Place& place,
                                    Communicator& comm) {
  const PlaceBackend<S> backend(place, comm);
  auto op = SpmvOperator<S>::in_edges(graph, {.kernel = place.kernel}, *backend, comm);
  PageRankOptions options;
  options.stop = until(kTolerance<S>);
  options.accelerate = kAccelerates;
  std::vector<Scores> scores;
  for (const ReferenceAnswer& answer : answers) {
    options.dangling = answer.name == "pagerank_dropped" ? Dangling::drop : Dangling::uniform;
    scores.push_back(pagerank(op, out_weights(graph, comm), options).scores);
  }
  return scores;
}

template <class S>
std::vector<Scores> walk_scores(const Answers& answers, const Graph& graph, const Place& place,
                                Communicator& comm) {
  const PlaceBackend<S> backend(place, comm);
  auto op = SpmvOperator<S>::in_edges(graph, {.kernel = place.kernel}, *backend, comm);
  RwrOptions options;
  options.stop = until(kTolerance<S>);
  std::vector<std::string> queries;
  for (const ReferenceAnswer& answer : answers) queries.push_back(answer.query);
  const std::vector<VertexId> ids = find_labels(queries, graph.labels, comm);
  std::vector<Scores> scores;
  for (const RwrResult& walk : random_walk_restart(op, out_weights(graph, comm), ids, options))
    scores.push_back(walk.scores);
  return scores;
}

std::vector<Scores> hits_scores(const Answers& answers, const Graph& graph, const Place& place,
                                Communicator& comm) {
  const PlaceBackend<double> backend(place, comm);
  auto [to_authority, to_hub] =
      SpmvOperator<double>::in_and_out_edges(graph, {.kernel = place.kernel}, *backend, comm);
  HitsOptions options;
  options.stop = until(1e-13);
  const HitsResult result = hits(to_authority, to_hub, options);
  EXPECT_TRUE(result.unique);  // sigma2 / sigma1 is at most 0.974 in all of them
  std::vector<Scores> scores;
  for (const ReferenceAnswer& answer : answers)
    scores.push_back(answer.name == "hits_hub" ? result.hub : result.authority);
  return scores;
}

TEST_P(ReferenceData, PageRankInDoublePrecision) { check("pagerank", 1e-10, pagerank_scores<double>); }
TEST_P(ReferenceData, PageRankInSinglePrecision) { check("pagerank", 1e-6, pagerank_scores<float>); }
TEST_P(ReferenceData, AcceleratedPageRank) {
  if (!is_undirected()) GTEST_SKIP() << "links one way";
  check("pagerank", 1e-10, pagerank_scores<double, true>);
  check("pagerank", 1e-6, pagerank_scores<float, true>);
}
TEST_P(ReferenceData, WalksInDoublePrecision) {
  if (answers_for("rwr").empty()) GTEST_SKIP() << "no answers of walks";
  check("rwr", 1e-10, walk_scores<double>);
}
TEST_P(ReferenceData, WalksInSinglePrecision) {
  if (answers_for("rwr").empty()) GTEST_SKIP() << "no answers of walks";
  check("rwr", 1e-6, walk_scores<float>);
}
TEST_P(ReferenceData, Hits) { check("hits", 1e-8, hits_scores); }
TEST_P(ReferenceData, OnSeveralGpus) {
  if (num_devices() < 2) GTEST_SKIP() << num_devices() << " GPUs here, fewer than 2";
  const auto where = places_of_several_gpus();
  check("pagerank", 1e-10, pagerank_scores<double>, where);
  check("pagerank", 1e-6, pagerank_scores<float>, where);
  if (is_undirected()) check("pagerank", 1e-6, pagerank_scores<float, true>, where);
  check("rwr", 1e-10, walk_scores<double>, where);
  check("rwr", 1e-6, walk_scores<float>, where);
  check("hits", 1e-8, hits_scores, where);
}

TEST_P(ReferenceData, OnRanksThatShareGpus) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  const auto where = places_of_shared_gpus();
  check("pagerank", 1e-10, pagerank_scores<double>, where);
  check("rwr", 1e-6, walk_scores<float>, where);
  check("hits", 1e-8, hits_scores, where);
}

class GpusAreLetGo : public testing::Environment {
  void TearDown() override { let_gpus_go(); }
};
const testing::Environment* const gpus_are_let_go = testing::AddGlobalTestEnvironment(new GpusAreLetGo);

std::string name_of(const testing::TestParamInfo<ReferenceCase>& info) {
  std::string name = info.param.id;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, ReferenceData,
    testing::ValuesIn(reference_cases({std::string(TESSERA_TEST_DATA) + "/reference", kManyMore})), name_of);

/// Label and score a line.
std::map<std::string, double> peer_answer(const std::string& name) {
  std::ifstream file(std::string(TESSERA_TEST_DATA) + "/reference/known/" + name);
  std::map<std::string, double> scores;
  std::string label;
  for (double score; file >> label >> score;) scores[label] = score;
  return scores;
}

TEST(PeerAnswers, TwoStepsOfPageRankAreThoseOfTheGraphalyticsExamples) {
  for (const std::string name : {"example-directed", "example-undirected"}) {
    const auto expected = peer_answer(name + "-PR");
    ASSERT_GE(expected.size(), 9u);
    GraphOptions input;
    input.path = std::string(TESSERA_TEST_DATA) + "/reference/graphs/ldbc-" + name + "/" + name + ".e";
    input.undirected = name == "example-undirected";
    run_ranks(2, [&](Communicator& comm) {
      const Graph graph = load_graph(input, comm);
      const auto backend = make_backend<double>("cpu");
      auto op = SpmvOperator<double>::in_edges(graph, {}, *backend, comm);
      PageRankOptions options;
      options.stop.fixed_iterations = 2;
      const Scores scores = pagerank(op, out_weights(graph, comm), options).scores;
      ASSERT_EQ(scores.size(), expected.size());
      for (const auto& [label, score] : expected) {
        const VertexId id = find_labels(std::vector{label}, graph.labels, comm)[0];
        ASSERT_NE(id, kNoVertex) << label;
        EXPECT_NEAR(scores[id], score, 1e-15) << label;
      }
    });
  }
}

}  // namespace
}  // namespace tessera::test
