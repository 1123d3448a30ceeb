// Messages as they are cut, and what is taken along as they and rows are sorted.
#pragma once
#include "kernels/cuda/row_pieces.cuh"

namespace tessera::cuda {

/// Messages by tile and row.
struct CutOrder {
  std::uint64_t count;
  const std::uint32_t* order;  ///< null: they lie so
  const VertexId* rows;
  const std::uint32_t* shapes;
  ItemsBefore tiles;  ///< messages of all tiles before each, where that is known

  __host__ __device__ std::uint32_t message(std::uint64_t i) const {
    return order == nullptr ? static_cast<std::uint32_t>(i) : order[i];
  }
  __host__ __device__ std::uint32_t length(std::uint32_t i) const {
    return MessageShape::length(shapes[message(i)]);
  }
  /// The first in this tile and this row, or behind them.
  __host__ __device__ std::uint64_t first_not_below(std::uint32_t tile, std::uint32_t row) const {
    const bool knows_tiles = tiles.ends != nullptr;
    std::uint64_t low = knows_tiles ? tiles.before_segment(tile) : 0,
                  high = knows_tiles ? tiles.before_segment(tile + 1) : count;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      const std::uint32_t m = message(middle), of = knows_tiles ? tile : MessageShape::tile(shapes[m]);
      if (of < tile || (of == tile && rows[m] < row))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// Where a message's elements begin, and whose it is.
struct PlacedMessage {
  std::uint64_t begin;
  VertexId row;
};

/// A row, and the messages of all rows before it.
struct PlacedRow {
  VertexId row;
  std::uint32_t messages_before;
};

}  // namespace tessera::cuda
