// Elements that no bit marks, picked on a device where one answers.
#include "kernels/cuda/unmarked_elements.cuh"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

/// Bits behind the last element are set or not, as those of other arrays would be.
void expect_picked(std::uint32_t count, const std::function<bool(std::uint32_t)>& is_marked) {
  std::vector<std::uint32_t> elements, marks(count / 32 + 1, count % 2 == 0 ? 0 : ~0u), expected;
  for (std::uint32_t e = 0; e < count; ++e) {
    elements.push_back(e * 2654435761u);
    const std::uint32_t bit = 1u << e % 32;
    if (is_marked(e)) {
      marks[e / 32] |= bit;
    } else {
      marks[e / 32] &= ~bit;
      expected.push_back(elements.back());
    }
  }
  const auto bits = DeviceMemory::from_host<std::uint32_t>(marks);
  for (const unsigned range_bits : {0u, 7u, 10u}) {
    const std::uint32_t num_ranges = range_bits == 0 ? 0 : 1u << range_bits;
    const unsigned shift = 32 - range_bits;
    std::vector<std::uint32_t> in_ranges(num_ranges, 3);  // what is there is added to
    auto counts = DeviceMemory::from_host<std::uint32_t>(in_ranges);
    SideStream<DeviceMemory> side;
    bool was_called = false;
    const auto found =
        unmarked_elements(DeviceMemory::from_host<std::uint32_t>(elements), bits.data(),
                          {shift, num_ranges, counts.data()}, side, [&] { was_called = true; });
    EXPECT_TRUE(was_called);
    ASSERT_EQ(found.size(), expected.size()) << count;
    EXPECT_TRUE(DeviceMemory::to_host(found.data(), found.size()) == expected) << count;
    if (num_ranges == 0) continue;
    for (const std::uint32_t element : expected) ++in_ranges[element >> shift];
    EXPECT_TRUE(DeviceMemory::to_host(counts.data(), num_ranges) == in_ranges) << count << ' ' << num_ranges;
  }
}

TEST(DeviceUnmarkedElements, ArePickedInTheirOrder) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  std::mt19937 random(5);
  for (const std::uint32_t count : {0u, 1u, 31u, 32u, 33u, 2047u, 2048u, 2049u, 65536u, 1000003u}) {
    expect_picked(count, [](std::uint32_t) { return false; });
    expect_picked(count, [](std::uint32_t) { return true; });
    expect_picked(count, [](std::uint32_t e) { return e % 5000 < 3000; });
    expect_picked(count, [&](std::uint32_t) { return random() % 8 == 0; });
  }
}

/// A block has more parts of them.
TEST(DeviceUnmarkedElements, AreManyElements) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  expect_picked(kManyMarkParts * kMarkElements + 70001, [](std::uint32_t e) { return e % 5000 < 3000; });
}

}  // namespace
}  // namespace tessera::cuda
