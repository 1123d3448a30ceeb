// Sums of all elements, in host memory (and on a device where one answers).
#include "kernels/cuda/reduction.cuh"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cuda/side_stream.cuh"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

/// Of which the sum has the most and the number.
struct Most {
  std::uint64_t most = 0, count = 0;

  __host__ __device__ friend Most operator+(const Most& a, const Most& b) {
    return {a.most < b.most ? b.most : a.most, a.count + b.count};
  }
};

/// On a stream beside, too.
template <class Memory>
void expect_sums() {
  SideStream<Memory> side;
  for (const std::uint64_t count : {0u, 1u, 31u, 1000u, 300001u}) {
    const auto value = [=] __host__ __device__(std::uint64_t i) -> Most {
      return {i * 7919 % 1000003, i % 3 == 0 ? 1u : 0u};
    };
    const auto sum = sum_of<Most, Memory>(count, value);
    const auto beside = sum_of<Most, Memory>(count, value, &side);
    side.join();
    Most expected;
    for (std::uint64_t i = 0; i < count; ++i)
      expected = {std::max(expected.most, i * 7919 % 1000003), expected.count + (i % 3 == 0 ? 1 : 0)};
    for (const auto* const made : {&sum, &beside}) {
      EXPECT_EQ(made->size(), 1u);
      const Most found = Memory::to_host(made->data(), 1)[0];
      EXPECT_EQ(found.most, expected.most) << count;
      EXPECT_EQ(found.count, expected.count) << count;
    }
  }
}

TEST(Reduction, FindsWhatAllElementsHaveTogether) {
  expect_sums<HostMemory>();
  if (num_devices() > 0) expect_sums<DeviceMemory>();
}

}  // namespace
}  // namespace tessera::cuda
