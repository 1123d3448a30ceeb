// Whether a matrix is its own transpose, and the diagonal: what a solver for symmetric systems asks first.
#pragma once
#include <optional>
#include <vector>

#include "kernels/csr_view.hpp"

namespace tessera {

/// Entries (row, column) and (column, row), from 0; 0 where there is none.
struct Asymmetry {
  std::uint64_t row = 0, column = 0;
  double value = 0, mirrored = 0;
};
/// The first pair of entries that differ by more than 1e-12 of the larger; nothing in a symmetric matrix. For
/// square matrices whose columns ascend in every row.
std::optional<Asymmetry> find_asymmetry(const CsrView<double>& matrix);

/// a_ii, 0 where there is none.
std::vector<double> diagonal_of(const CsrView<double>& matrix);

}  // namespace tessera
