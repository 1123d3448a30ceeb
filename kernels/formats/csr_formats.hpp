// Plain CSR under five kernels: a thread a row (csr-scalar), a warp a row (csr-vector; both Bell and
// Garland), 16 threads a row (csr-half-warp, Baskaran and Bordawekar), as many threads a row as the mean row
// needs (csr-adaptive, "CSR-smart" of Anzt et al. 2017), and as many elements a warp (csr-balanced, its
// "CSR-I").
#pragma once
#include <algorithm>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

template <class S>
struct CsrFormat {
  using Value = S;
  std::uint64_t num_rows = 0;
  Buffer<std::uint32_t> row_offsets;
  Buffer<VertexId> col_indices;
  Buffer<S> values;

  explicit CsrFormat(const CsrView<double>& a) : CsrFormat(a, 1) {}
  std::uint64_t num_stored() const { return col_indices.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.row_offsets);
    visit(self.col_indices);
    visit(self.values);
  }

 protected:
  /// Rows padded to a multiple of `alignment` with zeros.
  CsrFormat(const CsrView<double>& a, std::uint64_t alignment)
      : num_rows(a.num_rows), row_offsets(a.num_rows + 1) {
    std::uint64_t size = 0;
    for (std::uint64_t row = 0; row < num_rows; ++row) {
      row_offsets[row] = checked_size(size);
      size += round_up<std::uint64_t>(row_length(a, row), alignment);
    }
    row_offsets[num_rows] = checked_size(size);
    col_indices = Buffer<VertexId>(size);
    values = Buffer<S>(size);
#pragma omp parallel for schedule(static)
    for (std::uint64_t row = 0; row < num_rows; ++row) {
      std::uint32_t to = row_offsets[row];
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k, ++to) {
        col_indices[to] = a.col_indices[k];
        values[to] = element_value<S>(a, k);
      }
      std::fill(col_indices.begin() + to, col_indices.begin() + row_offsets[row + 1], VertexId{0});
      std::fill(values.begin() + to, values.begin() + row_offsets[row + 1], S{0});
    }
  }
};

template <class S>
void multiply_on_host(const CsrFormat<S>& a, const S* x, S* y) {
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    S sum = 0;
    for (std::uint32_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
      sum += a.values[k] * x[a.col_indices[k]];
    y[row] = sum;
  }
}

template <class S>
struct CsrScalar : CsrFormat<S> {
  using CsrFormat<S>::CsrFormat;
};

template <class S>
struct CsrVector : CsrFormat<S> {
  using CsrFormat<S>::CsrFormat;
};

/// Rows are padded to whole half warps, so that every access is aligned.
template <class S>
struct CsrHalfWarp : CsrFormat<S> {
  explicit CsrHalfWarp(const CsrView<double>& a) : CsrFormat<S>(a, 16) {}
};

template <class S>
struct CsrAdaptive : CsrFormat<S> {
  unsigned threads_a_row = 1;  ///< the largest power of two up to the mean row length, at most a warp
  explicit CsrAdaptive(const CsrView<double>& a) : CsrFormat<S>(a) {
    const std::uint64_t mean = a.num_rows == 0 ? 0 : a.num_nonzeros() / a.num_rows;
    while (threads_a_row < 32 && 2 * threads_a_row <= mean) threads_a_row *= 2;
  }
};

template <class S>
struct CsrBalanced : CsrFormat<S> {
  using CsrFormat<S>::CsrFormat;
};

// kernels/cuda/formats/cuda_csr_formats.cu
template <class S>
void multiply_on_device(const CsrScalar<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const CsrVector<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const CsrHalfWarp<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const CsrAdaptive<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const CsrBalanced<S>& a, const S* x, S* y);

}  // namespace tessera
