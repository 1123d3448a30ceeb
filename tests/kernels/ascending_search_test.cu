// Searches of ascending values by warps of a device, against those by halves.
#include "kernels/cuda/ascending_search.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

/// A warp a target.
__global__ void search_kernel(const std::uint32_t* values, std::uint64_t low, std::uint64_t high,
                              const std::uint32_t* targets, std::uint64_t* found) {
  const std::uint32_t target = targets[blockIdx.x];
  const std::uint64_t place =
      first_not_below_by_warp(low, high, [=](std::uint64_t i) { return values[i] < target; });
  if (threadIdx.x == 7) found[blockIdx.x] = place;  // any lane
}

void expect_found(const std::vector<std::uint32_t>& values, std::uint64_t low, std::uint64_t high) {
  std::vector<std::uint32_t> targets{0, 1, ~0u};
  for (const std::uint32_t value : values) targets.insert(targets.end(), {value - 1, value, value + 1});
  const auto there = DeviceMemory::from_host<std::uint32_t>(values);
  const auto targets_there = DeviceMemory::from_host<std::uint32_t>(targets);
  BuildVector<DeviceMemory, std::uint64_t> found(targets.size());
  search_kernel<<<static_cast<unsigned>(targets.size()), 32>>>(there.data(), low, high, targets_there.data(),
                                                               found.data());
  const std::vector<std::uint64_t> places = DeviceMemory::to_host(found.data(), found.size());
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(low),
               end = values.begin() + static_cast<std::ptrdiff_t>(high),
               expected = std::lower_bound(begin, end, targets[t]);
    ASSERT_EQ(places[t], static_cast<std::uint64_t>(expected - values.begin())) << targets[t];
    ASSERT_EQ(first_not_below(low, high, [&](std::uint64_t i) { return values[i] < targets[t]; }), places[t]);
  }
}

TEST(DeviceAscendingSearch, FindsTheSameByWarps) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  std::mt19937 random(7);
  for (const std::size_t size : {1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 1000u, 1023u, 1025u, 40000u}) {
    SCOPED_TRACE(size);
    std::vector<std::uint32_t> values(size);
    for (std::uint32_t& value : values) value = 1 + random() % static_cast<std::uint32_t>(size);
    std::sort(values.begin(), values.end());
    expect_found(values, 0, size);
    expect_found(values, size / 3, size - size / 4);
    expect_found(values, size / 2, size / 2);
  }
}

}  // namespace
}  // namespace tessera::cuda
