// kernels/cuda/symmetric_rows.hpp for any memory; the host is where it is tested without a device.
#pragma once
#include "kernels/cuda/graph_preparation.cuh"
#include "kernels/cuda/resident_matrix.cuh"
#include "kernels/pattern_rows.hpp"

namespace tessera::cuda {

template <class Memory>
struct SymmetricRows {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  explicit SymmetricRows(const CsrView<double>& pattern) : pattern_(pattern) {}

  /// Of `Memory`, about: both directions of every element, and while they are sorted 20 bytes more of each.
  static std::uint64_t num_bytes(const CsrView<double>& pattern) {
    return checked_mul(2 * pattern.num_nonzeros(), 2 * sizeof(VertexId) + 20) +
           2 * checked_mul(pattern.num_rows + 1, sizeof(EdgeOffset));
  }

  PatternRows run() {
    HostTransfer<Memory> transfer;
    const PatternCsr sorted = sorted_elements(transfer);
    PatternRows result{Buffer<EdgeOffset>(sorted.row_offsets.size()),
                       Buffer<VertexId>(sorted.col_indices.size())};
    transfer.receive(sorted.row_offsets.data(), result.row_offsets.size(), result.row_offsets.data());
    transfer.receive(sorted.col_indices.data(), result.col_indices.size(), result.col_indices.data());
    return result;
  }

  // Parents of device lambdas must be public.
  PatternCsr sorted_elements(HostTransfer<Memory>& transfer) {
    ResidentMatrix<Memory, float> matrix(pattern_, transfer);
    const std::uint64_t count = matrix.cols.size();
    Vector<VertexId> rows(2 * count), cols(2 * count);
    VertexId *row = rows.data(), *col = cols.data();
    const VertexId* from = matrix.cols.data();
    Memory::each_in_rows(
        matrix.offsets, count,
        [=] __host__ __device__(std::uint64_t r, std::uint64_t) { return static_cast<VertexId>(r); },
        [=] __host__ __device__(std::uint64_t e, VertexId r) {
          row[e] = col[count + e] = r;
          col[e] = row[count + e] = from[e];
        });
    matrix.cols = {};
    return csr_of_edges<Memory>(pattern_.num_rows, 2 * count, rows.data(), cols.data());
  }

  CsrView<double> pattern_;
};

}  // namespace tessera::cuda
