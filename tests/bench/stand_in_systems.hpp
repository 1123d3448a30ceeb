// Symmetric positive definite matrices for conjugate gradients: Laplacians of grids and of a power-law graph.
#pragma once
#include <string>
#include <vector>

#include "engine/io/matrix_reader.hpp"

namespace tessera::bench {

struct GridSystem {
  const char* name;
  std::uint32_t width, height, depth;
  bool diagonals;  ///< all neighbours in a 3 x 3 x 3 cube, not only those along the axes
};
/// More than 10^5 rows each, as the matrices of Matam and Kothapalli (2011) have.
std::vector<GridSystem> grid_systems();

/// Laplacian of the grid, sides divided by `shrink`, and a little on the diagonal.
SparseMatrix grid_laplacian(const GridSystem& grid, std::uint32_t shrink);
/// The same of an R-MAT graph with 2^scale vertices.
SparseMatrix graph_laplacian(int scale);

}  // namespace tessera::bench
