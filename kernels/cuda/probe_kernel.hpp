// Whether a device runs what this build was compiled for, found by running it.
#pragma once
#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Launches a kernel that does nothing on the device in use and waits for it.
cudaError_t run_probe_kernel();

}  // namespace tessera::cuda
