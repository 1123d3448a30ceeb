// Where in x the columns of tiles lie: the layout formula, for host and device.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/base/host_device.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// Slots of columns in solver order. Tiles have `tile_columns` each, and behind those of each tile comes a
/// zero slot (kernels/tile_composite_view.hpp); the last tile has all columns that are left.
class ColumnSlots {
 public:
  /// One tile: column i has slot i.
  ColumnSlots() = default;
  /// tile_columns: 1 or more.
  ColumnSlots(std::uint32_t tile_columns, std::uint64_t num_tiles)
      : last_tile_(static_cast<std::uint32_t>(std::max<std::uint64_t>(num_tiles, 1) - 1)),
        shift_(static_cast<std::uint32_t>(std::bit_width(tile_columns)) - 1) {
    // With d columns, s = floor(log2 d), and 2^(32 + s) = d * f + e, 1 <= e <= d: where e is at most 2^s,
    // (column + 1) * f / 2^(32 + s) lies in the same unit as column / d for every column below 2^32 - 1, else
    // column * (f + 1) / 2^(32 + s) does.
    const std::uint64_t power = std::uint64_t{1} << (32 + shift_), factor = (power - 1) / tile_columns;
    increment_ = power - factor * tile_columns <= std::uint64_t{1} << shift_ ? 1 : 0;
    factor_ = static_cast<std::uint32_t>(factor + 1 - increment_);
  }

  TESSERA_HD VertexId slot_of(VertexId column) const {
    return last_tile_ == 0 ? column : column + tile_of(column);
  }

 private:
  /// min(column / tile_columns, last_tile_), as a device divides fastest.
  TESSERA_HD std::uint32_t tile_of(VertexId column) const {
    const std::uint64_t product = std::uint64_t{column + increment_} * factor_;
    const std::uint32_t tile = static_cast<std::uint32_t>(product >> 32) >> shift_;
    return tile < last_tile_ ? tile : last_tile_;
  }

  std::uint32_t last_tile_ = 0, factor_ = 0, increment_ = 0, shift_ = 0;
};

}  // namespace tessera
