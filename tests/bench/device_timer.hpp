// Times of device work by CUDA events, and the rate of a copy in device memory that they are compared with.
#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/cuda/cuda_check.hpp"

namespace tessera::bench {

struct Times {
  double median_ms = 0, smallest_ms = 0, largest_ms = 0;
};

/// `rounds` times of `launches` calls each, divided by `launches`; after one round that is not counted.
inline Times time_device(const std::function<void()>& work, int rounds = 20, int launches = 5) {
  cudaEvent_t start, stop;
  TESSERA_CUDA_CALL(cudaEventCreate(&start));
  TESSERA_CUDA_CALL(cudaEventCreate(&stop));
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    TESSERA_CUDA_CALL(cudaEventRecord(start, nullptr));
    for (int i = 0; i < launches; ++i) work();
    TESSERA_CUDA_CALL(cudaEventRecord(stop, nullptr));
    TESSERA_CUDA_CALL(cudaEventSynchronize(stop));
    float ms = 0;
    TESSERA_CUDA_CALL(cudaEventElapsedTime(&ms, start, stop));
    if (round > 0) times.push_back(ms / launches);
  }
  TESSERA_CUDA_CALL(cudaEventDestroy(start));
  TESSERA_CUDA_CALL(cudaEventDestroy(stop));
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

/// Bytes read and written a second by a copy of 2 GiB inside the device's memory.
inline double copy_rate() {
  const std::size_t bytes = std::size_t{1} << 31;
  void *from = nullptr, *to = nullptr;
  TESSERA_CUDA_CALL(cudaMalloc(&from, bytes));
  TESSERA_CUDA_CALL(cudaMalloc(&to, bytes));
  TESSERA_CUDA_CALL(cudaMemset(from, 1, bytes));
  const Times times = time_device(
      [&] { TESSERA_CUDA_CALL(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr)); });
  TESSERA_CUDA_CALL(cudaFree(from));
  TESSERA_CUDA_CALL(cudaFree(to));
  return 2e3 * static_cast<double>(bytes) / times.median_ms;
}

}  // namespace tessera::bench
