#include "kernels/cuda/nvtx_range.hpp"

#include <nvtx3/nvToolsExt.h>

namespace tessera::cuda {

void begin_nvtx_range(const char* name) { nvtxRangePushA(name); }
void end_nvtx_range() { nvtxRangePop(); }

}  // namespace tessera::cuda
