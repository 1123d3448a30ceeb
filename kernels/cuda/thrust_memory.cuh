// Thrust in host or device memory: what is written for a Memory can be tested without a device.
#pragma once
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system_error.h>

#include <memory>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {

/// Vectors in memory of one kind, and loops over them. Parents of device lambdas must be public: nvcc takes
/// none from a private function.
template <class Derived>
struct MemoryTools {
  template <class V>
  static auto raw(V& vector) {
    return thrust::raw_pointer_cast(vector.data());
  }
  /// Frees it; assigning {} would keep its memory.
  template <class V>
  static void release(V& vector) {
    V().swap(vector);
  }
  template <class F>
  static void each(std::uint64_t count, F body) {
    thrust::for_each_n(Derived::policy(), thrust::counting_iterator<std::uint64_t>(0), count, body);
  }
  /// One after the other; the parts are freed.
  template <class V>
  static V joined(std::vector<V>& parts) {
    std::size_t size = 0;
    for (const V& part : parts) size += part.size();
    V all(size);
    auto to = all.begin();
    for (const V& part : parts) to = thrust::copy(part.begin(), part.end(), to);
    parts = {};
    return all;
  }
  /// A vector as a Buffer that owns it.
  template <class V>
  static auto as_buffer(V&& vector) {
    using T = typename V::value_type;
    const std::shared_ptr<V> owner(new V(std::move(vector)), [](V* all) {
      if (Derived::may_free()) delete all;
    });
    T* data = raw(*owner);
    const std::size_t size = owner->size();
    return Buffer<T>(std::shared_ptr<void>(owner), data, size);
  }
};

struct HostMemory : MemoryTools<HostMemory> {
  template <class T>
  using Vector = thrust::host_vector<T>;
  static auto policy() { return thrust::host; }
  static bool may_free() { return true; }
};
struct DeviceMemory : MemoryTools<DeviceMemory> {
  template <class T>
  using Vector = thrust::device_vector<T>;
  static auto policy() { return thrust::device; }
  static bool may_free() { return cuda::may_free(); }
};

/// The position of the last element of ascending `values` that is not above `value`; values[0] is not.
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

}  // namespace tessera::cuda
