// Searches of ascending values, for host and device.
#pragma once
#include <cstdint>

namespace tessera::cuda {

/// The position of the last of `size` ascending values that is not above `value`; values[0] is not.
template <class T>
__host__ __device__ inline std::uint64_t last_not_above(const T* values, std::uint64_t size,
                                                        std::uint64_t value) {
  std::uint64_t low = 0, high = size;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    if (values[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// The position of the first of `size` ascending values that is not below `value`; size when all are.
template <class T>
__host__ __device__ inline std::uint64_t first_not_below(const T* values, std::uint64_t size,
                                                         std::uint64_t value) {
  std::uint64_t low = 0;
  while (low < size) {
    const std::uint64_t middle = (low + size) / 2;
    if (values[middle] < value)
      low = middle + 1;
    else
      size = middle;
  }
  return low;
}

}  // namespace tessera::cuda
