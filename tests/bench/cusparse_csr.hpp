// The vendor's CSR product, beside which ours is measured.
#pragma once
#include <cusparse.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/base/types.hpp"
#include "kernels/cuda/cuda_check.hpp"

namespace tessera::bench {

inline void check_cusparse(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}

/// A copy of a host array in device memory, freed at the end.
class DeviceCopy {
 public:
  DeviceCopy(const void* host, std::size_t bytes) {
    TESSERA_CUDA_CALL(cudaMalloc(&data_, bytes + 16));
    if (host != nullptr) TESSERA_CUDA_CALL(cudaMemcpy(data_, host, bytes, cudaMemcpyHostToDevice));
  }
  ~DeviceCopy() { cudaFree(data_); }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;
  void* data() { return data_; }

 private:
  void* data_ = nullptr;
};

/// Square; S: float or double.
template <class S>
class CusparseCsr {
 public:
  CusparseCsr(const std::vector<int>& row_offsets, const std::vector<VertexId>& col_indices,
              const std::vector<S>& values, const std::vector<S>& x)
      : n_(static_cast<std::int64_t>(row_offsets.size()) - 1),
        offsets_(row_offsets.data(), row_offsets.size() * sizeof(int)),
        columns_(col_indices.data(), col_indices.size() * sizeof(VertexId)),
        values_(values.data(), values.size() * sizeof(S)),
        x_(x.data(), x.size() * sizeof(S)),
        y_(nullptr, x.size() * sizeof(S)) {
    check_cusparse(cusparseCreate(&handle_));
    check_cusparse(cusparseCreateCsr(&matrix_, n_, n_, static_cast<std::int64_t>(col_indices.size()),
                                     offsets_.data(), columns_.data(), values_.data(), CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType));
    check_cusparse(cusparseCreateDnVec(&in_, n_, x_.data(), kType));
    check_cusparse(cusparseCreateDnVec(&out_, n_, y_.data(), kType));
  }
  ~CusparseCsr() {
    if (buffer_ != nullptr) cudaFree(buffer_);
    cusparseDestroyDnVec(in_);
    cusparseDestroyDnVec(out_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
  }
  CusparseCsr(const CusparseCsr&) = delete;
  CusparseCsr& operator=(const CusparseCsr&) = delete;

  /// Before apply() with this algorithm.
  void prepare(cusparseSpMVAlg_t algorithm) {
    if (buffer_ != nullptr) TESSERA_CUDA_CALL(cudaFree(buffer_));
    std::size_t bytes = 0;
    check_cusparse(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, in_,
                                           &zero_, out_, kType, algorithm, &bytes));
    TESSERA_CUDA_CALL(cudaMalloc(&buffer_, bytes + 16));
    check_cusparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, in_,
                                           &zero_, out_, kType, algorithm, buffer_));
  }
  void apply(cusparseSpMVAlg_t algorithm) {
    check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, in_, &zero_, out_,
                                kType, algorithm, buffer_));
  }
  std::vector<S> result() {
    std::vector<S> y(static_cast<std::size_t>(n_));
    TESSERA_CUDA_CALL(cudaMemcpy(y.data(), y_.data(), y.size() * sizeof(S), cudaMemcpyDeviceToHost));
    return y;
  }

 private:
  static constexpr cudaDataType kType = sizeof(S) == 4 ? CUDA_R_32F : CUDA_R_64F;
  const S one_ = 1, zero_ = 0;
  std::int64_t n_;
  DeviceCopy offsets_, columns_, values_, x_, y_;
  void* buffer_ = nullptr;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t in_ = nullptr, out_ = nullptr;
};

}  // namespace tessera::bench
