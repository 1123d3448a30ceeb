// Many small matrices as one product (Anzt et al. 2017): each with its own sizes, pattern and values. x and y
// are those of the matrices one after the other. On a device a block of threads takes a matrix, with its x in
// shared memory where it fits.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "kernels/formats/sparse_product.hpp"

namespace tessera {

/// Where one matrix lies in the arrays of a batch.
struct BatchItem {
  std::uint64_t first_row = 0, first_col = 0;  ///< in y and x
  std::uint64_t first_offset = 0;              ///< CSR: in row_offsets, which count from first_element
  std::uint64_t first_element = 0;
  std::uint32_t num_rows = 0, num_cols = 0, num_elements = 0;
  std::uint32_t width = 0;  ///< ELL: elements of a row; CSR: threads a row of csr-adaptive
};

/// Rows and columns of a matrix are numbered with 16 bits.
inline constexpr std::uint64_t kMostBatchRows = 65536;

inline std::uint64_t most_columns(std::span<const CsrView<double>> matrices) {
  std::uint64_t most = 0;
  for (const CsrView<double>& a : matrices) most = std::max(most, a.num_cols);
  return most;
}

/// Sizes of the matrices; `num_elements` of each as stored. Throws ResourceError for one that is too large.
Buffer<BatchItem> batch_items(std::span<const CsrView<double>> matrices,
                              std::span<const std::uint64_t> num_elements);

/// In the order in which blocks begin: where matrices of several sizes take turns, small ones fill up the
/// end. Items say where their matrices lie, so their own order is free.
void put_largest_first(Buffer<BatchItem>& items);

/// A matrix begins at a multiple of so many elements, which a device reads at once.
inline constexpr std::uint64_t kBatchAlignment = 4;

template <class S>
struct BatchCsr {
  using Value = S;
  std::uint64_t num_columns = 0;  ///< of the widest matrix
  Buffer<BatchItem> items;
  Buffer<std::uint32_t> row_offsets;  ///< num_rows + 1 a matrix
  Buffer<std::uint16_t> col_indices;  ///< up to a multiple of kBatchAlignment, as the values: 0 is padding
  Buffer<S> values;

  explicit BatchCsr(std::span<const CsrView<double>> matrices) : num_columns(most_columns(matrices)) {
    std::vector<std::uint64_t> sizes;
    for (const auto& a : matrices) sizes.push_back(a.num_nonzeros());
    items = batch_items(matrices, sizes);
    std::uint64_t num_offsets = 0, num_elements = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].first_offset = num_offsets;
      num_offsets += items[i].num_rows + 1;
      items[i].first_element = num_elements;
      num_elements += ceil_div<std::uint64_t>(items[i].num_elements, kBatchAlignment) * kBatchAlignment;
      const std::uint64_t mean = items[i].num_rows == 0 ? 0 : items[i].num_elements / items[i].num_rows;
      items[i].width = 1;
      while (items[i].width < 32 && 2 * items[i].width <= mean) items[i].width *= 2;
    }
    row_offsets = Buffer<std::uint32_t>(num_offsets);
    col_indices = Buffer<std::uint16_t>(num_elements);
    values = Buffer<S>(num_elements);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::size_t i = 0; i < items.size(); ++i) fill(items[i], matrices[i]);
    put_largest_first(items);
  }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.items);
    visit(self.row_offsets);
    visit(self.col_indices);
    visit(self.values);
  }

 private:
  void fill(const BatchItem& item, const CsrView<double>& a) {
    for (std::uint64_t row = 0; row <= item.num_rows; ++row)
      row_offsets[item.first_offset + row] =
          item.num_rows == 0 ? 0 : static_cast<std::uint32_t>(a.row_offsets[row] - a.row_offsets[0]);
    for (std::uint64_t k = 0; k < item.num_elements; ++k) {
      col_indices[item.first_element + k] = static_cast<std::uint16_t>(a.col_indices[a.row_offsets[0] + k]);
      values[item.first_element + k] = element_value<S>(a, a.row_offsets[0] + k);
    }
    for (std::uint64_t k = item.num_elements; k % kBatchAlignment != 0; ++k) {
      col_indices[item.first_element + k] = 0;
      values[item.first_element + k] = 0;
    }
  }
};

template <class S>
struct BatchCoo {
  using Value = S;
  std::uint64_t num_columns = 0;  ///< of the widest matrix
  Buffer<BatchItem> items;
  Buffer<std::uint16_t> row_indices, col_indices;
  Buffer<S> values;

  explicit BatchCoo(std::span<const CsrView<double>> matrices) : num_columns(most_columns(matrices)) {
    std::vector<std::uint64_t> sizes;
    std::uint64_t num_elements = 0;
    for (const auto& a : matrices) {
      sizes.push_back(a.num_nonzeros());
      num_elements += sizes.back();
    }
    items = batch_items(matrices, sizes);
    row_indices = Buffer<std::uint16_t>(num_elements);
    col_indices = Buffer<std::uint16_t>(num_elements);
    values = Buffer<S>(num_elements);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::size_t i = 0; i < items.size(); ++i) fill(items[i], matrices[i]);
    put_largest_first(items);
  }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.items);
    visit(self.row_indices);
    visit(self.col_indices);
    visit(self.values);
  }

 private:
  void fill(const BatchItem& item, const CsrView<double>& a) {
    std::uint64_t to = item.first_element;
    for (std::uint64_t row = 0; row < item.num_rows; ++row)
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k, ++to) {
        row_indices[to] = static_cast<std::uint16_t>(row);
        col_indices[to] = static_cast<std::uint16_t>(a.col_indices[k]);
        values[to] = element_value<S>(a, k);
      }
  }
};

