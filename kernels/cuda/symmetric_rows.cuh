// kernels/cuda/symmetric_rows.hpp for any memory; the host is where it is tested without a device.
#pragma once
#include "kernels/cuda/resident_matrix.cuh"
#include "kernels/pattern_rows.hpp"

namespace tessera::cuda {

template <class Memory>
PatternRows symmetric_rows(const CsrView<double>& pattern, std::uint64_t first_row, std::uint64_t num_rows) {
  HostTransfer<Memory> transfer;
  ResidentMatrix<Memory, float> matrix(pattern, transfer);
  matrix.make_both();
  PatternRows result{Buffer<EdgeOffset>(num_rows + 1), {}};
  transfer.receive(matrix.offsets.data() + first_row, num_rows + 1, result.row_offsets.data());
  const EdgeOffset first = result.row_offsets[0];
#pragma omp parallel for schedule(static)
  for (std::uint64_t i = 0; i <= num_rows; ++i) result.row_offsets[i] -= first;
  result.col_indices = Buffer<VertexId>(result.row_offsets[num_rows]);
  transfer.receive(matrix.cols.data() + first, result.col_indices.size(), result.col_indices.data());
  return result;
}

}  // namespace tessera::cuda
