// How often values are among keys, few values and many: on a device where one answers, and of the plain loop
// that stands for it in host memory.
#include "kernels/cuda/key_counts.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

/// Half of the keys are among a few values at either end.
std::vector<VertexId> random_keys(std::size_t count, std::uint64_t num_values, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<VertexId> keys(count);
  for (VertexId& key : keys) {
    const std::uint64_t few = std::min<std::uint64_t>(num_values, 1 + random() % 40);
    key = static_cast<VertexId>(random() % 2 == 0   ? random() % num_values
                                : random() % 2 == 0 ? random() % few
                                                    : num_values - 1 - random() % few);
  }
  return keys;
}

template <class Memory>
std::vector<std::uint32_t> counts_of(const std::vector<VertexId>& keys, std::uint64_t num_values,
                                     std::uint64_t least_dealt, bool knows_ranges = false) {
  const auto given = Memory::template from_host<VertexId>(keys);
  const KeyRanges ranges = KeyRanges::of(num_values);
  std::vector<std::uint32_t> in_ranges(ranges.count);
  if (ranges.count > 0)
    for (const VertexId key : keys) ++in_ranges[key >> ranges.shift];
  const auto known = Memory::template from_host<std::uint32_t>(in_ranges);
  auto counts = Memory::template zeros<std::uint32_t>(num_values);
  count_keys<Memory>(given.data(), keys.size(), num_values, least_dealt,
                     knows_ranges ? known.data() : nullptr, counts.data());
  return Memory::to_host(counts.data(), num_values);
}

/// Pieces of them ascend, as the columns of rows do, so that neighbours often go to the same range.
std::vector<VertexId> keys_in_rows(std::vector<VertexId> keys) {
  constexpr std::ptrdiff_t kLength = 2999;
  for (auto at = keys.begin(); at != keys.end();) {
    const auto end = keys.end() - at > kLength ? at + kLength : keys.end();
    std::sort(at, end);
    at = end;
  }
  return keys;
}

class KeyCounts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(KeyCounts, AreHowOftenEachValueIsThere) {
  const std::uint64_t num_values = GetParam();
  for (const std::size_t size : {std::size_t{1}, std::size_t{8191}, std::size_t{1'300'001}}) {
    const auto keys = random_keys(size, num_values, static_cast<unsigned>(size));
    std::vector<std::uint32_t> expected(num_values);
    for (const VertexId key : keys) ++expected[key];
    EXPECT_TRUE(counts_of<HostMemory>(keys, num_values, 0) == expected) << size;
    if (num_devices() == 0) continue;
    EXPECT_TRUE(counts_of<DeviceMemory>(keys, num_values, 0) == expected) << size;
    EXPECT_TRUE(counts_of<DeviceMemory>(keys, num_values, 0, true) == expected) << size;
    const auto in_rows = keys_in_rows(keys);
    EXPECT_TRUE(counts_of<DeviceMemory>(in_rows, num_values, 0) == expected) << size;
    EXPECT_TRUE(counts_of<DeviceMemory>(in_rows, num_values, 0, true) == expected) << size;
    EXPECT_TRUE(counts_of<DeviceMemory>(keys, num_values, ~std::uint64_t{0}) == expected) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Values, KeyCounts,
                         testing::Values(1, 2, 1000, 1u << 15, (1u << 15) + 1, 65537, 3'000'000,
                                         (1u << 24) + 1, (1u << 26) + 1));

}  // namespace
}  // namespace tessera::cuda
