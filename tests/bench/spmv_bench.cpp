// Products and PageRank steps on a GPU beside cuSPARSE, in one process, in the order as given and in degree
// order: spmv_bench [--planned] GRAPH... prints one JSON object a line. GRAPH is the scale of an R-MAT graph
// (edge factor 16, scattered ids; 22w: with weights), or a file, FILE*16 being 16 copies of it side by side.
// All results are compared with each other. --planned: of our forms only the one that the plan takes.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/pagerank.hpp"
#include "engine/graph_stats.hpp"
#include "engine/spmv_operator.hpp"
#include "tests/bench/bench_graph.hpp"
#include "tests/bench/cusparse_csr.hpp"
#include "tests/bench/device_timer.hpp"

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Median, smallest, largest, in ms.
Json json_of(const Times& times) { return {times.median_ms, times.smallest_ms, times.largest_ms}; }

double x_of(std::uint64_t vertex) { return 1.0 / static_cast<double>(1 + vertex * 2654435761u % 1024); }

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::abs(a[i] - b[i]);
    total += std::abs(b[i]);
  }
  return total == 0 ? difference : difference / total;
}

/// cuSPARSE on a graph renamed by `order`; its result, in original order, goes to `y`.
template <class S>
Json measure_vendor(const RenamedCsr& csr, const std::vector<VertexId>& order, std::vector<double>& y) {
  std::vector<S> x(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) x[i] = static_cast<S>(x_of(order[i]));
  CusparseCsr<S> vendor(csr.row_offsets, csr.col_indices, csr.values<S>(), x);
  Json result;
  const std::pair<const char*, cusparseSpMVAlg_t> algorithms[] = {{"csr_alg1", CUSPARSE_SPMV_CSR_ALG1},
                                                                  {"csr_alg2", CUSPARSE_SPMV_CSR_ALG2}};
  for (const auto& [name, algorithm] : algorithms) {
    vendor.prepare(algorithm);
    result[name] = json_of(time_device([&, algorithm = algorithm] { vendor.apply(algorithm); }));
  }
  const std::vector<S> renamed_y = vendor.result();
  y.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) y[order[i]] = static_cast<double>(renamed_y[i]);
  return result;
}

/// The rows of a product, in original order.
template <class S>
std::vector<double> in_original_order(const SpmvOperator<S>& op, const Buffer<double>& y) {
  std::vector<double> product(y.size()), sums(op.num_local_rows(), 0.0);
  op.backend().download(y.data(), product.data(), y.size_bytes());
  std::vector<VertexId> positions(sums.size());
  std::iota(positions.begin(), positions.end(), VertexId{0});
  if (const auto* places = op.row_places().positions; places != nullptr)
    op.backend().download(places->data(), positions.data(), places->size_bytes());
  for (std::size_t row = 0; row < sums.size(); ++row)
    if (positions[row] != kNoVertex) sums[op.local_rows()[row]] = product[positions[row]];
  return sums;
}

/// One form of ours, planned as the program plans it; `expected` is what the vendor gave.
template <class S>
Json measure_form(const Graph& graph, OperatorOptions options, const std::vector<double>& expected,
                  Communicator& comm) {
  options.table.gpu = load_device_rates(comm);
  options.for_updates = options.for_runs = false;
  options.pack_on_device = true;
  const auto backend = make_backend<S>("cuda");
  auto op = SpmvOperator<S>::in_edges(graph, options, *backend, comm);
  std::vector<double> host_x(graph.num_vertices);
  for (std::size_t v = 0; v < host_x.size(); ++v) host_x[v] = x_of(v);
  Buffer<S> x = op.make_x();
  op.replicate(op.to_local(host_x), nullptr, x);
  Buffer<double> y = op.make_y();
  Json result = {{"kernel", to_string(op.plan().kernel)},
                 {"order", to_string(op.plan().order)},
                 {"precision", sizeof(S) == 4 ? "f32" : "f64"},
                 {"ms", json_of(time_device([&] { op.apply(x, y); }))}};
  const bool tiled = op.plan().kernel != KernelKind::csr;
  result["predicted_ms"] = 1e3 * (tiled ? op.plan().predicted_tile_seconds : op.plan().predicted_csr_seconds);
  result["row_pieces"] = op.stats().num_row_pieces;
  result["padding_ratio"] = op.stats().padding_ratio;
  result["matrix_bytes"] = op.stats().matrix_bytes;
  result["relative_difference"] = relative_difference(in_original_order(op, y), expected);
  return result;
}

