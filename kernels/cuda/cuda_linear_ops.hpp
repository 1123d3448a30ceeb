// Vector operations of linear solvers on a device: what cuda_backend.cpp forwards to. The bits are those of
// kernels/cpu/cpu_linear_ops.hpp.
#pragma once
#include <cstdint>

#include "kernels/base/buffer.hpp"

namespace tessera::cuda {

/// Waits for the device. `chunks` is working memory, grown where it is too small.
template <class S>
double dot(const S* a, const S* b, std::uint64_t size, Buffer<double>& chunks);
template <class S>
void add_scaled(double factor, const S* x, S* y, std::uint64_t size);
template <class S>
void scale_and_add(const S* x, double factor, S* y, std::uint64_t size);
template <class S>
void multiply_elements(const S* a, const S* b, S* out, std::uint64_t size);

}  // namespace tessera::cuda
