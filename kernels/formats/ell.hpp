// ell: every row as long as the longest, stored column by column, a thread a row (Bell and Garland).
// ellpack-r keeps the rows' lengths, and a thread stops at the end of its row (Vazquez et al. 2011).
#pragma once

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

template <class S>
struct Ell {
  using Value = S;
  std::uint64_t num_rows = 0, width = 0;
  Buffer<VertexId> col_indices;  ///< element k of row i at k * num_rows + i
  Buffer<S> values;

  explicit Ell(const CsrView<double>& a) : Ell(a, longest_row(a), "ell") {}
  /// The first `most` elements of every row; a refusal is by `name`.
  Ell(const CsrView<double>& a, std::uint64_t most, const char* name) : num_rows(a.num_rows), width(most) {
    const std::uint64_t size = checked_padding(name, checked_mul(num_rows, width), a.num_nonzeros());
    col_indices = Buffer<VertexId>(size);
    values = Buffer<S>(size);
#pragma omp parallel for schedule(static)
    for (std::uint64_t row = 0; row < num_rows; ++row)
      for (std::uint64_t k = 0; k < width; ++k) {
        const bool padding = k >= row_length(a, row);
        const EdgeOffset from = a.row_offsets[row] + k;
        col_indices[k * num_rows + row] = padding ? 0 : a.col_indices[from];
        values[k * num_rows + row] = padding ? S{0} : element_value<S>(a, from);
      }
  }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.col_indices);
    visit(self.values);
  }
};

template <class S>
struct EllpackR : Ell<S> {
  Buffer<std::uint32_t> row_lengths;

  explicit EllpackR(const CsrView<double>& a)
      : Ell<S>(a, longest_row(a), "ellpack-r"), row_lengths(a.num_rows) {
    for (std::uint64_t row = 0; row < a.num_rows; ++row)
      row_lengths[row] = static_cast<std::uint32_t>(row_length(a, row));
  }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    Ell<S>::each_buffer(self, visit);
    visit(self.row_lengths);
  }
};

template <class S>
void multiply_on_host(const Ell<S>& a, const S* x, S* y) {
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    S sum = 0;
    for (std::uint64_t k = row; k < a.values.size(); k += a.num_rows)
      sum += a.values[k] * x[a.col_indices[k]];
    y[row] = sum;
  }
}

template <class S>
void multiply_on_host(const EllpackR<S>& a, const S* x, S* y) {
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    S sum = 0;
    for (std::uint64_t k = 0; k < a.row_lengths[row]; ++k)
      sum += a.values[k * a.num_rows + row] * x[a.col_indices[k * a.num_rows + row]];
    y[row] = sum;
  }
}

// kernels/cuda/formats/cuda_ell.cu
template <class S>
void multiply_on_device(const Ell<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const EllpackR<S>& a, const S* x, S* y);

}  // namespace tessera
