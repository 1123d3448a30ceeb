// csc: column by column. An example for docs/adding-a-format.md, not a format that anybody should use.
#pragma once
#include <algorithm>
#include <numeric>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

template <class S>
struct Csc {
  using Value = S;
  std::uint64_t num_rows = 0, num_cols = 0;
  Buffer<std::uint32_t> column_offsets;
  Buffer<VertexId> row_indices;
  Buffer<S> values;

  explicit Csc(const CsrView<double>& a)
      : num_rows(a.num_rows),
        num_cols(a.num_cols),
        column_offsets(a.num_cols + 1),
        row_indices(checked_size(a.num_nonzeros())),
        values(a.num_nonzeros()) {
    std::fill(column_offsets.begin(), column_offsets.end(), 0u);
    for (EdgeOffset k = 0; k < a.num_nonzeros(); ++k) ++column_offsets[a.col_indices[k] + 1];
    std::partial_sum(column_offsets.begin(), column_offsets.end(), column_offsets.begin());
    Buffer<std::uint32_t> next = column_offsets.clone();
    for (std::uint64_t row = 0; row < a.num_rows; ++row)
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
        const std::uint32_t to = next[a.col_indices[k]]++;
        row_indices[to] = static_cast<VertexId>(row);
        values[to] = element_value<S>(a, k);
      }
  }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.column_offsets);
    visit(self.row_indices);
    visit(self.values);
  }
};

template <class S>
void multiply_on_host(const Csc<S>& a, const S* x, S* y) {
  std::fill_n(y, a.num_rows, S{0});
  for (std::uint64_t column = 0; column < a.num_cols; ++column)
    for (std::uint32_t k = a.column_offsets[column]; k < a.column_offsets[column + 1]; ++k)
      y[a.row_indices[k]] += a.values[k] * x[column];
}

// kernels/cuda/formats/cuda_csc.cu
template <class S>
void multiply_on_device(const Csc<S>& a, const S* x, S* y);

}  // namespace tessera
