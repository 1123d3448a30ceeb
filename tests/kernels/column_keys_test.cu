// Keys of columns looked up in tables of three and four bytes, against those of their slots, in host memory
// (and on a device where one answers).
#include "kernels/cuda/column_keys.cuh"

#include <gtest/gtest.h>

#include <random>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

template <class Memory, unsigned kBytes>
std::vector<std::uint32_t> looked_up(const std::vector<VertexId>& slots, std::uint32_t tile_stride) {
  const auto given = Memory::template from_host<VertexId>(slots);
  const auto table = column_keys<Memory>(given, tile_stride, kBytes);
  BuildVector<Memory, std::uint32_t> keys(slots.size());
  const std::uint16_t* from = table.data();
  std::uint32_t* key = keys.data();
  Memory::each(slots.size(), [=] __host__ __device__(std::uint64_t column) {
    key[column] = key_of_column<kBytes>(from, static_cast<VertexId>(column));
  });
  const auto on_host = Memory::to_host(keys.data(), slots.size());
  return {on_host.begin(), on_host.end()};
}

/// Of columns with slots, the first and last of tiles among them; some have none, and any key.
template <class Memory, unsigned kBytes>
void expect_keys(std::size_t num_columns, std::uint32_t tile_stride, std::uint32_t num_tiles) {
  std::mt19937 random(static_cast<unsigned>(num_columns + tile_stride));
  std::vector<VertexId> slots(num_columns);
  for (VertexId& slot : slots) {
    const auto tile = static_cast<std::uint32_t>(random() % num_tiles);
    const auto kind = random() % 8;
    const auto any = static_cast<std::uint32_t>(random() % tile_stride);
    slot = kind == 2 ? kNoVertex : tile * tile_stride + (kind == 0 ? 0 : kind == 1 ? tile_stride - 1 : any);
  }
  slots.back() = num_tiles * tile_stride - 1;
  const auto found = looked_up<Memory, kBytes>(slots, tile_stride);
  for (std::size_t i = 0; i < num_columns; ++i)
    if (slots[i] != kNoVertex)
      ASSERT_EQ(found[i], slots[i] / tile_stride << 16 | slots[i] % tile_stride)
          << i << " of " << num_columns << ", " << kBytes << " bytes, stride " << tile_stride;
}

TEST(ColumnKeys, AreThoseOfSlots) {
  for (const std::size_t num_columns : {1u, 2u, 3u, 1001u, 70002u})
    for (const std::uint32_t tile_stride : {3u, 257u, 65535u, 65536u}) {
      expect_keys<HostMemory, kShortKeyBytes>(num_columns, tile_stride, 256);
      expect_keys<HostMemory, kLongKeyBytes>(num_columns, tile_stride, 1024);
      if (num_devices() == 0) continue;
      expect_keys<DeviceMemory, kShortKeyBytes>(num_columns, tile_stride, 256);
      expect_keys<DeviceMemory, kLongKeyBytes>(num_columns, tile_stride, 1024);
    }
}

}  // namespace
}  // namespace tessera::cuda
