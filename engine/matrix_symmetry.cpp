#include "engine/matrix_symmetry.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

double value_at(const CsrView<double>& a, std::uint64_t row, std::uint64_t column) {
  const VertexId *begin = a.col_indices + a.row_offsets[row], *end = a.col_indices + a.row_offsets[row + 1];
  const VertexId* found = std::lower_bound(begin, end, static_cast<VertexId>(column));
  if (found == end || *found != column) return 0;
  return a.values == nullptr ? 1 : a.values[found - a.col_indices];
}

}  // namespace

std::optional<Asymmetry> find_asymmetry(const CsrView<double>& matrix) {
  constexpr double kRounding = 1e-12;
  for (std::uint64_t row = 0; row < matrix.num_rows; ++row)
    for (EdgeOffset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
      const VertexId column = matrix.col_indices[k];
      const double value = matrix.values == nullptr ? 1 : matrix.values[k];
      const double mirrored = value_at(matrix, column, row);
      if (std::abs(value - mirrored) > kRounding * std::max(std::abs(value), std::abs(mirrored)))
        return Asymmetry{row, column, value, mirrored};
    }
  return std::nullopt;
}

std::vector<double> diagonal_of(const CsrView<double>& matrix) {
  std::vector<double> diagonal(matrix.num_rows);
  for (std::uint64_t row = 0; row < matrix.num_rows; ++row) diagonal[row] = value_at(matrix, row, row);
  return diagonal;
}

}  // namespace tessera
