#include "kernels/profile_range.hpp"

#ifdef TESSERA_HAVE_CUDA
#include "kernels/cuda/nvtx_range.hpp"
#endif

namespace tessera {

#ifdef TESSERA_HAVE_CUDA
ProfileRange::ProfileRange(const char* name) { cuda::begin_nvtx_range(name); }
ProfileRange::~ProfileRange() { cuda::end_nvtx_range(); }
#else
ProfileRange::ProfileRange(const char*) {}
ProfileRange::~ProfileRange() = default;
#endif

}  // namespace tessera
