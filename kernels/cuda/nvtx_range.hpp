// What kernels/profile_range.hpp says, by NVTX.
#pragma once

namespace tessera::cuda {

void begin_nvtx_range(const char* name);
void end_nvtx_range();

}  // namespace tessera::cuda
