// What it costs to make a graph's matrix on a GPU where its edges already are: prepare_bench SCALE... prints
// one JSON object an R-MAT graph (edge factor 16, scattered ids). Times are set beside that of a product, and
// the result beside what the host builds.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/graph_stats.hpp"
#include "engine/spmv_operator.hpp"
#include "engine/tile_messages_builder.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/graph_preparation.hpp"
#include "tests/bench/bench_graph.hpp"
#include "tests/bench/device_timer.hpp"

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;
using cuda::PatternCsr;
using cuda::PreparedMessages;

/// Median, smallest, largest of several calls by the host's clock, in ms, after two that are not counted, and
/// without clean_up(), which comes before each; the device's memory pool keeps what it has from call to call.
Json time_calls(const std::function<void()>& clean_up, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int round = 0; round < 22; ++round) {
    clean_up();
    TESSERA_CUDA_CALL(cudaDeviceSynchronize());
    const auto start = Clock::now();
    work();
    TESSERA_CUDA_CALL(cudaDeviceSynchronize());
    if (round >= 2) times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

struct DeviceEdges {
  Buffer<VertexId> targets, sources;
};
DeviceEdges send(const ParsedEdges& edges) {
  std::vector<VertexId> targets, sources;
  for (const EdgeChunk& chunk : edges.chunks)
    for (std::size_t i = 0; i < chunk.pairs.size(); i += 2) {
      sources.push_back(chunk.pairs[i]);
      targets.push_back(chunk.pairs[i + 1]);
    }
  return {cuda::on_device<VertexId>(targets), cuda::on_device<VertexId>(sources)};
}

template <class T>
bool same_bytes(const Buffer<T>& on_device, const Buffer<T>& expected) {
  const Buffer<T> found = cuda::on_host(on_device);
  return found.size() == expected.size() &&
         (found.empty() || std::memcmp(found.data(), expected.data(), found.size_bytes()) == 0);
}

/// Against the host's build: the bytes of all large arrays.
bool is_that_of_the_host(const PreparedMessages<float>& found, const Graph& graph,
                         const cuda::PreparationOptions& options, Communicator& comm) {
  const auto row_lengths = in_degrees(graph, comm);
  const ColumnOrder columns =
      order_columns_by_length(out_degrees(graph, comm), options.tile_columns, ~0u, Remainder::narrow);
  const auto rows = distribute_vertices(row_lengths, columns, 1).vertices;
  const auto expected = build_tile_messages<float>(graph.in_edges(), rows, columns, options.bins);
  return same_bytes(found.matrix.tiles.words, expected.tiles.words) &&
         same_bytes(found.matrix.bins.words, expected.bins.words) &&
         same_bytes(found.matrix.row_positions, expected.row_positions) &&
         found.matrix.stats.num_workloads == expected.stats.num_workloads &&
         same_bytes(found.slot_of_column, columns.slot_of_column);
}

void begin_pool() {
  std::uint64_t none = 0;
  cuda::empty_pool();
  TESSERA_CUDA_CALL(cudaMemPoolSetAttribute(cuda::pool_of_device(), cudaMemPoolAttrReservedMemHigh, &none));
}
std::uint64_t pool_bytes_at_most() {
  std::uint64_t most = 0;
  TESSERA_CUDA_CALL(cudaMemPoolGetAttribute(cuda::pool_of_device(), cudaMemPoolAttrReservedMemHigh, &most));
  return most;
}

Times time_product(const Graph& graph, Backend<float>& backend, Communicator& comm) {
  OperatorOptions how{
      .kernel = KernelKind::tile_messages, .order = OrderRequest::by_length, .for_updates = false};
  how.table.gpu = load_device_rates(comm);
  auto op = SpmvOperator<float>::in_edges(graph, how, backend, comm);
  Buffer<float> x = op.make_x();
  Buffer<double> y = op.make_y();
  return time_device([&] { op.apply(x, y); });
}

/// The matrix of a graph on its way: edges to CSR, CSR to tile-messages.
class Making {
 public:
  Making(std::uint64_t num_vertices, const DeviceEdges& given, const TilingLimits& limits)
      : num_vertices_(num_vertices), given_(given), limits_(limits) {}

  void sort_edges() {
    csr = cuda::csr_on_device(num_vertices_, given_.targets.size(), given_.targets.data(),
                              given_.sources.data());
  }
  void prepare() { ready = cuda::prepare_on_device<float>(csr, options()); }
  void let_go(bool csr_too) {
    ready = {};
    if (csr_too) csr = {};
  }
  cuda::PreparationOptions options() const {
    return {.by_length = true,
            .tile_columns = limits_.tile_columns,
            .bins = limits_.bins_for(csr.col_indices.size(), false)};
  }
  bool is_that_of(const Graph& graph, Communicator& comm) const {
    return csr.col_indices.size() == graph.num_edges && same_bytes(csr.col_indices, graph.col_indices) &&
           is_that_of_the_host(ready, graph, options(), comm);
  }

  PatternCsr csr;
  PreparedMessages<float> ready;

 private:
  std::uint64_t num_vertices_;
  const DeviceEdges& given_;
  TilingLimits limits_;
};

void measure(int scale) {
  const auto comm = make_single_rank();
  ParsedEdges edges = generate_edges({.scale = scale}, *comm);
  const std::uint64_t num_vertices = edges.declared_vertices;
  const DeviceEdges given = send(edges);
  const Graph graph = build_graph(std::move(edges), {}, *comm);
  const auto backend = make_backend<float>("cuda");
  const Times product = time_product(graph, *backend, *comm);
  begin_pool();
  Making making(num_vertices, given, backend->tiling_limits());
  const Json sorting = time_calls([&] { making.let_go(true); }, [&] { making.sort_edges(); }),
             preparing = time_calls([&] { making.let_go(false); }, [&] { making.prepare(); }),
             both = time_calls([&] { making.let_go(true); },
                               [&] {
                                 making.sort_edges();
                                 making.prepare();
                               });
  Json line = {{"graph", "R-MAT scale " + std::to_string(scale) + ", edge factor 16"},
               {"edges_given", given.targets.size()},
               {"edges", making.csr.col_indices.size()},
               {"product_ms", {product.median_ms, product.smallest_ms, product.largest_ms}},
               {"from_csr_ms", preparing},
               {"from_edges_ms", both},
               {"edges_to_csr_ms", sorting},
               {"from_csr_in_products", preparing[0].get<double>() / product.median_ms},
               {"from_edges_in_products", both[0].get<double>() / product.median_ms},
               {"matrix_bytes", making.ready.matrix.stats.bytes},
               {"pool_bytes_at_most", pool_bytes_at_most()},
               {"copy_bytes_per_second", copy_rate()}};
  line["same_as_host"] = making.is_that_of(graph, *comm);
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
  if (!line["same_as_host"].get<bool>()) throw std::runtime_error("the device's build is not the host's");
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) tessera::bench::measure(std::stoi(argv[i]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prepare_bench: %s\n", error.what());
    return 1;
  }
}
