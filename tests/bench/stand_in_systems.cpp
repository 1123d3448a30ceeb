#include "tests/bench/stand_in_systems.hpp"

#include <algorithm>
#include <functional>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"

namespace tessera::bench {
namespace {

/// Calls visit(neighbour) in ascending order, without the row itself.
using EachNeighbour =
    std::function<void(std::uint64_t row, const std::function<void(std::uint64_t neighbour)>& visit)>;

/// -1 for each neighbour; on the diagonal their number and a little, which bounds the number of steps.
SparseMatrix laplacian(std::uint64_t num_rows, const EachNeighbour& each_neighbour) {
  constexpr double kShift = 1e-4;
  SparseMatrix matrix;
  matrix.num_rows = matrix.num_cols = num_rows;
  matrix.symmetric = true;
  matrix.row_offsets = Buffer<EdgeOffset>(num_rows + 1);
  matrix.row_offsets[0] = 0;
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < num_rows; ++row) {
    EdgeOffset length = 1;
    each_neighbour(row, [&](std::uint64_t) { ++length; });
    matrix.row_offsets[row + 1] = length;
  }
  for (std::uint64_t row = 0; row < num_rows; ++row) matrix.row_offsets[row + 1] += matrix.row_offsets[row];
  matrix.col_indices = Buffer<VertexId>(matrix.row_offsets[num_rows]);
  matrix.values = Buffer<double>(matrix.row_offsets[num_rows]);
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < num_rows; ++row) {
    EdgeOffset k = matrix.row_offsets[row];
    const EdgeOffset end = matrix.row_offsets[row + 1];
    bool is_past = false;
    const auto put = [&](std::uint64_t column, double value) {
      matrix.col_indices[k] = static_cast<VertexId>(column);
      matrix.values[k++] = value;
    };
    const double diagonal = static_cast<double>(end - k - 1) + kShift;
    each_neighbour(row, [&](std::uint64_t neighbour) {
      if (!is_past && neighbour > row) put(row, diagonal);
      is_past = is_past || neighbour > row;
      put(neighbour, -1);
    });
    if (!is_past) put(row, diagonal);
  }
  return matrix;
}

}  // namespace

std::vector<GridSystem> grid_systems() {
  return {{"5-point grid", 1000, 1000, 1, false},
          {"7-point grid", 100, 100, 100, false},
          {"27-point grid", 60, 60, 60, true}};
}

SparseMatrix grid_laplacian(const GridSystem& grid, std::uint32_t shrink) {
  const auto side = [&](std::uint32_t length) {
    return static_cast<std::int64_t>(std::max(1u, length / shrink));
  };
  const std::int64_t w = side(grid.width), h = side(grid.height), d = side(grid.depth);
  const auto each_neighbour = [=, &grid](std::uint64_t row, const std::function<void(std::uint64_t)>& visit) {
    const auto i = static_cast<std::int64_t>(row);
    const std::int64_t x = i % w, y = i / w % h, z = i / (w * h);
    for (std::int64_t dz = -1; dz <= 1; ++dz)
      for (std::int64_t dy = -1; dy <= 1; ++dy)
        for (std::int64_t dx = -1; dx <= 1; ++dx) {
          const std::int64_t steps = dx * dx + dy * dy + dz * dz;
          if (steps == 0 || (steps > 1 && !grid.diagonals)) continue;
          if (x + dx < 0 || x + dx >= w || y + dy < 0 || y + dy >= h || z + dz < 0 || z + dz >= d) continue;
          visit(static_cast<std::uint64_t>(i + dx + w * (dy + h * dz)));
        }
  };
  return laplacian(static_cast<std::uint64_t>(w * h * d), each_neighbour);
}

SparseMatrix graph_laplacian(int scale) {
  const auto comm = make_single_rank();
  constexpr double kEdgeFactor = 4;
  const Graph directed =
      build_graph(generate_edges({.scale = scale, .edge_factor = kEdgeFactor}, *comm), {}, *comm);
  const Graph graph = symmetrised(directed, Duplicates::merge, *comm);
  return laplacian(graph.num_vertices,
                   [&](std::uint64_t row, const std::function<void(std::uint64_t)>& visit) {
                     for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e)
                       if (graph.col_indices[e] != row) visit(graph.col_indices[e]);
                   });
}

}  // namespace tessera::bench
