#include "kernels/cpu/cpu_linear_ops.hpp"

#include <algorithm>
#include <vector>

#include "kernels/base/types.hpp"
#include "kernels/dot_order.hpp"

namespace tessera::cpu {
namespace {

constexpr std::uint64_t kWorthThreads = 16384;

template <class S>
double dot_of_chunk(const S* a, const S* b, std::uint64_t size) {
  double lanes[kDotLanes] = {};
  for (std::uint64_t first = 0; first < size; first += kDotLanes) {
    const std::uint64_t count = std::min<std::uint64_t>(kDotLanes, size - first);
    for (std::uint64_t i = 0; i < count; ++i)
      lanes[i] += static_cast<double>(a[first + i]) * static_cast<double>(b[first + i]);
  }
  for (std::uint32_t distance = kDotLanes / 2; distance > 0; distance /= 2)
    for (std::uint32_t i = 0; i < distance; ++i) lanes[i] += lanes[i + distance];
  return lanes[0];
}

}  // namespace

template <class S>
double dot(const S* a, const S* b, std::uint64_t size) {
  const std::uint64_t num_chunks = ceil_div<std::uint64_t>(size, kDotChunk);
  std::vector<double> chunks(num_chunks);
#pragma omp parallel for schedule(static) if (size >= kWorthThreads)
  for (std::uint64_t c = 0; c < num_chunks; ++c)
    chunks[c] = dot_of_chunk(a + c * kDotChunk, b + c * kDotChunk, std::min(kDotChunk, size - c * kDotChunk));
  double sum = 0;
  for (const double chunk : chunks) sum += chunk;
  return sum;
}

template <class S>
void add_scaled(double factor, const S* x, S* y, std::uint64_t size) {
#pragma omp parallel for schedule(static) if (size >= kWorthThreads)
  for (std::uint64_t i = 0; i < size; ++i)
    y[i] = static_cast<S>(static_cast<double>(y[i]) + factor * static_cast<double>(x[i]));
}

template <class S>
void scale_and_add(const S* x, double factor, S* y, std::uint64_t size) {
#pragma omp parallel for schedule(static) if (size >= kWorthThreads)
  for (std::uint64_t i = 0; i < size; ++i)
    y[i] = static_cast<S>(static_cast<double>(x[i]) + factor * static_cast<double>(y[i]));
}

template <class S>
void multiply_elements(const S* a, const S* b, S* out, std::uint64_t size) {
#pragma omp parallel for schedule(static) if (size >= kWorthThreads)
  for (std::uint64_t i = 0; i < size; ++i)
    out[i] = static_cast<S>(static_cast<double>(a[i]) * static_cast<double>(b[i]));
}

template double dot(const float*, const float*, std::uint64_t);
template double dot(const double*, const double*, std::uint64_t);
template void add_scaled(double, const float*, float*, std::uint64_t);
template void add_scaled(double, const double*, double*, std::uint64_t);
template void scale_and_add(const float*, double, float*, std::uint64_t);
template void scale_and_add(const double*, double, double*, std::uint64_t);
template void multiply_elements(const float*, const float*, float*, std::uint64_t);
template void multiply_elements(const double*, const double*, double*, std::uint64_t);

}  // namespace tessera::cpu
