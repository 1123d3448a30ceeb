#include "engine/weight_scale.hpp"

#include <algorithm>
#include <cmath>

#include "partition/run_together.hpp"

namespace tessera {
std::optional<Graph> with_weights_near_one(const Graph& graph, Communicator& comm) {
  if (!graph.weighted) return std::nullopt;
  double largest = 0;
  const auto num_weights = static_cast<std::int64_t>(graph.weights.size());
#pragma omp parallel for reduction(max : largest)
  for (std::int64_t e = 0; e < num_weights; ++e) largest = std::max(largest, graph.weights[e]);
  largest = all_max(comm, largest);
  if (largest == 0 || (largest >= 0x1p-60 && largest <= 0x1p60)) return std::nullopt;
  Graph scaled;
  scaled.num_vertices = graph.num_vertices;
  scaled.num_edges = graph.num_edges;
  scaled.weighted = true;
  scaled.first_row = graph.first_row;
  scaled.num_local_rows = graph.num_local_rows;
  scaled.row_offsets = unowned(graph.row_offsets);
  scaled.col_indices = unowned(graph.col_indices);
  run_together(comm, [&] { scaled.weights = Buffer<double>(graph.weights.size()); });
  const int exponent = -std::ilogb(largest);
#pragma omp parallel for
  for (std::int64_t e = 0; e < num_weights; ++e) scaled.weights[e] = std::ldexp(graph.weights[e], exponent);
  return scaled;
}

}  // namespace tessera
