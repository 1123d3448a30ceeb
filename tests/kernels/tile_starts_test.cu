// Elements of tiles, in host memory (and on a device where one answers), against sums one after the other.
#include "kernels/cuda/tile_starts.cuh"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

template <class Memory>
std::vector<std::uint32_t> starts_in(const std::vector<std::uint32_t>& lengths, std::uint64_t of_tile) {
  const auto there = Memory::template from_host<std::uint32_t>(lengths);
  const auto starts = start_tiles<Memory>({lengths.size(), of_tile, there.data()});
  return Memory::to_host(starts.data(), starts.size());
}

void expect_starts(std::size_t num_columns, std::uint64_t of_tile) {
  SCOPED_TRACE(std::to_string(num_columns) + " columns, " + std::to_string(of_tile) + " of a tile");
  std::mt19937 random(static_cast<unsigned>(num_columns + of_tile));
  std::vector<std::uint32_t> lengths, expected;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < num_columns; ++i) {
    if (i % of_tile == 0) expected.push_back(sum);
    lengths.push_back(1 + random() % 1000);
    sum += lengths.back();
  }
  EXPECT_EQ(starts_in<HostMemory>(lengths, of_tile), expected);
  if (num_devices() > 0) EXPECT_EQ(starts_in<DeviceMemory>(lengths, of_tile), expected) << "on the device";
}

TEST(TileStarts, AreSumsOfAllColumnsBefore) {
  for (const std::uint64_t of_tile : {1u, 5u, 8u, 9u, 1000u, 5000u})
    for (const std::size_t num_columns : {std::size_t{0}, std::size_t{1}, std::size_t{of_tile},
                                          std::size_t{of_tile + 1}, std::size_t{20 * of_tile - 1}})
      expect_starts(num_columns, of_tile);
  expect_starts(2500, 1);  // more tiles than one block has threads
}

}  // namespace
}  // namespace tessera::cuda
