// SpMV on a GPU beside cuSPARSE, on R-MAT graphs (edge factor 16, scattered ids), in the order as given and
// in degree order: spmv_bench SCALE... prints one JSON object a line. All results are compared with each
// other.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/graph_stats.hpp"
#include "engine/spmv_operator.hpp"
#include "tests/bench/cusparse_csr.hpp"
#include "tests/bench/device_timer.hpp"

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Times& times) { return {times.median_ms, times.smallest_ms, times.largest_ms}; }

float x_of(std::uint64_t vertex) { return 1.0f / static_cast<float>(1 + vertex * 2654435761u % 1024); }

/// Rows and columns of `graph`, both renamed by `rank`; columns ascending.
void renamed(const Graph& graph, const std::vector<VertexId>& order, const std::vector<VertexId>& rank,
             std::vector<int>& row_offsets, Buffer<VertexId>& col_indices) {
  const std::uint64_t n = graph.num_vertices;
  row_offsets.assign(n + 1, 0);
  for (std::uint64_t i = 0; i < n; ++i)
    row_offsets[i + 1] =
        row_offsets[i] + static_cast<int>(graph.row_offsets[order[i] + 1] - graph.row_offsets[order[i]]);
  col_indices = Buffer<VertexId>(graph.col_indices.size());
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::uint64_t i = 0; i < n; ++i) {
    VertexId* out = col_indices.data() + row_offsets[i];
    VertexId* const begin = out;
    for (EdgeOffset e = graph.row_offsets[order[i]]; e < graph.row_offsets[order[i] + 1]; ++e)
      *out++ = rank[graph.col_indices[e]];
    std::sort(begin, out);
  }
}

/// cuSPARSE on the graph in one order; its result, in original order, goes to `y`.
Json measure_vendor(const Graph& graph, const std::vector<VertexId>& order, std::vector<float>& y) {
  std::vector<VertexId> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<VertexId>(i);
  std::vector<int> row_offsets;
  Buffer<VertexId> col_indices;
  renamed(graph, order, rank, row_offsets, col_indices);
  std::vector<float> x(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) x[i] = x_of(order[i]);
  CusparseCsr csr(row_offsets, col_indices, x.data());
  Json result;
  const std::pair<const char*, cusparseSpMVAlg_t> algorithms[] = {{"csr_alg1", CUSPARSE_SPMV_CSR_ALG1},
                                                                  {"csr_alg2", CUSPARSE_SPMV_CSR_ALG2}};
  for (const auto& [name, algorithm] : algorithms) {
    csr.prepare(algorithm);
    result[name] = json_of(time_device([&, algorithm = algorithm] { csr.apply(algorithm); }));
  }
  const std::vector<float> renamed_y = csr.result();
  y.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) y[order[i]] = renamed_y[i];
  return result;
}

/// Ours; `expected` is what the vendor gave.
template <class S>
Json measure_ours(const Graph& graph, KernelKind kernel, const std::vector<float>& expected,
                  Communicator& comm) {
  const auto backend = make_backend<S>("cuda");
  auto op = SpmvOperator<S>::in_edges(graph, {.kernel = kernel}, *backend, comm);
  std::vector<double> host_x(graph.num_vertices);
  for (std::size_t v = 0; v < host_x.size(); ++v) host_x[v] = static_cast<double>(x_of(v));
  Buffer<S> x = op.make_x();
  op.replicate(op.to_local(host_x), nullptr, x);
  Buffer<double> y = op.make_y();
  Json result = {{"ms", json_of(time_device([&] { op.apply(x, y); }))},
                 {"tiles", op.stats().num_tiles},
                 {"workloads", op.stats().num_workloads},
                 {"row_pieces", op.stats().num_row_pieces},
                 {"padding_ratio", op.stats().padding_ratio},
                 {"matrix_bytes", op.stats().matrix_bytes}};
  std::vector<double> product(y.size()), sums(op.num_local_rows());
  backend->download(y.data(), product.data(), y.size_bytes());
  std::vector<VertexId> positions(sums.size());
  std::iota(positions.begin(), positions.end(), VertexId{0});
  if (const auto* places = op.row_places().positions; places != nullptr)
    backend->download(places->data(), positions.data(), places->size_bytes());
  for (std::size_t row = 0; row < sums.size(); ++row)
    sums[row] = positions[row] == kNoVertex ? 0 : product[positions[row]];
  double difference = 0, total = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto other = static_cast<double>(expected[op.local_rows()[i]]);
    difference += std::abs(sums[i] - other);
    total += std::abs(other);
  }
  result["relative_difference"] = difference / total;
  return result;
}

void measure(int scale) {
  const auto comm = make_single_rank();
  const Graph graph = build_graph(generate_edges({.scale = scale}, *comm), {}, *comm);
  if (graph.num_edges > 0x7fffffff) throw std::runtime_error("cuSPARSE is measured with 32-bit offsets");
  const std::vector<std::uint64_t> out = out_degrees(graph, *comm);
  std::vector<VertexId> order(graph.num_vertices);
  std::iota(order.begin(), order.end(), VertexId{0});
  std::vector<float> y;
  Json line = {{"scale", scale}, {"vertices", graph.num_vertices}, {"edges", graph.num_edges}};
  line["copy_bytes_per_second"] = copy_rate();
  line["cusparse_as_given_ms"] = measure_vendor(graph, order, y);
  std::stable_sort(order.begin(), order.end(), [&](VertexId u, VertexId v) { return out[u] > out[v]; });
  line["cusparse_degree_order_ms"] = measure_vendor(graph, order, y);
  line["tile_messages_f32"] = measure_ours<float>(graph, KernelKind::tile_messages, y, *comm);
  line["tile_messages_f64"] = measure_ours<double>(graph, KernelKind::tile_messages, y, *comm);
  line["tile_composite_f32"] = measure_ours<float>(graph, KernelKind::tile_composite, y, *comm);
  line["tile_composite_f64"] = measure_ours<double>(graph, KernelKind::tile_composite, y, *comm);
  line["csr_f32"] = measure_ours<float>(graph, KernelKind::csr, y, *comm);
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) tessera::bench::measure(std::atoi(argv[i]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spmv_bench: %s\n", error.what());
    return 1;
  }
}
