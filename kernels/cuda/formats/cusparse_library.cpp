#include "kernels/cuda/formats/cusparse_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <limits>

#include "kernels/base/error.hpp"
#include "kernels/base/shared_library.hpp"

namespace tessera::cuda {
namespace {

CusparseLibrary load() {
  const std::string name = fmt::format("libcusparse.so.{}", CUSPARSE_VER_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw ResourceError(
        fmt::format("cuSPARSE cannot be loaded ({}); put its folder into LD_LIBRARY_PATH", dlerror()));
  CusparseLibrary functions{};
  find_function(library, "cuSPARSE", "cusparseCreate", functions.create);
  find_function(library, "cuSPARSE", "cusparseGetErrorString", functions.error_string);
  find_function(library, "cuSPARSE", "cusparseCreateCsr", functions.create_csr);
  find_function(library, "cuSPARSE", "cusparseCreateCoo", functions.create_coo);
  find_function(library, "cuSPARSE", "cusparseCreateSlicedEll", functions.create_sliced_ell);
  find_function(library, "cuSPARSE", "cusparseDestroySpMat", functions.destroy_matrix);
  find_function(library, "cuSPARSE", "cusparseCreateDnVec", functions.create_vector);
  find_function(library, "cuSPARSE", "cusparseDestroyDnVec", functions.destroy_vector);
  find_function(library, "cuSPARSE", "cusparseDnVecSetValues", functions.set_values);
  find_function(library, "cuSPARSE", "cusparseSpMV_bufferSize", functions.buffer_size);
  find_function(library, "cuSPARSE", "cusparseSpMV_preprocess", functions.preprocess);
  find_function(library, "cuSPARSE", "cusparseSpMV", functions.multiply);
  find_function(library, "cuSPARSE", "cusparseCsrSetStridedBatch", functions.set_matrix_batch);
  find_function(library, "cuSPARSE", "cusparseCreateDnMat", functions.create_dense);
  find_function(library, "cuSPARSE", "cusparseDestroyDnMat", functions.destroy_dense);
  find_function(library, "cuSPARSE", "cusparseDnMatSetStridedBatch", functions.set_dense_batch);
  find_function(library, "cuSPARSE", "cusparseDnMatSetValues", functions.set_dense_values);
  find_function(library, "cuSPARSE", "cusparseSpMM_bufferSize", functions.dense_buffer_size);
  find_function(library, "cuSPARSE", "cusparseSpMM_preprocess", functions.dense_preprocess);
  find_function(library, "cuSPARSE", "cusparseSpMM", functions.multiply_dense);
  return functions;
}

}  // namespace

const CusparseLibrary& cusparse() {
  static const CusparseLibrary functions = load();
  return functions;
}

void check_cusparse(cusparseStatus_t status, const char* call) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw ResourceError(fmt::format("cuSPARSE: {}: {}", call, cusparse().error_string(status)));
}

cusparseHandle_t cusparse_handle() {
  static const cusparseHandle_t handle = [] {
    cusparseHandle_t made = nullptr;
    TESSERA_CUSPARSE_CALL(create(&made));
    return made;
  }();
  return handle;
}

std::int32_t cusparse_int(std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
    throw ResourceError(fmt::format("cuSPARSE is given 32-bit numbers, which do not reach {}", size));
  return static_cast<std::int32_t>(size);
}

}  // namespace tessera::cuda
