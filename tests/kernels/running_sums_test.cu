// Sums of all elements up to each, in host memory (and on a device where one answers).
#include "kernels/cuda/running_sums.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

/// As many as are added up in one launch, and more.
template <class T>
std::vector<std::uint64_t> counts_of_many() {
  return {kMostSummed<T> - 1, kMostSummed<T>, kMostSummed<T> + 1};
}
/// As many as a block has, some less or more.
template <class T>
std::vector<std::uint64_t> counts_around() {
  std::vector<std::uint64_t> counts{0, 1, 31, 1000, 300001};
  for (const std::uint64_t blocks : {1, 2, 257, 700})
    for (const int more : {-1, 0, 1}) counts.push_back(blocks * kSumElements<T> + more);
  return counts;
}

/// Some numbers of 64 bits have both halves, and sums of 32 bits wrap around.
template <class T>
struct ValueOf {
  __host__ __device__ T operator()(std::uint64_t i) const {
    return static_cast<T>(i * 40503 % 65537 + (i % 1000 == 0 ? i << 20 : 0));
  }
};

/// Sees all sums: those of every third element.
template <class T>
struct KeepThirds {
  T* thirds;
  __host__ __device__ void operator()(std::uint64_t i, T sum) const {
    if (i % 3 == 0) thirds[i / 3] = sum;
  }
};

/// One after the other, so that words of sums before lie where those of the next are told.
template <class Memory, class T>
void expect_sums(const std::vector<std::uint64_t>& counts) {
  for (const std::uint64_t count : counts) {
    SCOPED_TRACE(count);
    std::vector<T> values(count), expected(count), expected_thirds;
    T sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      values[i] = ValueOf<T>{}(i);
      sum = static_cast<T>(sum + values[i]);
      expected[i] = sum;
      if (i % 3 == 0) expected_thirds.push_back(sum);
    }
    BuildVector<Memory, T> sums(count), thirds(expected_thirds.size());
    sum_up<T, Memory>(count, ValueOf<T>{}, sums.data(), KeepThirds<T>{thirds.data()});
    EXPECT_TRUE(Memory::to_host(sums.data(), count) == expected);
    EXPECT_TRUE(Memory::to_host(thirds.data(), thirds.size()) == expected_thirds);
    if (count <= kMostSummed<T>) {
      Memory::fill(thirds.data(), 0xa5, thirds.size() * sizeof(T));
      sum_up_seen<T, Memory>(count, ValueOf<T>{}, KeepThirds<T>{thirds.data()});
      EXPECT_TRUE(Memory::to_host(thirds.data(), thirds.size()) == expected_thirds);
    }
    auto in_place = Memory::template from_host<T>(values);
    sum_up(in_place);
    EXPECT_TRUE(Memory::to_host(in_place.data(), count) == expected);
  }
}

TEST(RunningSums, AddUpNumbersOf32Bits) {
  expect_sums<HostMemory, std::uint32_t>(counts_around<std::uint32_t>());
  if (num_devices() > 0) expect_sums<DeviceMemory, std::uint32_t>(counts_around<std::uint32_t>());
}
TEST(RunningSums, AddUpNumbersOf64Bits) {
  expect_sums<HostMemory, std::uint64_t>(counts_around<std::uint64_t>());
  if (num_devices() > 0) expect_sums<DeviceMemory, std::uint64_t>(counts_around<std::uint64_t>());
}
TEST(RunningSums, AddUpManyElements) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  expect_sums<DeviceMemory, std::uint32_t>(counts_of_many<std::uint32_t>());
  expect_sums<DeviceMemory, std::uint64_t>(counts_of_many<std::uint64_t>());
}

}  // namespace
}  // namespace tessera::cuda
