// Tile and offset of every column, in a table that is looked up anywhere: in three bytes where they fit, as
// more of it stays in caches then.
#pragma once
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/tile_elements.cuh"

namespace tessera::cuda {

/// Of a key with a tile of 8 bits above its offset, and of any.
inline constexpr unsigned kShortKeyBytes = 3, kLongKeyBytes = 4;

/// As key_of_slot() has them, of a table.
template <unsigned kBytes>
__host__ __device__ std::uint32_t key_of_column(const std::uint16_t* table, VertexId column) {
  if constexpr (kBytes == kLongKeyBytes) {
#ifdef __CUDA_ARCH__
    return reinterpret_cast<const std::uint32_t*>(table)[column];
#else
    const std::uint64_t at = std::uint64_t{2} * column;
    return table[at] | std::uint32_t{table[at + 1]} << 16;
#endif
  } else {
    const bool is_odd = column % 2 != 0;
    const std::uint64_t at = std::uint64_t{kShortKeyBytes} * column;  // in bytes
    const std::uint32_t byte = reinterpret_cast<const unsigned char*>(table)[at + (is_odd ? 0 : 2)],
                        both = table[(at + 1) / 2];
    return is_odd ? byte | both << 8 : both | byte << 16;
  }
}

/// The table of all columns, two at a time: `bytes` each. What has no slot has any key.
template <class Memory>
BuildVector<Memory, std::uint16_t> column_keys(const BuildVector<Memory, VertexId>& slots,
                                               std::uint32_t tile_stride, unsigned bytes) {
  BuildVector<Memory, std::uint16_t> table(bytes * ceil_div<std::uint64_t>(slots.size(), 2));
  const std::uint64_t last = slots.size() - 1;
  const VertexId* slot = slots.data();
  std::uint16_t* half = table.data();
  Memory::each(table.size() / bytes, [=] __host__ __device__(std::uint64_t i) {
    const std::uint32_t lower = key_of_slot(slot[2 * i], tile_stride),
                        upper = key_of_slot(slot[2 * i < last ? 2 * i + 1 : last], tile_stride);
    if (bytes == kLongKeyBytes) {
      half[4 * i] = static_cast<std::uint16_t>(lower);
      half[4 * i + 1] = static_cast<std::uint16_t>(lower >> 16);
      half[4 * i + 2] = static_cast<std::uint16_t>(upper);
      half[4 * i + 3] = static_cast<std::uint16_t>(upper >> 16);
    } else {
      half[3 * i] = static_cast<std::uint16_t>(lower);
      half[3 * i + 1] = static_cast<std::uint16_t>((lower >> 16 & 0xff) | upper << 8);
      half[3 * i + 2] = static_cast<std::uint16_t>(upper >> 8);
    }
  });
  return table;
}

}  // namespace tessera::cuda