template <class S>
Json measure_forms(const Graph& graph, const std::vector<double>& expected, bool only_planned,
                   Communicator& comm) {
  const std::vector<OperatorOptions> others{
      {.kernel = KernelKind::tile_messages, .order = OrderRequest::by_length},
      {.kernel = KernelKind::tile_messages, .order = OrderRequest::as_given},
      {.kernel = KernelKind::tile_composite},
      {.kernel = KernelKind::csr}};
  Json forms = Json::array({measure_form<S>(graph, {}, expected, comm)});
  forms.front()["automatic"] = true;
  if (only_planned) return forms;
  for (const OperatorOptions& options : others)
    forms.push_back(measure_form<S>(graph, options, expected, comm));
  return forms;
}

/// A step of PageRank by the host's clock: of so many, as a device may go through them in one run, which
/// takes time to begin.
Times time_steps(SpmvOperator<float>& op, std::span<const double> weights) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRepeats = 21, kFewSteps = 32;
  const int num_steps = op.prepare_to_run_steps() ? RankRun::kMostSteps : kFewSteps;
  std::vector<double> steps;
  for (int i = 0; i < kRepeats; ++i) {
    PageRankOptions options;
    options.stop.fixed_iterations = 2 * num_steps;
    Clock::time_point begin, end;
    options.observer = [&](const IterationProgress& progress) {
      if (progress.iteration == num_steps) begin = Clock::now();
      if (progress.iteration == 2 * num_steps) end = Clock::now();
      return true;
    };
    pagerank(op, weights, options);
    steps.push_back(std::chrono::duration<double, std::milli>(end - begin).count() / num_steps);
  }
  std::sort(steps.begin(), steps.end());
  return {steps[steps.size() / 2], steps.front(), steps.back()};
}

/// And the update that a step on rows in order, as a vendor's product leaves them, needs beside the product.
Json measure_step(const Graph& graph, Communicator& comm) {
  const auto backend = make_backend<float>("cuda");
  OperatorOptions how;
  how.table.gpu = load_device_rates(comm);
  how.pack_on_device = true;
  auto op = SpmvOperator<float>::in_edges(graph, how, *backend, comm);
  const Times step = time_steps(op, out_weights(graph, comm).span());
  Buffer<float> score = op.to_local(std::vector<double>(op.num_rows(), 1e-6)), x = op.make_x();
  const Buffer<float> scale = op.to_local(std::vector<double>(op.num_rows(), 0.5));
  Buffer<double> y = backend->allocate<double>(op.num_local_rows());
  backend->clear(y);
  const Times update = time_device(
      [&] { backend->rank_update({}, y, {}, {}, scale, ExactScale(4.0), false, score, op.input_target(x)); });
  return {{"kernel", to_string(op.plan().kernel)},
          {"ms", json_of(step)},
          {"update_in_order_ms", json_of(update)}};
}

void measure(const std::string& name, bool only_planned) {
  const auto comm = make_single_rank();
  const Graph graph = bench_graph(name, *comm);
  if (graph.num_edges > 0x7fffffff) throw std::runtime_error("cuSPARSE is measured with 32-bit offsets");
  const Buffer<std::uint64_t> out = out_degrees(graph, *comm);
  std::vector<VertexId> order(graph.num_vertices);
  std::iota(order.begin(), order.end(), VertexId{0});
  std::vector<double> y32, y64;
  const std::string file = name.substr(name.rfind('/') + 1);
  Json line = {
      {"graph",
       is_generated(name) ? "R-MAT scale " + name.substr(0, name.find('w')) + ", edge factor 16" : file},
      {"vertices", graph.num_vertices},
      {"edges", graph.num_edges},
      {"weighted", graph.weighted},
      {"copy_bytes_per_second", copy_rate()}};
  const auto measure_cusparse = [&](const std::string& which) {
    const RenamedCsr csr = renamed(graph, order);
    line["cusparse_" + which + "_f32_ms"] = measure_vendor<float>(csr, order, y32);
    line["cusparse_" + which + "_f64_ms"] = measure_vendor<double>(csr, order, y64);
  };
  measure_cusparse("as_given");
  std::stable_sort(order.begin(), order.end(), [&](VertexId u, VertexId v) { return out[u] > out[v]; });
  measure_cusparse("degree_order");
  line["forms"] = measure_forms<float>(graph, y32, only_planned, *comm);
  for (Json& form : measure_forms<double>(graph, y64, only_planned, *comm))
    line["forms"].push_back(std::move(form));
  line["pagerank_step"] = measure_step(graph, *comm);
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  std::vector<std::string> graphs(argv + 1, argv + argc);
  const bool only_planned = std::erase(graphs, "--planned") > 0;
  if (graphs.empty()) return std::fprintf(stderr, "usage: spmv_bench [--planned] GRAPH...\n"), 2;
  try {
    for (const std::string& graph : graphs) tessera::bench::measure(graph, only_planned);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spmv_bench: %s\n", error.what());
    return 1;
  }
}
