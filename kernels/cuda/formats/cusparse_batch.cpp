#include "kernels/cuda/formats/cusparse_batch.hpp"

#include <fmt/format.h>

#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/formats/cusparse_library.hpp"

namespace tessera::cuda {
namespace {

/// Where rows differ in length from matrix to matrix, the library of CUDA 13.0 gave wrong products from the
/// second one on (seen on an H200), although it is told how far apart their offsets lie.
bool has_rows_of(const CsrView<double>& a, const CsrView<double>& b) {
  if (a.num_rows != b.num_rows || a.num_cols != b.num_cols) return false;
  for (std::uint64_t row = 0; row < a.num_rows; ++row)
    if (row_length(a, row) != row_length(b, row)) return false;
  return true;
}

void check_alike(std::span<const CsrView<double>> matrices) {
  for (std::size_t i = 1; i < matrices.size(); ++i)
    if (!has_rows_of(matrices[i], matrices[0]))
      throw ResourceError(fmt::format(
          "cusparse-spmm: takes matrices of one shape with rows of the same lengths, and matrix 1 is "
          "{} x {} with {} elements, matrix {} is {} x {} with {}",
          matrices[0].num_rows, matrices[0].num_cols, matrices[0].num_nonzeros(), i + 1, matrices[i].num_rows,
          matrices[i].num_cols, matrices[i].num_nonzeros()));
}

template <class S>
class CusparseBatch : public SparseProduct<S> {
 public:
  explicit CusparseBatch(std::span<const CsrView<double>> matrices) {
    check_alike(matrices);
    if (matrices.empty()) return;
    num_rows_ = matrices[0].num_rows;
    cusparse_int(num_rows_);
    cusparse_int(matrices[0].num_cols);
    count_ = cusparse_int(matrices.size());
    if (matrices[0].num_nonzeros() == 0) return;
    copy(matrices);
    try {
      prepare(matrices[0]);
    } catch (...) {
      release();
      throw;
    }
  }
  ~CusparseBatch() override { release(); }
  CusparseBatch(const CusparseBatch&) = delete;
  CusparseBatch& operator=(const CusparseBatch&) = delete;

  FormatStats stats() const override {
    return {.num_stored = values_.size(),
            .bytes = offsets_.size_bytes() + columns_.size_bytes() + values_.size_bytes()};
  }
  void multiply(const S* x, S* y) const override {
    if (matrix_ == nullptr) {  // without elements; the library is not asked
      if (num_rows_ > 0)
        TESSERA_CUDA_CALL(
            cudaMemsetAsync(y, 0, static_cast<std::uint64_t>(count_) * num_rows_ * sizeof(S), nullptr));
      return;
    }
    TESSERA_CUSPARSE_CALL(set_dense_values(x_, const_cast<S*>(x)));
    TESSERA_CUSPARSE_CALL(set_dense_values(y_, y));
    TESSERA_CUSPARSE_CALL(multiply_dense(cusparse_handle(), kAsIs, kAsIs, &one_, matrix_, x_, &zero_, y_,
                                         kType, kAlgorithm, const_cast<unsigned char*>(workspace_.data())));
  }

 private:
  static constexpr cudaDataType kType = sizeof(S) == 4 ? CUDA_R_32F : CUDA_R_64F;
  static constexpr cusparseOperation_t kAsIs = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr cusparseSpMMAlg_t kAlgorithm = CUSPARSE_SPMM_CSR_ALG1;

  void copy(std::span<const CsrView<double>> matrices) {
    std::vector<std::int32_t> offsets, columns;
    std::vector<S> values;
    for (const CsrView<double>& a : matrices) {
      for (std::uint64_t row = 0; row <= a.num_rows; ++row)
        offsets.push_back(cusparse_int(a.row_offsets[row] - a.row_offsets[0]));
      for (EdgeOffset k = a.row_offsets[0]; k < a.row_offsets[a.num_rows]; ++k) {
        columns.push_back(cusparse_int(a.col_indices[k]));
        values.push_back(element_value<S>(a, k));
      }
    }
    offsets_ = on_device(std::span<const std::int32_t>(offsets));
    columns_ = on_device(std::span<const std::int32_t>(columns));
    values_ = on_device(std::span<const S>(values));
  }

  void prepare(const CsrView<double>& a) {
    const auto rows = static_cast<std::int64_t>(a.num_rows), cols = static_cast<std::int64_t>(a.num_cols);
    const auto size = static_cast<std::int64_t>(a.num_nonzeros());
    TESSERA_CUSPARSE_CALL(create_csr(&matrix_, rows, cols, size, offsets_.data(), columns_.data(),
                                     values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, kType));
    TESSERA_CUSPARSE_CALL(set_matrix_batch(matrix_, count_, rows + 1, size));
    const Buffer<S> x = device_buffer<S>(static_cast<std::uint64_t>(count_) * a.num_cols);
    const Buffer<S> y = device_buffer<S>(static_cast<std::uint64_t>(count_) * a.num_rows);
    make_dense(x_, cols, x);
    make_dense(y_, rows, y);
    std::size_t bytes = 0;
    TESSERA_CUSPARSE_CALL(dense_buffer_size(cusparse_handle(), kAsIs, kAsIs, &one_, matrix_, x_, &zero_, y_,
                                            kType, kAlgorithm, &bytes));
    workspace_ = device_buffer<unsigned char>(bytes + 16);
    TESSERA_CUSPARSE_CALL(dense_preprocess(cusparse_handle(), kAsIs, kAsIs, &one_, matrix_, x_, &zero_, y_,
                                           kType, kAlgorithm, workspace_.data()));
    TESSERA_CUDA_CALL(cudaDeviceSynchronize());
  }
  /// A column of `length` numbers for each matrix.
  void make_dense(cusparseDnMatDescr_t& dense, std::int64_t length, const Buffer<S>& any) {
    TESSERA_CUSPARSE_CALL(
        create_dense(&dense, length, 1, length, const_cast<S*>(any.data()), kType, CUSPARSE_ORDER_COL));
    TESSERA_CUSPARSE_CALL(set_dense_batch(dense, count_, length));
  }

  void release() {
    if (x_ != nullptr) cusparse().destroy_dense(x_);
    if (y_ != nullptr) cusparse().destroy_dense(y_);
    if (matrix_ != nullptr) cusparse().destroy_matrix(matrix_);
  }

  const S one_ = 1, zero_ = 0;
  std::uint64_t num_rows_ = 0;
  int count_ = 0;
  Buffer<std::int32_t> offsets_, columns_;
  Buffer<S> values_;
  Buffer<unsigned char> workspace_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnMatDescr_t x_ = nullptr, y_ = nullptr;
};

}  // namespace

template <class S>
std::unique_ptr<SparseProduct<S>> make_cusparse_batch(std::span<const CsrView<double>> matrices) {
  return std::make_unique<CusparseBatch<S>>(matrices);
}

template std::unique_ptr<SparseProduct<float>> make_cusparse_batch(std::span<const CsrView<double>>);
template std::unique_ptr<SparseProduct<double>> make_cusparse_batch(std::span<const CsrView<double>>);

}  // namespace tessera::cuda
