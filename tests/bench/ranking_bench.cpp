// Steps of RWR and HITS on a GPU beside the same formulas on cuSPARSE's products, in one process:
// ranking_bench GRAPH... prints one JSON object a line (GRAPH as for spmv_bench). A step of the vendor is its
// product, the better of CSR_ALG1 and CSR_ALG2 on the graph as given, and our updates on rows in order. A
// step of 25 walks that do not go together (`together`: false) is 25 times one of any of them.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "algorithms/hits.hpp"
#include "algorithms/random_walk_restart.hpp"
#include "engine/graph_stats.hpp"
#include "kernels/cuda/cuda_vector_ops.hpp"
#include "kernels/cuda/device_sums.hpp"
#include "kernels/pair_run.hpp"
#include "tests/bench/bench_graph.hpp"
#include "tests/bench/cusparse_csr.hpp"
#include "tests/bench/device_timer.hpp"

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;
using S = float;

constexpr int kSteps = 30, kFirstCounted = 5;
/// Steps of HITS whose mean counts as one: on small graphs a run of as many as there may be, with its start.
constexpr int kPairsTogether = PairRun::kMostSteps / 2, kPairSteps = 6 * kPairsTogether;
constexpr std::size_t kQueries = 25;

/// Takes the times between steps as an algorithm's observer, and gives their median.
class StepClock {
 public:
  /// together: of so many steps the mean counts as one.
  explicit StepClock(int together = 1) : together_(together) {}

  IterationObserver observer() {
    last_ = Clock::now();
    return [this](const IterationProgress& progress) {
      const auto now = Clock::now();
      // A first step comes after what a walk needs besides.
      const bool is_one = num_counted_++ >= kFirstCounted && progress.iteration > 1;
      if (!is_one) num_together_ = 0;
      if (num_together_ == 0) begin_ = last_;
      last_ = now;
      if (!is_one || ++num_together_ < together_) return true;
      ms_.push_back(std::chrono::duration<double, std::milli>(now - begin_).count() / together_);
      num_together_ = 0;
      return true;
    };
  }
  /// Median, least and most, as if so many steps were one.
  Json median(double steps = 1) {
    std::sort(ms_.begin(), ms_.end());
    return {steps * ms_.at(ms_.size() / 2), steps * ms_.front(), steps * ms_.back()};
  }

 private:
  using Clock = std::chrono::steady_clock;
  const int together_;
  Clock::time_point begin_, last_;
  int num_counted_ = 0, num_together_ = 0;
  std::vector<double> ms_;
};

/// One product of the vendor with the in-edges of `graph`, in ms.
double vendor_product(const Graph& graph) {
  std::vector<VertexId> order(graph.num_vertices);
  std::iota(order.begin(), order.end(), VertexId{0});
  const RenamedCsr csr = renamed(graph, order);
  CusparseCsr<S> vendor(csr.row_offsets, csr.col_indices, csr.values<S>(),
                        std::vector<S>(order.size(), S{1e-3f}));
  double best = 1e30;
  for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    vendor.prepare(algorithm);
    best = std::min(best, time_device([&] { vendor.apply(algorithm); }).median_ms);
  }
  return best;
}

/// Vectors of `num_rows` rows in order, as a vendor's product leaves them.
struct InOrder {
  InOrder(Backend<S>& backend, std::uint64_t num_rows)
      : y(backend.allocate<double>(num_rows)),
        score(backend.allocate<S>(num_rows)),
        scale(backend.allocate<S>(num_rows)),
        x(backend.allocate<S>(num_rows)),
        query(backend.allocate<VertexId>(1)) {
    backend.clear(y);
    backend.clear(score);
    backend.clear(scale);
    backend.clear(query);
  }
  Buffer<double> y;
  Buffer<S> score, scale, x;
  Buffer<VertexId> query;
};

Json walk_steps(const Graph& graph, Backend<S>& backend, Communicator& comm, std::span<const double> weights,
                std::size_t num_queries, RwrOptions options = {.stop = {.fixed_iterations = kSteps}}) {
  auto op = SpmvOperator<S>::in_edges(
      graph, {.num_vectors = static_cast<unsigned>(num_queries), .for_runs = false}, backend, comm);
  std::vector<VertexId> queries;
  for (std::size_t v = 0; v < weights.size() && queries.size() < num_queries; ++v)
    if (weights[v] > 0) queries.push_back(static_cast<VertexId>(v));
  StepClock clock;
  options.batch_size = static_cast<unsigned>(num_queries);
  options.observer = clock.observer();
  int most_steps = 0, all_steps = 0;
  for (const RwrResult& walk : random_walk_restart<S>(op, weights, queries, options)) {
    most_steps = std::max(most_steps, walk.report.iterations);
    all_steps += walk.report.iterations;
  }
  // Where walks go one by one, a step of all is one of each.
  const bool together = op.most_vectors() > 1;
  return {{"kernel", to_string(op.plan().kernel)},
          {"together", together},
          {"most_steps", most_steps},
          {"steps_of_all", all_steps},
          {"step_ms", clock.median(together ? 1.0 : static_cast<double>(num_queries))}};
}