template <class S>
struct BatchEll {
  using Value = S;
  std::uint64_t num_columns = 0;  ///< of the widest matrix
  Buffer<BatchItem> items;
  Buffer<std::uint16_t> col_indices;  ///< element k of row i of a matrix at k * num_rows + i
  Buffer<S> values;

  explicit BatchEll(std::span<const CsrView<double>> matrices) : num_columns(most_columns(matrices)) {
    std::vector<std::uint64_t> sizes;
    std::uint64_t num_elements = 0, num_nonzeros = 0;
    for (const auto& a : matrices) {
      sizes.push_back(checked_mul(a.num_rows, longest_row(a)));
      num_elements += sizes.back();
      num_nonzeros += a.num_nonzeros();
    }
    check_padding("ell", num_elements, num_nonzeros);
    items = batch_items(matrices, sizes);
    col_indices = Buffer<std::uint16_t>(num_elements);
    values = Buffer<S>(num_elements);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::size_t i = 0; i < items.size(); ++i) fill(items[i], matrices[i]);
    put_largest_first(items);
  }
  std::uint64_t num_stored() const { return values.size(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.items);
    visit(self.col_indices);
    visit(self.values);
  }

 private:
  void fill(BatchItem& item, const CsrView<double>& a) {
    item.width = item.num_rows == 0 ? 0 : item.num_elements / item.num_rows;
    for (std::uint64_t row = 0; row < item.num_rows; ++row)
      for (std::uint64_t k = 0; k < item.width; ++k) {
        const bool padding = k >= row_length(a, row);
        const std::uint64_t to = item.first_element + k * item.num_rows + row;
        col_indices[to] =
            padding ? std::uint16_t{0} : static_cast<std::uint16_t>(a.col_indices[a.row_offsets[row] + k]);
        values[to] = padding ? S{0} : element_value<S>(a, a.row_offsets[row] + k);
      }
  }
};

/// The same storage under four kernels.
template <class S>
struct BatchCsrScalar : BatchCsr<S> {
  using BatchCsr<S>::BatchCsr;
};
template <class S>
struct BatchCsrVector : BatchCsr<S> {
  using BatchCsr<S>::BatchCsr;
};
template <class S>
struct BatchCsrAdaptive : BatchCsr<S> {
  using BatchCsr<S>::BatchCsr;
};
template <class S>
struct BatchCsrBalanced : BatchCsr<S> {
  using BatchCsr<S>::BatchCsr;
};

template <class S>
void multiply_on_host(const BatchCsr<S>& a, const S* x, S* y) {
#pragma omp parallel for schedule(dynamic, 64)
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const BatchItem& item = a.items[i];
    const std::uint32_t* offsets = a.row_offsets.data() + item.first_offset;
    for (std::uint64_t row = 0; row < item.num_rows; ++row) {
      S sum = 0;
      for (std::uint64_t k = item.first_element + offsets[row]; k < item.first_element + offsets[row + 1];
           ++k)
        sum += a.values[k] * x[item.first_col + a.col_indices[k]];
      y[item.first_row + row] = sum;
    }
  }
}

template <class S>
void multiply_on_host(const BatchCoo<S>& a, const S* x, S* y) {
#pragma omp parallel for schedule(dynamic, 64)
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const BatchItem& item = a.items[i];
    std::fill_n(y + item.first_row, item.num_rows, S{0});
    for (std::uint64_t k = item.first_element; k < item.first_element + item.num_elements; ++k)
      y[item.first_row + a.row_indices[k]] += a.values[k] * x[item.first_col + a.col_indices[k]];
  }
}

template <class S>
void multiply_on_host(const BatchEll<S>& a, const S* x, S* y) {
#pragma omp parallel for schedule(dynamic, 64)
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const BatchItem& item = a.items[i];
    for (std::uint64_t row = 0; row < item.num_rows; ++row) {
      S sum = 0;
      for (std::uint64_t k = 0; k < item.width; ++k) {
        const std::uint64_t at = item.first_element + k * item.num_rows + row;
        sum += a.values[at] * x[item.first_col + a.col_indices[at]];
      }
      y[item.first_row + row] = sum;
    }
  }
}

// kernels/cuda/formats/cuda_batch.cu
template <class S>
void multiply_on_device(const BatchCsrScalar<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const BatchCsrVector<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const BatchCsrAdaptive<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const BatchCsrBalanced<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const BatchCoo<S>& a, const S* x, S* y);
template <class S>
void multiply_on_device(const BatchEll<S>& a, const S* x, S* y);

}  // namespace tessera
