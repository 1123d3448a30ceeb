// The Backend over one CUDA device.
#pragma once
#include <memory>

#include "kernels/backend.hpp"

namespace tessera {

/// True when a CUDA device answers.
bool has_cuda_device();
/// On the current device. Throws ResourceError, saying why, when none answers.
template <class S>
std::unique_ptr<Backend<S>> make_cuda_backend();

}  // namespace tessera
