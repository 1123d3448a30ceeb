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
  /// Those of a tile are among the messages from here on, as far as is known, and before there.
  __host__ __device__ std::uint64_t begin_of(std::uint32_t tile) const {
    return knows_tiles() ? tiles.before_segment(tile) : 0;
  }
  __host__ __device__ std::uint64_t end_of(std::uint32_t tile) const {
    return knows_tiles() ? tiles.before_segment(tile + 1) : count;
  }
  /// Whether message i, of those, comes before all of this tile from this row on.
  __host__ __device__ bool is_below(std::uint64_t i, std::uint32_t tile, VertexId row) const {
    const std::uint32_t m = message(i), of = knows_tiles() ? tile : MessageShape::tile(shapes[m]);
    return of < tile || (of == tile && rows[m] < row);
  }

 private:
  __host__ __device__ bool knows_tiles() const { return tiles.ends != nullptr; }
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
