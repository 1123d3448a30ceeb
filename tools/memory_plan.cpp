#include "tools/memory_plan.hpp"

namespace tessera::cli {
namespace {

constexpr double kPaddingAllowance = 1.25;
/// Temporary sort keys and row pieces against the packed matrix.
constexpr double kPackingShare = 1.0;

std::uint64_t scaled(std::uint64_t bytes, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * factor);
}

}  // namespace

MemoryPlan plan_memory(const Graph& graph, const MemoryShape& shape, Precision precision,
                       Communicator& comm) {
  const std::uint64_t value_bytes = precision == Precision::f32 ? sizeof(float) : sizeof(double);
  const std::uint64_t element_bytes = sizeof(VertexId) + (graph.weighted ? value_bytes : 0);
  const std::uint64_t edges =
      ceil_div<std::uint64_t>(graph.num_edges, static_cast<std::uint64_t>(comm.size()));
  const LabelTable& labels = graph.labels;
  MemoryPlan plan;
  plan.graph_bytes = all_max(comm, graph.row_offsets.size_bytes() + graph.col_indices.size_bytes() +
                                       graph.weights.size_bytes() + labels.integers.size_bytes() +
                                       labels.string_offsets.size_bytes() + labels.string_bytes.size_bytes());
  plan.matrix_bytes =
      scaled(checked_mul(checked_mul(edges, element_bytes), shape.num_matrices), kPaddingAllowance);
  plan.packing_bytes = scaled(plan.matrix_bytes, kPackingShare);
  // x and the local vectors hold S, products and results double; degrees and slots come once a matrix.
  const std::uint64_t a_vertex = shape.num_vectors * (2 * value_bytes + 2 * sizeof(double)) +
                                 shape.num_matrices * (2 * sizeof(std::uint64_t) + 2 * sizeof(VertexId));
  plan.vector_bytes = checked_mul(graph.num_vertices, a_vertex);
  return plan;
}

nlohmann::ordered_json memory_json(const MemoryPlan& plan) {
  return {{"graph_bytes", plan.graph_bytes},
          {"matrix_bytes", plan.matrix_bytes},
          {"packing_bytes", plan.packing_bytes},
          {"vector_bytes", plan.vector_bytes}};
}

}  // namespace tessera::cli
