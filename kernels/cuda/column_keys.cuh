// Tile and offset of every column, in a table that is looked up anywhere: three bytes each, as more of it
// stays in caches than of slots.
#pragma once
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/tile_elements.cuh"

namespace tessera::cuda {

/// Bits of a key that fit; the tile is above an offset of kTileShift bits.
inline constexpr unsigned kColumnKeyBits = 24;

/// As key_of_slot() has them, of a table.
__host__ __device__ inline std::uint32_t key_of_column(const std::uint32_t* table, VertexId column) {
  const bool is_odd = column % 2 != 0;
  const auto* const key = reinterpret_cast<const unsigned char*>(table) + std::uint64_t{3} * column;
  const std::uint32_t byte = key[is_odd ? 0 : 2],
                      both = *reinterpret_cast<const std::uint16_t*>(key + (is_odd ? 1 : 0));
  return is_odd ? byte | both << 8 : both | byte << 16;
}

/// The table of all columns. What has no slot has any key.
template <class Memory>
BuildVector<Memory, std::uint32_t> column_keys(const BuildVector<Memory, VertexId>& slots,
                                               std::uint32_t tile_stride) {
  constexpr std::uint64_t kAtOnce = 4;  // keys, in three words
  BuildVector<Memory, std::uint32_t> table(3 * ceil_div(slots.size(), kAtOnce));
  const std::uint64_t num_columns = slots.size();
  const VertexId* slot = slots.data();
  std::uint32_t* word = table.data();
  Memory::each(table.size() / 3, [=] __host__ __device__(std::uint64_t i) {
    std::uint32_t keys[kAtOnce];
    for (unsigned k = 0; k < kAtOnce; ++k) {
      const std::uint64_t column = i * kAtOnce + k;
      keys[k] =
          key_of_slot(slot[column < num_columns ? column : 0], tile_stride) & ((1u << kColumnKeyBits) - 1);
    }
    word[3 * i] = keys[0] | keys[1] << 24;
    word[3 * i + 1] = keys[1] >> 8 | keys[2] << 16;
    word[3 * i + 2] = keys[2] >> 16 | keys[3] << 8;
  });
  return table;
}

}  // namespace tessera::cuda
