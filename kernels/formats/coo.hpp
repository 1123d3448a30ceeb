// coo: a row and a column for every element, rows in order. On a device a thread takes an element and warps
// add up what belongs to one row (Bell and Garland).
#pragma once
#include <algorithm>
#include <concepts>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

template <class S>
struct Coo {
  using Value = S;
  std::uint64_t num_rows = 0;
  Buffer<VertexId> row_indices, col_indices;
  Buffer<S> values;

  explicit Coo(const CsrView<double>& a)
      : Coo(a, [&](std::uint64_t, EdgeOffset k) { return a.col_indices[k]; }) {}
  /// What rows have beyond their first `skipped` elements.
  Coo(const CsrView<double>& a, std::uint64_t skipped)
      : Coo(a, [&](std::uint64_t row, EdgeOffset k) {
          return k - a.row_offsets[row] < skipped ? kNoVertex : a.col_indices[k];
        }) {}
  /// Those elements for which column_of(row, k) gives a column, which they get.
  template <std::invocable<std::uint64_t, EdgeOffset> ColumnOf>
  Coo(const CsrView<double>& a, const ColumnOf& column_of) : num_rows(a.num_rows) {
    std::uint64_t size = 0;
    for_elements(a, column_of, [&](std::uint64_t, EdgeOffset, VertexId) { ++size; });
    checked_size(size);
    row_indices = Buffer<VertexId>(size);
    col_indices = Buffer<VertexId>(size);
    values = Buffer<S>(size);
    std::uint64_t to = 0;
    for_elements(a, column_of, [&](std::uint64_t row, EdgeOffset k, VertexId column) {
      row_indices[to] = static_cast<VertexId>(row);
      col_indices[to] = column;
      values[to++] = element_value<S>(a, k);
    });
  }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.row_indices);
    visit(self.col_indices);
    visit(self.values);
  }

 private:
  template <class ColumnOf, class Visit>
  static void for_elements(const CsrView<double>& a, const ColumnOf& column_of, const Visit& visit) {
    for (std::uint64_t row = 0; row < a.num_rows; ++row)
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
        if (const VertexId column = column_of(row, k); column != kNoVertex) visit(row, k, column);
  }
};

/// y += A x
template <class S>
void add_on_host(const Coo<S>& a, const S* x, S* y) {
  for_ranges_of_rows(
      a.values.size(), [&](std::uint64_t k) { return a.row_indices[k] == a.row_indices[k - 1]; },
      [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t k = begin; k < end; ++k) y[a.row_indices[k]] += a.values[k] * x[a.col_indices[k]];
      });
}

template <class S>
void multiply_on_host(const Coo<S>& a, const S* x, S* y) {
  std::fill_n(y, a.num_rows, S{0});
  add_on_host(a, x, y);
}

// kernels/cuda/formats/cuda_coo.cu
template <class S>
void add_on_device(const Coo<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const Coo<S>& a, const S* x, S* y);

}  // namespace tessera
