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

/// Few words come with a kernel, others by a copy.
template <class Memory>
void expect_uploaded() {
  for (const std::size_t count : {0u, 1u, 3u, 4u, 40u, 3583u, 3584u, 3585u, 3588u, 70000u})
    for (const std::size_t first : {0u, 1u, 4u}) {
      std::vector<unsigned char> expected(first + count + 40, kBefore), sent(count);
      for (std::size_t i = 0; i < count; ++i) sent[i] = static_cast<unsigned char>(i * 7 + 1);
      auto bytes = Memory::template from_host<unsigned char>(expected);
      Memory::upload(sent.data(), bytes.data() + first, count);
      std::copy(sent.begin(), sent.end(), expected.begin() + static_cast<std::ptrdiff_t>(first));
      EXPECT_TRUE(Memory::to_host(bytes.data(), bytes.size()) == expected) << first << ", " << count;
    }
}

TEST(BuildKernels, SendBytesAndNothingBeside) {
  static_assert(sizeof(SentWords) == 3584);
  expect_uploaded<HostMemory>();
  if (num_devices() > 0) expect_uploaded<DeviceMemory>();
}

template <class Memory>
void expect_both_clear() {
  for (const std::uint64_t first : {0u, 1u, 15u, 16u, 1003u})
    for (const std::uint64_t second : {0u, 1u, 17u, 4099u}) {
      auto bytes = Memory::template from_host<unsigned char>(std::vector<unsigned char>(6000, kBefore));
      Memory::clear_both(bytes.data() + 3, first, bytes.data() + 1500, second);
      std::vector<unsigned char> expected(6000, kBefore);
      std::fill_n(expected.begin() + 3, first, 0);
      std::fill_n(expected.begin() + 1500, second, 0);
      EXPECT_TRUE(Memory::to_host(bytes.data(), bytes.size()) == expected) << first << ", " << second;
    }
}

TEST(BuildKernels, ClearBothArraysAndNothingBeside) {
  expect_both_clear<HostMemory>();
  if (num_devices() > 0) expect_both_clear<DeviceMemory>();
}

TEST(BuildKernels, FillBytesAndNothingBeside) {
  expect_all_filled<HostMemory>();
  if (num_devices() > 0) expect_all_filled<DeviceMemory>();
}

}  // namespace
}  // namespace tessera::cuda
