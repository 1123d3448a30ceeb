// The Backend over OpenMP.
#pragma once
#include <memory>

#include "kernels/backend.hpp"

namespace tessera {

template <class S>
std::unique_ptr<Backend<S>> make_cpu_backend();

}  // namespace tessera
