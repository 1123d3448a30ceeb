// The Backend over one CUDA device.
#pragma once
#include <memory>

#include "kernels/backend.hpp"

namespace tessera {

/// True when a CUDA device answers and runs what this build was compiled for.
bool has_cuda_device();
/// On the device in use. Throws ResourceError, saying why, when none answers or it cannot run this build.
template <class S>
std::unique_ptr<Backend<S>> make_cuda_backend();

}  // namespace tessera
