#include "kernels/cuda/formats/cusparse_product.hpp"

#include <algorithm>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/formats/cusparse_library.hpp"

namespace tessera::cuda {
namespace {

/// A matrix as the library takes it: row numbers or offsets, columns and values, with 32-bit numbers.
template <class S>
struct Arrays {
  std::vector<std::int32_t> rows, columns;
  std::vector<S> values;
  explicit Arrays(const CsrView<double>& a) : columns(a.num_nonzeros()), values(a.num_nonzeros()) {
    for (EdgeOffset k = 0; k < a.num_nonzeros(); ++k) {
      columns[k] = static_cast<std::int32_t>(a.col_indices[k]);
      values[k] = element_value<S>(a, k);
    }
  }
};

constexpr std::uint64_t kSliceRows = 32;

/// Slices of rows in order, column by column; columns of padding are -1.
template <class S>
void slice_rows(const CsrView<double>& a, Arrays<S>& arrays) {
  const std::uint64_t num_slices = ceil_div(a.num_rows, kSliceRows);
  arrays.rows.assign(num_slices + 1, 0);
  std::uint64_t size = 0;
  for (std::uint64_t slice = 0; slice < num_slices; ++slice) {
    std::uint64_t width = 0;
    for (std::uint64_t row = slice * kSliceRows; row < std::min(a.num_rows, (slice + 1) * kSliceRows); ++row)
      width = std::max(width, row_length(a, row));
    size += width * kSliceRows;
    checked_padding("cusparse-sell", size, a.num_nonzeros());
    arrays.rows[slice + 1] = cusparse_int(size);
  }
  arrays.columns.assign(size, -1);
  arrays.values.assign(size, S{0});
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    auto to = static_cast<std::uint64_t>(arrays.rows[row / kSliceRows]) + row % kSliceRows;
    for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k, to += kSliceRows) {
      arrays.columns[to] = static_cast<std::int32_t>(a.col_indices[k]);
      arrays.values[to] = element_value<S>(a, k);
    }
  }
}

template <class S>
Arrays<S> arrays_of(CusparseKind kind, const CsrView<double>& a) {
  Arrays<S> arrays(a);
  if (kind == CusparseKind::sell) {
    slice_rows(a, arrays);
  } else if (kind == CusparseKind::coo) {
    for (std::uint64_t row = 0; row < a.num_rows; ++row)
      arrays.rows.insert(arrays.rows.end(), row_length(a, row), static_cast<std::int32_t>(row));
  } else {
    for (std::uint64_t row = 0; row <= a.num_rows; ++row)
      arrays.rows.push_back(static_cast<std::int32_t>(a.row_offsets[row]));
  }
  return arrays;
}

template <class S>
class CusparseProduct : public SparseProduct<S> {
 public:
  CusparseProduct(CusparseKind kind, const CsrView<double>& a) : algorithm_(algorithm_of(kind)) {
    cusparse_int(a.num_nonzeros());
    cusparse_int(a.num_rows);
    cusparse_int(a.num_cols);
    num_rows_ = a.num_rows;
    if (a.num_nonzeros() == 0) return;
    const Arrays<S> arrays = arrays_of<S>(kind, a);
    rows_ = on_device(std::span<const std::int32_t>(arrays.rows));
    columns_ = on_device(std::span<const std::int32_t>(arrays.columns));
    values_ = on_device(std::span<const S>(arrays.values));
    handle_ = cusparse_handle();
    try {
      create_matrix(kind, a);
      prepare(a);
    } catch (...) {
      release();
      throw;
    }
  }
  ~CusparseProduct() override { release(); }
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;

  FormatStats stats() const override {
    return {.num_stored = values_.size(),
            .bytes = rows_.size_bytes() + columns_.size_bytes() + values_.size_bytes()};
  }
  void multiply(const S* x, S* y) const override {
    if (matrix_ == nullptr) {  // without elements; the library is not asked
      TESSERA_CUDA_CALL(cudaMemsetAsync(y, 0, num_rows_ * sizeof(S), nullptr));
      return;
    }
    TESSERA_CUSPARSE_CALL(set_values(x_, const_cast<S*>(x)));
    TESSERA_CUSPARSE_CALL(set_values(y_, y));
    TESSERA_CUSPARSE_CALL(multiply(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
                                   kType, algorithm_, const_cast<unsigned char*>(workspace_.data())));
  }

