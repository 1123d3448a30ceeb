// First half of the tile-composite build: every row's elements grouped by tile. A "piece" is what one row
// has in one tile.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/column_order.hpp"
#include "kernels/base/buffer.hpp"
#include "kernels/csr_view.hpp"

namespace tessera {

struct RowPiece {
  VertexId row = 0;          ///< local row
  std::uint32_t length = 0;  ///< elements
  std::uint64_t first = 0;   ///< into offsets16 or offsets32 (and values) of RowPieces
};

/// Offsets are relative to the tile. Pieces of tile t are pieces[first_of_tile[t], first_of_tile[t+1]),
/// rows ascending.
template <class S>
struct RowPieces {
  Buffer<RowPiece> pieces;
  std::vector<std::uint64_t> first_of_tile;
  Buffer<std::uint16_t> offsets16;
  Buffer<std::uint32_t> offsets32;
  Buffer<S> values16, values32;
};

/// See build_tile_composite for the arguments.
template <class S>
RowPieces<S> cut_rows(const CsrView<double>& csr, std::span<const VertexId> rows, const ColumnOrder& columns);

}  // namespace tessera