Json measure_walks(const Graph& directed, Communicator& comm) {
  const Graph graph = symmetrised(directed, Duplicates::merge, comm);
  const Buffer<double> weights = out_weights(graph, comm);
  const auto backend = make_backend<S>("cuda");
  Json result = {{"edges", graph.num_edges}};
  result["one_query"] = walk_steps(graph, *backend, comm, weights, 1);
  result["block"] = walk_steps(graph, *backend, comm, weights, kQueries);
  // To the default tolerance: their steps times the median of one. The vendor's are the plain ones.
  result["plain_to_tolerance"] = walk_steps(graph, *backend, comm, weights, kQueries, {.accelerate = false});
  result["to_tolerance"] = walk_steps(graph, *backend, comm, weights, kQueries, RwrOptions());
  InOrder vectors(*backend, graph.num_vertices);
  const double update =
      time_device([&] {
        backend->walk_update({0.9, 0.1, vectors.query, vectors.scale, ExactScale(4.0)}, vectors.y, {},
                             vectors.score, {&vectors.x, {.count = vectors.x.size()}});
      }).median_ms;
  const double product = vendor_product(graph);
  const double block = result["block"]["step_ms"][0], one = result["one_query"]["step_ms"][0];
  result["cusparse"] = {{"product_ms", product}, {"update_ms", update}};
  result["times_own_queries"] = kQueries * one / block;
  result["times_cusparse_queries"] = kQueries * (product + update) / block;
  const Json& ours = result["to_tolerance"];
  const double our_steps =
      ours["together"] ? ours["most_steps"].get<double>() : ours["steps_of_all"].get<double>() / kQueries;
  result["times_cusparse_to_tolerance"] = result["plain_to_tolerance"]["steps_of_all"].get<double>() *
                                          (product + update) / (our_steps * ours["step_ms"][0].get<double>());
  return result;
}

Json measure_hits(const Graph& graph, Communicator& comm) {
  const auto backend = make_backend<S>("cuda");
  Json result;
  {
    auto [to_authority, to_hub] = SpmvOperator<S>::in_and_out_edges(graph, {}, *backend, comm);
    StepClock clock(kPairsTogether);
    HitsOptions options;
    options.stop.fixed_iterations = kPairSteps;
    options.observer = clock.observer();
    hits(to_authority, to_hub, options);
    result["step_ms"] = clock.median();
  }
  InOrder vectors(*backend, graph.num_vertices);
  const ExactScale bound(4.0);
  cuda::SumsMailbox mailbox;  // of the norm's sums, for which no host waits
  const double update = time_device([&] {
                          cuda::norm_sums(vectors.y.data(), vectors.y.size(), true, bound,
                                          {ScoreNorm::l2, 1, 1}, nullptr, mailbox.open(1));
                          backend->rank_update({.link = 0.5}, vectors.y, {}, {}, {}, bound, false,
                                               vectors.score, {&vectors.x, {.count = vectors.x.size()}});
                        }).median_ms;
  const double products = vendor_product(graph) + vendor_product(transposed(graph, comm));
  const double step = result["step_ms"][0];
  result["cusparse"] = {{"products_ms", products}, {"updates_ms", 2 * update}};
  result["times_cusparse"] = (products + 2 * update) / step;
  return result;
}

void measure(const std::string& name) {
  const auto comm = make_single_rank();
  const Graph graph = bench_graph(name, *comm);
  if (graph.num_edges > 0x3fffffff) throw std::runtime_error("cuSPARSE is measured with 32-bit offsets");
  Json line = {{"graph", name.substr(name.rfind('/') + 1)},
               {"vertices", graph.num_vertices},
               {"edges", graph.num_edges},
               {"rwr", measure_walks(graph, *comm)},
               {"hits", measure_hits(graph, *comm)}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) tessera::bench::measure(argv[i]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranking_bench: %s\n", error.what());
    return 1;
  }
}
