// What all elements of something have together, left in memory, so that it can be read beside other work.
#pragma once
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/side_stream.cuh"

namespace tessera::cuda {

/// One T: value_of(0) + ... + value_of(count - 1), in any order; T() is what changes nothing. side: to
/// make it beside, on the stream that this forks; the result, behind which is what a device needs, lives
/// until that is joined.
template <class T, class Memory, class F>
BuildVector<Memory, T> sum_of(std::uint64_t count, F value_of, SideStream<Memory>* side = nullptr) {
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const auto add = [] __device__(const T& a, const T& b) -> T { return a + b; };
    std::size_t num_bytes = 0;
    cudaStream_t stream = nullptr;
    const auto reduce = [&](T* scratch, T* sum) {
      TESSERA_CUDA_CALL(cub::DeviceReduce::TransformReduce(scratch, num_bytes,
                                                           thrust::counting_iterator<std::uint64_t>(0), sum,
                                                           count, add, value_of, T(), stream));
    };
    reduce(nullptr, nullptr);
    BuildVector<Memory, T> sum(1 + ceil_div(num_bytes, sizeof(T)));
    if (side != nullptr) {
      side->fork();
      stream = side->stream();
    }
    reduce(sum.data() + 1, sum.data());
    sum.truncate(1);
    return sum;
  } else {
    BuildVector<Memory, T> sum(1);
    if (side != nullptr) side->fork();
    T all{};
    for (std::uint64_t i = 0; i < count; ++i) all = all + value_of(i);
    *sum.data() = all;
    return sum;
  }
}

}  // namespace tessera::cuda
