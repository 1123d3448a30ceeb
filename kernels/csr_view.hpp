// Non-owning compressed sparse rows, as kernels and builders take them.
#pragma once
#include "kernels/base/types.hpp"

namespace tessera {

/// Row i holds elements [row_offsets[i], row_offsets[i+1]). `values` is null for a pattern-only matrix
/// (every element 1).
template <class S>
struct CsrView {
  std::uint64_t num_rows = 0;
  std::uint64_t num_cols = 0;
  const EdgeOffset* row_offsets = nullptr;  // num_rows + 1
  const VertexId* col_indices = nullptr;    // num_nonzeros
  const S* values = nullptr;                // num_nonzeros or null
  EdgeOffset num_nonzeros() const { return num_rows == 0 ? 0 : row_offsets[num_rows] - row_offsets[0]; }
};

}  // namespace tessera
