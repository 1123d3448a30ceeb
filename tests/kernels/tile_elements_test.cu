// Keys of slots found with a multiplication, against those of the division.
#include "kernels/cuda/tile_elements.cuh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tessera::cuda {
namespace {

TEST(TileElements, SlotKeysAreThoseOfTheDivision) {
  constexpr VertexId kEnd = 1u << 31;
  std::mt19937 random(3);
  std::vector<std::uint32_t> strides = {2, 3, 4, 5, 255, 256, 257, 32768, 32769, 65535, 65536};
  for (int i = 0; i < 300; ++i) strides.push_back(2 + random() % 65535);
  for (const std::uint32_t stride : strides) {
    const SlotKeys keys(stride);
    const auto expect_key = [&](VertexId slot) {
      const std::uint32_t tile = slot / stride;
      ASSERT_EQ(keys.key(slot), tile << kTileShift | (slot - tile * stride)) << slot << " by " << stride;
    };
    // Tiles' first and last slots, where a factor that is not exact would fail, and any.
    for (int i = 0; i < 300; ++i) {
      const VertexId first = random() % (kEnd / stride) * stride;
      for (const VertexId slot : {first, first + 1, first + stride - 1}) expect_key(slot);
      expect_key(static_cast<VertexId>(random() % kEnd));
    }
    for (const VertexId slot : {0u, 1u, kEnd / stride * stride - 1, kEnd - 1}) expect_key(slot);
  }
}

TEST(TileElements, KeysOfSlotsHaveTileAndOffset) {
  EXPECT_EQ(key_of_slot(0, 101), 0u);
  EXPECT_EQ(key_of_slot(100, 101), 100u);
  EXPECT_EQ(key_of_slot(101, 101), 1u << 16);
  EXPECT_EQ(key_of_slot(7 * 65536u + 65535, 65536), 7u << 16 | 65535);
  EXPECT_EQ(SlotKeys(65536).key(7 * 65536u + 65535), 7u << 16 | 65535);
}

}  // namespace
}  // namespace tessera::cuda
