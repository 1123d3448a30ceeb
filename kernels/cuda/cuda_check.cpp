#include "kernels/cuda/cuda_check.hpp"

#include <string>

#include "kernels/base/error.hpp"

namespace tessera::cuda {

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw ResourceError(std::string("CUDA: ") + call + ": " + cudaGetErrorString(status));
}

}  // namespace tessera::cuda
