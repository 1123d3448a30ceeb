// Arrays filled with a byte, also where they neither begin nor end at whole words, in host memory (and on a
// device where one answers).
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned char kBefore = 0x3c, kByte = 0xe7;

/// `count` bytes from `first` on, and nothing beside them.
template <class Memory>
void expect_filled(std::uint64_t first, std::uint64_t count) {
  std::vector<unsigned char> expected(first + count + 40, kBefore);
  auto bytes = Memory::template from_host<unsigned char>(expected);
  Memory::fill(bytes.data() + first, kByte, count);
  std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(first), count, kByte);
  EXPECT_TRUE(Memory::to_host(bytes.data(), bytes.size()) == expected) << first << ", " << count;
}

template <class Memory>
void expect_all_filled() {
  for (std::uint64_t first = 0; first <= 17; ++first)
    for (std::uint64_t count = 0; count <= 50; ++count) expect_filled<Memory>(first, count);
  expect_filled<Memory>(0, 1 << 22);
  expect_filled<Memory>(5, (1 << 22) + 9);
}

TEST(BuildKernels, FillBytesAndNothingBeside) {
  expect_all_filled<HostMemory>();
  if (num_devices() > 0) expect_all_filled<DeviceMemory>();
}

}  // namespace
}  // namespace tessera::cuda
