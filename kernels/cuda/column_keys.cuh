// Tile and offset of every column, in a table that is looked up anywhere: three bytes each, as more of it
// stays in caches than of slots.
#pragma once
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/tile_elements.cuh"

namespace tessera::cuda {

/// Bits of a key that fit; the tile is above an offset of kTileShift bits.
inline constexpr unsigned kColumnKeyBits = 24;

/// As key_of_slot() has them, of a table.
__host__ __device__ inline std::uint32_t key_of_column(const std::uint16_t* table, VertexId column) {
  const bool is_odd = column % 2 != 0;
  const std::uint64_t at = std::uint64_t{3} * column;  // in bytes
  const std::uint32_t byte = reinterpret_cast<const unsigned char*>(table)[at + (is_odd ? 0 : 2)],
                      both = table[(at + 1) / 2];
  return is_odd ? byte | both << 8 : both | byte << 16;
}

/// The table of all columns. What has no slot has any key.
template <class Memory>
BuildVector<Memory, std::uint16_t> column_keys(const BuildVector<Memory, VertexId>& slots,
                                               std::uint32_t tile_stride) {
  BuildVector<Memory, std::uint16_t> table(3 * ceil_div<std::uint64_t>(slots.size(), 2));
  const std::uint64_t last = slots.size() - 1;
  const VertexId* slot = slots.data();
  std::uint16_t* half = table.data();
  Memory::each(table.size() / 3, [=] __host__ __device__(std::uint64_t i) {
    constexpr std::uint32_t kMask = (1u << kColumnKeyBits) - 1;
    const std::uint32_t lower = key_of_slot(slot[2 * i], tile_stride) & kMask,
                        upper = key_of_slot(slot[2 * i < last ? 2 * i + 1 : last], tile_stride) & kMask;
    half[3 * i] = static_cast<std::uint16_t>(lower);
    half[3 * i + 1] = static_cast<std::uint16_t>(lower >> 16 | upper << 8);
    half[3 * i + 2] = static_cast<std::uint16_t>(upper >> 8);
  });
  return table;
}

}  // namespace tessera::cuda
