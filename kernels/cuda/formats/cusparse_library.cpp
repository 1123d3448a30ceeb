#include "kernels/cuda/formats/cusparse_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

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

}  // namespace tessera::cuda
