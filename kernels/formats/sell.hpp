// sell: sliced ELL with a sorting window (SELL-C-sigma, SELL-P): rows are sorted by length inside windows,
// and each slice of 32 rows is as wide as its longest.
#pragma once
#include <algorithm>
#include <numeric>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

template <class S>
struct Sell {
  using Value = S;
  static constexpr std::uint64_t kSliceRows = 32, kWindowRows = 64 * kSliceRows;

  std::uint64_t num_rows = 0;
  Buffer<VertexId> rows;                ///< in the order of the slices
  Buffer<std::uint32_t> slice_offsets;  ///< first element of each slice, and the end
  Buffer<VertexId> col_indices;         ///< element k of row r of a slice at its offset + 32 k + r
  Buffer<S> values;

  explicit Sell(const CsrView<double>& a) : num_rows(a.num_rows), rows(a.num_rows) {
    std::iota(rows.begin(), rows.end(), VertexId{0});
    for (std::uint64_t first = 0; first < num_rows; first += kWindowRows)
      std::stable_sort(rows.begin() + first, rows.begin() + std::min(num_rows, first + kWindowRows),
                       [&](VertexId u, VertexId v) { return row_length(a, u) > row_length(a, v); });
    slice_offsets = Buffer<std::uint32_t>(num_slices() + 1);
    std::uint64_t size = 0;
    for (std::uint64_t slice = 0; slice < num_slices(); ++slice) {
      slice_offsets[slice] = checked_size(size);
      size += row_length(a, rows[slice * kSliceRows]) * kSliceRows;
    }
    slice_offsets[num_slices()] = checked_padding("sell", size, a.num_nonzeros());
    col_indices = Buffer<VertexId>(size);
    values = Buffer<S>(size);
    fill(a);
  }
  std::uint64_t num_slices() const { return ceil_div(num_rows, kSliceRows); }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.rows);
    visit(self.slice_offsets);
    visit(self.col_indices);
    visit(self.values);
  }

 private:
  void fill(const CsrView<double>& a) {
    std::fill(col_indices.begin(), col_indices.end(), VertexId{0});
    std::fill(values.begin(), values.end(), S{0});
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = 0; i < num_rows; ++i) {
      std::uint64_t to = slice_offsets[i / kSliceRows] + i % kSliceRows;
      for (EdgeOffset k = a.row_offsets[rows[i]]; k < a.row_offsets[rows[i] + 1]; ++k, to += kSliceRows) {
        col_indices[to] = a.col_indices[k];
        values[to] = element_value<S>(a, k);
      }
    }
  }
};

template <class S>
void multiply_on_host(const Sell<S>& a, const S* x, S* y) {
  constexpr std::uint64_t kRows = Sell<S>::kSliceRows;
#pragma omp parallel for schedule(dynamic, 16)
  for (std::uint64_t slice = 0; slice < a.num_slices(); ++slice)
    for (std::uint64_t i = slice * kRows; i < std::min(a.num_rows, (slice + 1) * kRows); ++i) {
      S sum = 0;
      for (std::uint64_t k = a.slice_offsets[slice] + i % kRows; k < a.slice_offsets[slice + 1]; k += kRows)
        sum += a.values[k] * x[a.col_indices[k]];
      y[a.rows[i]] = sum;
    }
}

// kernels/cuda/formats/cuda_sell.cu
template <class S>
void multiply_on_device(const Sell<S>& a, const S* x, S* y);

}  // namespace tessera