 private:
  static constexpr cudaDataType kType = sizeof(S) == 4 ? CUDA_R_32F : CUDA_R_64F;

  static cusparseSpMVAlg_t algorithm_of(CusparseKind kind) {
    switch (kind) {
      case CusparseKind::csr1:
        return CUSPARSE_SPMV_CSR_ALG1;
      case CusparseKind::csr2:
        return CUSPARSE_SPMV_CSR_ALG2;
      case CusparseKind::coo:
        return CUSPARSE_SPMV_COO_ALG1;
      case CusparseKind::sell:
        return CUSPARSE_SPMV_SELL_ALG1;
    }
    throw InternalError("unknown format of cuSPARSE");
  }

  void create_matrix(CusparseKind kind, const CsrView<double>& a) {
    const auto rows = static_cast<std::int64_t>(a.num_rows), columns = static_cast<std::int64_t>(a.num_cols);
    const auto size = static_cast<std::int64_t>(a.num_nonzeros());
    if (kind == CusparseKind::sell)
      TESSERA_CUSPARSE_CALL(
          create_sliced_ell(&matrix_, rows, columns, size, static_cast<std::int64_t>(values_.size()),
                            kSliceRows, rows_.data(), columns_.data(), values_.data(), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType));
    else if (kind == CusparseKind::coo)
      TESSERA_CUSPARSE_CALL(create_coo(&matrix_, rows, columns, size, rows_.data(), columns_.data(),
                                       values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType));
    else
      TESSERA_CUSPARSE_CALL(create_csr(&matrix_, rows, columns, size, rows_.data(), columns_.data(),
                                       values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_BASE_ZERO, kType));
  }

  /// The library looks at the matrix once, with any vectors.
  void prepare(const CsrView<double>& a) {
    Buffer<S> x = device_buffer<S>(std::max<std::uint64_t>(1, a.num_cols));
    Buffer<S> y = device_buffer<S>(std::max<std::uint64_t>(1, a.num_rows));
    TESSERA_CUSPARSE_CALL(create_vector(&x_, static_cast<std::int64_t>(a.num_cols), x.data(), kType));
    TESSERA_CUSPARSE_CALL(create_vector(&y_, static_cast<std::int64_t>(a.num_rows), y.data(), kType));
    std::size_t bytes = 0;
    TESSERA_CUSPARSE_CALL(buffer_size(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_,
                                      y_, kType, algorithm_, &bytes));
    workspace_ = device_buffer<unsigned char>(bytes + 16);
    TESSERA_CUSPARSE_CALL(preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_,
                                     y_, kType, algorithm_, workspace_.data()));
    TESSERA_CUDA_CALL(cudaDeviceSynchronize());
  }

  void release() {
    if (x_ != nullptr) cusparse().destroy_vector(x_);
    if (y_ != nullptr) cusparse().destroy_vector(y_);
    if (matrix_ != nullptr) cusparse().destroy_matrix(matrix_);
  }

  const S one_ = 1, zero_ = 0;
  cusparseSpMVAlg_t algorithm_;
  std::uint64_t num_rows_ = 0;
  Buffer<std::int32_t> rows_, columns_;
  Buffer<S> values_;
  Buffer<unsigned char> workspace_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
};

}  // namespace

template <class S>
std::unique_ptr<SparseProduct<S>> make_cusparse_product(CusparseKind kind, const CsrView<double>& matrix) {
  return std::make_unique<CusparseProduct<S>>(kind, matrix);
}

template std::unique_ptr<SparseProduct<float>> make_cusparse_product(CusparseKind, const CsrView<double>&);
template std::unique_ptr<SparseProduct<double>> make_cusparse_product(CusparseKind, const CsrView<double>&);

}  // namespace tessera::cuda
