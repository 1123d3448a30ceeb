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
inline constexpr unsigned kFewVectors = 16;

/// Vectors, so many or some more, that a block of them is best made of on a GPU: many of f32 are padded, so
/// that a thread reads inputs of several at once and those of every column begin where a sector does. In f64,
/// and of fewer vectors, that took longer (docs/performance.md).
constexpr std::uint64_t padded_vectors(std::uint64_t num_vectors, std::uint64_t value_bytes) {
  constexpr std::uint64_t kOfSector = kDeviceSectorBytes / sizeof(float);
  if (value_bytes != sizeof(float) || num_vectors <= kFewVectors) return num_vectors;
  return ceil_div(num_vectors, kOfSector) * kOfSector;
}

}  // namespace tessera
