// One PageRank step on several GPUs and its parts, on an R-MAT graph (edge factor 16, scattered ids):
// mpirun -n GPUS ranks_bench SCALE... prints one JSON object a line. Medians over steps of the slowest rank.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>

#include "algorithms/pagerank.hpp"
#include "engine/device_ranks.hpp"
#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/graph_stats.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/seconds_since.hpp"
#include "partition/mpi_communicator.hpp"
#include "tests/support/link_devices.hpp"

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// Median, smallest and largest, in ms.
Json summary(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {1e3 * seconds[seconds.size() / 2], 1e3 * seconds.front(), 1e3 * seconds.back()};
}

/// Rounds of several calls; each round is as long as on the slowest rank.
Json time_together(Communicator& comm, const std::function<void()>& work,
                   const std::function<void()>& finish) {
  constexpr int kRounds = 20, kCalls = 5;
  std::vector<double> seconds;
  for (int round = -2; round < kRounds; ++round) {
    comm.barrier();
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) work();
    finish();
    const double mine = all_max(comm, seconds_since(start));
    if (round >= 0) seconds.push_back(mine / kCalls);
  }
  return summary(seconds);
}

/// 1 / out-degree, for all inputs of this rank.
Buffer<float> scale_of(const SpmvOperator<float>& op, std::span<const double> out_weights) {
  std::vector<double> scale(out_weights.size());
  for (std::size_t v = 0; v < scale.size(); ++v) scale[v] = out_weights[v] > 0 ? 1 / out_weights[v] : 0;
  return op.to_local(scale);
}

Json measure_pagerank(SpmvOperator<float>& op, std::span<const double> weights) {
  std::vector<double> steps;
  auto last = Clock::now();
  PageRankOptions options;
  options.stop.fixed_iterations = 40;
  options.observer = [&](const IterationProgress&) {
    steps.push_back(seconds_since(last));
    last = Clock::now();
    return true;
  };
  pagerank(op, weights, options);
  steps.erase(steps.begin(), steps.begin() + 5);
  return summary(steps);
}

/// Medians of a product, an exchange, and both in one, to `line`.
void time_product_and_exchange(SpmvOperator<float>& op, const Buffer<float>& scale_factors,
                               Communicator& comm, Json& line) {
  const Buffer<float> score = op.to_local(std::vector<double>(op.num_rows(), 1e-6));
  Buffer<float> x = op.make_x();
  Buffer<double> y = op.make_y();
  const auto finish = [&] {
    op.exchange_seconds();
    op.backend().synchronize();
  };
  const auto time = [&](bool exchanges, bool multiplies) {
    return time_together(
        comm,
        [&] {
          if (exchanges) op.replicate(score, &scale_factors, x);
          if (multiplies)
            op.apply(x, y);
          else
            op.exchange_seconds();
        },
        finish);
  };
  op.replicate(score, &scale_factors, x);
  finish();
  line["product_ms"] = time(false, true);
  line["exchange_ms"] = time(true, false);
  line["both_ms"] = time(true, true);
}

void measure(int scale, Communicator& comm) {
  const auto start = Clock::now();
  Graph graph = build_graph(generate_edges({.scale = scale}, comm), {}, comm);
  const double made = seconds_since(start);
  const auto backend = make_backend<float>("cuda");
  if (comm.size() > 1) test::link_devices(*backend, comm);
  const Buffer<double> weights = out_weights(graph, comm);
  auto op = SpmvOperator<float>::in_edges(graph, {.kernel = KernelKind::tile_messages}, *backend, comm);
  const double packed = seconds_since(start) - made;
  Json line = {{"scale", scale},
               {"edges", graph.num_edges},
               {"gpus", comm.size()},
               {"device", backend->description()},
               {"exchange", op.exchange_kind()},
               {"exchanged_bytes", op.stats().exchanged_bytes},
               {"row_pieces", op.stats().num_row_pieces},
               {"matrix_bytes", op.stats().matrix_bytes},
               {"nonzero_imbalance", op.stats().nonzero_imbalance},
               {"generate_seconds", made},
               {"pack_seconds", packed}};
  time_product_and_exchange(op, scale_of(op, weights), comm, line);
  line["pagerank_step_ms"] = measure_pagerank(op, weights);
  if (comm.is_root()) std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  tessera::MpiSession mpi(argc, argv);
  const auto comm = mpi.world();
  try {
    const std::string problem = tessera::assign_devices(*comm);
    if (!problem.empty()) throw tessera::ResourceError(problem);
    for (int i = 1; i < argc; ++i) tessera::bench::measure(std::atoi(argv[i]), *comm);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranks_bench: %s\n", error.what());
    std::_Exit(1);
  }
  mpi.finish();
}
