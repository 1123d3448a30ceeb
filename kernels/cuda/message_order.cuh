// Messages as they are cut, and what is taken along as they and rows are sorted.
#pragma once
#include "kernels/cuda/row_pieces.cuh"

namespace tessera::cuda {

/// Messages by tile and row.
struct CutOrder {
  const std::uint32_t* order;  ///< null: they lie so
  const VertexId* rows;
  const std::uint32_t* shapes;

  __host__ __device__ std::uint32_t message(std::uint64_t i) const {
    return order == nullptr ? static_cast<std::uint32_t>(i) : order[i];
  }
  __host__ __device__ std::uint32_t length(std::uint32_t i) const {
    return MessageShape::length(shapes[message(i)]);
  }
  /// The first of `count` in this tile and row, or behind them.
  __host__ __device__ std::uint64_t first_not_below(std::uint64_t count, std::uint64_t tile,
                                                    std::uint32_t row) const {
    std::uint64_t low = 0;
    while (low < count) {
      const std::uint64_t middle = (low + count) / 2;
      const std::uint32_t m = message(middle), of = MessageShape::tile(shapes[m]);
      if (of < tile || (of == tile && rows[m] < row))
        low = middle + 1;
      else
        count = middle;
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
