// The vendor's CSR product (fp32, values 1), beside which ours is measured.
#pragma once
#include <cusparse.h>

#include <stdexcept>
#include <string>

#include "engine/graph.hpp"
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

class CusparseCsr {
 public:
  CusparseCsr(const std::vector<int>& row_offsets, const Buffer<VertexId>& col_indices, const float* x)
      : n_(static_cast<std::int64_t>(row_offsets.size()) - 1),
        offsets_(row_offsets.data(), row_offsets.size() * sizeof(int)),
        columns_(col_indices.data(), col_indices.size_bytes()),
        values_(std::vector<float>(col_indices.size(), 1.0f).data(), col_indices.size() * sizeof(float)),
        x_(x, static_cast<std::size_t>(n_) * sizeof(float)),
        y_(nullptr, static_cast<std::size_t>(n_) * sizeof(float)) {
    check_cusparse(cusparseCreate(&handle_));
    check_cusparse(cusparseCreateCsr(&matrix_, n_, n_, static_cast<std::int64_t>(col_indices.size()),
                                     offsets_.data(), columns_.data(), values_.data(), CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    check_cusparse(cusparseCreateDnVec(&in_, n_, x_.data(), CUDA_R_32F));
    check_cusparse(cusparseCreateDnVec(&out_, n_, y_.data(), CUDA_R_32F));
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
                                           &zero_, out_, CUDA_R_32F, algorithm, &bytes));
    TESSERA_CUDA_CALL(cudaMalloc(&buffer_, bytes + 16));
    check_cusparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, in_,
                                           &zero_, out_, CUDA_R_32F, algorithm, buffer_));
  }
  void apply(cusparseSpMVAlg_t algorithm) {
    check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, in_, &zero_, out_,
                                CUDA_R_32F, algorithm, buffer_));
  }
  std::vector<float> result() {
    std::vector<float> y(static_cast<std::size_t>(n_));
    TESSERA_CUDA_CALL(cudaMemcpy(y.data(), y_.data(), y.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return y;
  }

 private:
  const float one_ = 1, zero_ = 0;
  std::int64_t n_;
  DeviceCopy offsets_, columns_, values_, x_, y_;
  void* buffer_ = nullptr;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t in_ = nullptr, out_ = nullptr;
};

}  // namespace tessera::bench
