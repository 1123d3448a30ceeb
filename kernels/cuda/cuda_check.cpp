#include "kernels/cuda/cuda_check.hpp"

#include <string>

#include "kernels/base/error.hpp"

namespace tessera::cuda {

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // which would fail the next call of whoever catches this
  throw ResourceError(std::string("CUDA: ") + call + ": " + cudaGetErrorString(status));
}

bool lacks_memory(cudaError_t status, const char* call) {
  if (status != cudaErrorMemoryAllocation) {
    check_cuda(status, call);
    return false;
  }
  (void)cudaGetLastError();  // which would fail the next call
  return true;
}

}  // namespace tessera::cuda
