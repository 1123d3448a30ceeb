// Times of device work, and the rate of a copy in device memory that they are compared with.
#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/device_stopwatch.hpp"

namespace tessera::bench {

struct Times {
  double median_ms = 0, smallest_ms = 0, largest_ms = 0;
};

/// `rounds` times of `launches` calls each, divided by `launches`; after one round that is not counted. Short
/// work is queued before the device begins, so that the host's launches are not timed (device_stopwatch.hpp).
inline Times time_device(const std::function<void()>& work, int rounds = 20,
                         int launches = cuda::kTimedInARow) {
  const cuda::PartWork parts[] = {{"", work}};
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    const double ms = 1e3 * cuda::time_on_device(parts, launches).front().seconds;
    if (round > 0) times.push_back(ms);
  }
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
