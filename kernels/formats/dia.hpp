// dia: whole diagonals and their offsets, for matrices that have few of them (Bell and Garland).
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

template <class S>
struct Dia {
  using Value = S;
  std::uint64_t num_rows = 0, num_cols = 0;
  Buffer<std::int64_t> offsets;  ///< column minus row of each diagonal, rising
  Buffer<S> values;              ///< that of row i on diagonal d at d * num_rows + i

  explicit Dia(const CsrView<double>& a) : num_rows(a.num_rows), num_cols(a.num_cols) {
    std::vector<std::uint32_t> diagonal(num_rows + num_cols, 0);  // by column - row + num_rows
    for (std::uint64_t row = 0; row < num_rows; ++row)
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
        diagonal[a.col_indices[k] + num_rows - row] = 1;
    std::uint64_t count = 0;
    for (const std::uint32_t used : diagonal) count += used;
    const std::uint64_t size = checked_padding("dia", checked_mul(num_rows, count), a.num_nonzeros());
    offsets = Buffer<std::int64_t>(count);
    std::uint32_t next = 0;
    for (std::uint64_t i = 0; i < diagonal.size(); ++i) {
      if (diagonal[i] == 0) continue;
      offsets[next] = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(num_rows);
      diagonal[i] = next++;
    }
    values = Buffer<S>(size);
    std::fill(values.begin(), values.end(), S{0});
#pragma omp parallel for schedule(static)
    for (std::uint64_t row = 0; row < num_rows; ++row)
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
        values[diagonal[a.col_indices[k] + num_rows - row] * num_rows + row] = element_value<S>(a, k);
  }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.offsets);
    visit(self.values);
  }
};

template <class S>
void multiply_on_host(const Dia<S>& a, const S* x, S* y) {
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    S sum = 0;
    for (std::uint64_t d = 0; d < a.offsets.size(); ++d) {
      const std::int64_t column = static_cast<std::int64_t>(row) + a.offsets[d];
      if (column >= 0 && column < static_cast<std::int64_t>(a.num_cols))
        sum += a.values[d * a.num_rows + row] * x[column];
    }
    y[row] = sum;
  }
}

// kernels/cuda/formats/cuda_dia.cu
template <class S>
void multiply_on_device(const Dia<S>& a, const S* x, S* y);

}  // namespace tessera
