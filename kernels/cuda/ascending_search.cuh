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

/// The first in [low, high) of which is_below() does not hold, as of none behind it; high when it holds of
/// all.
template <class IsBelow>
__host__ __device__ std::uint64_t first_not_below(std::uint64_t low, std::uint64_t high,
                                                  const IsBelow& is_below) {
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (is_below(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The position of the first of `size` ascending values that is not below `value`; size when all are.
template <class T>
__host__ __device__ inline std::uint64_t first_not_below(const T* values, std::uint64_t size,
                                                         std::uint64_t value) {
  return first_not_below(0, size, [=](std::uint64_t i) { return values[i] < value; });
}

/// As first_not_below(), by a warp, whose lanes give the same: it waits for memory a fifth as often.
template <class IsBelow>
__device__ std::uint64_t first_not_below_by_warp(std::uint64_t low, std::uint64_t high,
                                                 const IsBelow& is_below) {
  while (low < high) {
    const std::uint64_t size = high - low;
    const auto place = [=](unsigned lane) { return low + size * lane / 32; };  // of fewer than 32 some twice
    const unsigned below = __ballot_sync(~0u, is_below(place(threadIdx.x % 32))),
                   count = static_cast<unsigned>(__popc(below));
    if (count == 0) return low;
    if (count < 32) high = place(count);
    low = place(count - 1) + 1;
  }
  return low;
}

/// How something is looked for by a thread, and by a warp: where few things are looked for, as threads then
/// wait for memory more than they work.
inline constexpr std::uint64_t kFewSearches = std::uint64_t{1} << 14;
struct SearchByHalves {
  template <class IsBelow>
  __host__ __device__ std::uint64_t operator()(std::uint64_t low, std::uint64_t high,
                                               const IsBelow& is_below) const {
    return first_not_below(low, high, is_below);
  }
};
struct SearchByWarp {
  template <class IsBelow>
  __device__ std::uint64_t operator()(std::uint64_t low, std::uint64_t high, const IsBelow& is_below) const {
    return first_not_below_by_warp(low, high, is_below);
  }
};

}  // namespace tessera::cuda
