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

/// What a GPU reads at once for a thread, and a sector of its caches.
inline constexpr unsigned kDeviceLoadBytes = 16, kDeviceSectorBytes = 32;

/// Vectors, so many or some more, that a block of them is best made of on a GPU: a thread reads inputs of
/// several at once, and those of every column begin where a sector does.
constexpr std::uint64_t padded_vectors(std::uint64_t num_vectors, std::uint64_t value_bytes) {
  if (num_vectors < 2) return num_vectors;
  const std::uint64_t of_load = kDeviceLoadBytes / value_bytes, of_sector = kDeviceSectorBytes / value_bytes;
  return num_vectors <= of_load ? of_load : ceil_div(num_vectors, of_sector) * of_sector;
}

}  // namespace tessera
