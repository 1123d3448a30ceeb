// What all elements of something have together, left in memory, so that it can be read beside other work.
#pragma once
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"

namespace tessera::cuda {

/// One T: value_of(0) + ... + value_of(count - 1), in any order; T() is what changes nothing.
template <class T, class Memory, class F>
BuildVector<Memory, T> sum_of(std::uint64_t count, F value_of) {
  BuildVector<Memory, T> sum(1);
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const auto add = [] __device__(const T& a, const T& b) -> T { return a + b; };
    Memory::with_scratch([&](void* scratch, std::size_t& num_bytes) {
      return cub::DeviceReduce::TransformReduce(scratch, num_bytes,
                                                thrust::counting_iterator<std::uint64_t>(0), sum.data(),
                                                count, add, value_of, T());
    });
  } else {
    T all{};
    for (std::uint64_t i = 0; i < count; ++i) all = all + value_of(i);
    *sum.data() = all;
  }
  return sum;
}

}  // namespace tessera::cuda
