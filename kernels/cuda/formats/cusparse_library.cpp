#include "kernels/cuda/formats/cusparse_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <limits>

#include "kernels/base/error.hpp"

namespace tessera::cuda {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) throw ResourceError(fmt::format("cuSPARSE: {} is not in the library", name));
  function = reinterpret_cast<Function>(symbol);
}

CusparseLibrary load() {
  const std::string name = fmt::format("libcusparse.so.{}", CUSPARSE_VER_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw ResourceError(
        fmt::format("cuSPARSE cannot be loaded ({}); put its folder into LD_LIBRARY_PATH", dlerror()));
  CusparseLibrary functions{};
  find(library, "cusparseCreate", functions.create);
  find(library, "cusparseGetErrorString", functions.error_string);
  find(library, "cusparseCreateCsr", functions.create_csr);
  find(library, "cusparseCreateCoo", functions.create_coo);
  find(library, "cusparseCreateSlicedEll", functions.create_sliced_ell);
  find(library, "cusparseDestroySpMat", functions.destroy_matrix);
  find(library, "cusparseCreateDnVec", functions.create_vector);
  find(library, "cusparseDestroyDnVec", functions.destroy_vector);
  find(library, "cusparseDnVecSetValues", functions.set_values);
  find(library, "cusparseSpMV_bufferSize", functions.buffer_size);
  find(library, "cusparseSpMV_preprocess", functions.preprocess);
  find(library, "cusparseSpMV", functions.multiply);
  find(library, "cusparseCsrSetStridedBatch", functions.set_matrix_batch);
  find(library, "cusparseCreateDnMat", functions.create_dense);
  find(library, "cusparseDestroyDnMat", functions.destroy_dense);
  find(library, "cusparseDnMatSetStridedBatch", functions.set_dense_batch);
  find(library, "cusparseDnMatSetValues", functions.set_dense_values);
  find(library, "cusparseSpMM_bufferSize", functions.dense_buffer_size);
  find(library, "cusparseSpMM_preprocess", functions.dense_preprocess);
  find(library, "cusparseSpMM", functions.multiply_dense);
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
