#include "engine/device_tune.hpp"

#include <algorithm>
#include <cmath>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/spmv_operator.hpp"
#include "engine/table_file.hpp"
#include "kernels/base/median.hpp"
#include "kernels/block_padding.hpp"

namespace tessera {
namespace {

constexpr double kMostEdges = 1 << 26, kMostCopiedEdges = 1 << 25, kMostWeights = 1 << 24;

struct TuneGraph {
  GeneratorKind kind;
  int scale;
  double edge_factor;
  std::uint64_t num_copies = 1;  ///< side by side
};

/// Copies of small graphs have all ends adjacent, or near.
constexpr int kCopiedScales[] = {6, 10};

std::vector<TuneGraph> graphs_to_measure(const DeviceTuneOptions& options) {
  std::vector<TuneGraph> graphs;
  for (int scale = options.smallest_scale; scale <= options.largest_scale; scale += 3)
    for (const double edge_factor : {4.0, 16.0, 48.0})
      for (const GeneratorKind kind : {GeneratorKind::rmat, GeneratorKind::uniform})
        if (std::ldexp(edge_factor, scale) <= kMostEdges) {
          graphs.push_back({kind, scale, edge_factor});
          for (const int copied : kCopiedScales)
            if (copied < scale && std::ldexp(edge_factor, scale) <= kMostCopiedEdges)
              graphs.push_back({kind, copied, edge_factor, std::uint64_t{1} << (scale - copied)});
        }
  return graphs;
}

/// Weights for a graph that has none: the times of kernels do not depend on them.
void add_weights(Graph& graph) {
  graph.weighted = true;
  graph.weights = Buffer<double>(graph.col_indices.size());
  std::fill(graph.weights.begin(), graph.weights.end(), 1.5);
}

NearCounts count_near(const Graph& graph) {
  NearCounts counts;
  for (std::uint64_t row = 0; row < graph.num_vertices; ++row)
    for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e)
      counts.add(row, graph.col_indices[e]);
  return counts;
}

class DeviceTune {
 public:
  DeviceTune(const DeviceTuneOptions& options, Communicator& comm) : options_(options), comm_(comm) {}

  /// Of the graph that is measured next. Copies say nothing of blocks, whose rates do not know near gathers.
  void set_graph(const Graph& graph, bool is_copied) {
    near_ = count_near(graph);
    longest_row_ = 0;
    for (std::uint64_t row = 0; row < graph.num_vertices; ++row)
      longest_row_ = std::max(longest_row_, graph.row_offsets[row + 1] - graph.row_offsets[row]);
    measures_blocks_ = !is_copied;
  }
  template <class S>
  void measure(const Graph& graph, Backend<S>& backend) {
    for (const OrderRequest order : {OrderRequest::by_length, OrderRequest::as_given})
      measure_tiles(graph, order, backend);
    auto op = SpmvOperator<S>::in_edges(graph, {.kernel = KernelKind::csr}, backend, comm_);
    samples_.csr.push_back({work_of(graph, op), op.time_parts(options_.repeats).front().seconds});
    if (!graph.weighted && measures_blocks_) measure_blocks(graph, backend);
  }
  DeviceSamples take() { return std::move(samples_); }

 private:
  template <class S>
  void measure_tiles(const Graph& graph, OrderRequest order, Backend<S>& backend) {
    const OperatorOptions how{.kernel = KernelKind::tile_messages, .order = order, .for_updates = false};
    const auto op = SpmvOperator<S>::in_edges(graph, how, backend, comm_);
    const std::vector<PartTime> parts = op.time_parts(options_.repeats);
    constexpr double kLeastShare = 0.02;  // a smaller difference of two times is mostly their scatter
    if (parts.size() == 2 && parts[1].seconds > kLeastShare * parts[0].seconds)
      samples_.tiles.push_back({work_of(graph, op), parts[0].seconds, parts[1].seconds});
  }
  /// Blocks have the order of columns that plans give them.
  template <class S>
  void measure_blocks(const Graph& graph, Backend<S>& backend) {
    for (const unsigned num_asked : {4u, 25u}) {
      const auto num_vectors = static_cast<unsigned>(padded_vectors(num_asked, sizeof(S)));
      const std::uint64_t needed =
          checked_mul(graph.num_vertices, num_vectors * (sizeof(S) + sizeof(double))) +
          checked_mul(graph.num_edges, 2 * sizeof(VertexId));
      if (needed > backend.free_bytes() / 2) continue;
      const OperatorOptions how{.kernel = KernelKind::csr, .num_vectors = num_vectors};
      auto op = SpmvOperator<S>::in_edges(graph, how, backend, comm_);
      const Buffer<S> x = op.make_x(num_vectors);
      Buffer<double> y = op.make_y(num_vectors);
      std::vector<double> seconds =
          backend.time_runs([&] { op.apply(x, y, num_vectors); }, options_.repeats + 1);
      seconds.erase(seconds.begin());
      samples_.csr.push_back({work_of(graph, op), median(std::move(seconds)), num_vectors});
    }
  }
  template <class S>
  DeviceWork work_of(const Graph& graph, const SpmvOperator<S>& op) const {
    const auto size = static_cast<double>(graph.num_vertices);
    return {.num_rows = size,
            .num_columns = size,
            .num_nonzeros = static_cast<double>(graph.num_edges),
            .num_adjacent = static_cast<double>(near_.adjacent),
            .num_near = static_cast<double>(near_.near),
            .num_messages = static_cast<double>(op.stats().num_row_pieces),
            .num_cells = op.plan().predicted_cells,
            .longest_row = static_cast<double>(longest_row_),
            .value_bytes = sizeof(S),
            .weighted = graph.weighted};
  }

  const DeviceTuneOptions& options_;
  Communicator& comm_;
  NearCounts near_;
  EdgeOffset longest_row_ = 0;
  bool measures_blocks_ = true;
  DeviceSamples samples_;
};

}  // namespace

DeviceSamples measure_device(Backend<float>& f32, Backend<double>& f64, const DeviceTuneOptions& options,
                             const std::function<void(double)>& progress) {
  const auto comm = make_single_rank();
  DeviceTune tune(options, *comm);
  const std::vector<TuneGraph> graphs = graphs_to_measure(options);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const GeneratorOptions generator{
        .kind = graphs[i].kind, .scale = graphs[i].scale, .edge_factor = graphs[i].edge_factor};
    Graph graph = build_graph(generate_edges(generator, *comm), {}, *comm);
    if (graphs[i].num_copies > 1) graph = side_by_side(graph, graphs[i].num_copies);
    tune.set_graph(graph, graphs[i].num_copies > 1);
    tune.measure(graph, f32);
    tune.measure(graph, f64);
    if (static_cast<double>(graph.num_edges) <= kMostWeights) {
      add_weights(graph);
      tune.measure(graph, f32);
      tune.measure(graph, f64);
    }
    progress(static_cast<double>(i + 1) / static_cast<double>(graphs.size()));
  }
  DeviceSamples samples = tune.take();
  samples.measured_on = today();
  return samples;
}

}  // namespace tessera
