// Every CUDA call of the project goes through check_cuda(), which names the call when it fails.
#pragma once
#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Throws ResourceError "CUDA: CALL: reason" when `status` is an error.
void check_cuda(cudaError_t status, const char* call);
/// Whether an allocation found too little memory; other errors as check_cuda().
bool lacks_memory(cudaError_t status, const char* call);

}  // namespace tessera::cuda

#define TESSERA_CUDA_CALL(call) ::tessera::cuda::check_cuda((call), #call)
