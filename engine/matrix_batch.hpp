// Several matrices to be multiplied at once, and a generated suite of small ones.
#pragma once
#include <string>
#include <vector>

#include "engine/io/matrix_reader.hpp"

namespace tessera {

/// The matrices one after the other, the whole list `copies` times.
std::vector<CsrView<double>> repeated_views(const std::vector<SparseMatrix>& matrices, std::uint64_t copies);

/// All of them along the diagonal of one matrix: what a batch is the product with. Throws ResourceError when
/// its rows or columns would be too many to be numbered.
SparseMatrix block_diagonal(const std::vector<CsrView<double>>& matrices);

struct NamedMatrix {
  std::string name;
  SparseMatrix matrix;
};
/// Square matrices of 32 to 1,024 rows, the same every time: chains, grids, bands, arrows, random and
/// power-law patterns, some with empty or long rows, one full.
std::vector<NamedMatrix> small_suite();

}  // namespace tessera
