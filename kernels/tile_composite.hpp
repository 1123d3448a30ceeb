// Owning storage of tile-composite and plain CSR (tile_messages.hpp: the third form that a backend multiplies
// with). Built by engine/ on the host.
#pragma once
#include <cstdint>

#include "kernels/base/buffer.hpp"
#include "kernels/csr_view.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera {

/// How the format was packed, for reports.
struct PackingStats {
  EdgeOffset num_nonzeros = 0;       ///< without padding
  EdgeOffset num_stored = 0;         ///< with padding
  std::uint64_t num_row_pieces = 0;  ///< non-empty (row, tile) pairs; rows with elements in CSR
  std::uint64_t bytes = 0;           ///< of the whole structure
  std::uint64_t num_tiles = 0, num_workloads = 0;
};

template <class S>
struct TileComposite {
  std::uint64_t num_rows = 0, num_slots = 0;
  Buffer<Tile> tiles;
  Buffer<Workload> workloads;
  Buffer<VertexId> row_ids;
  Buffer<std::uint16_t> offsets16;
  Buffer<std::uint32_t> offsets32;
  Buffer<S> values16, values32;  ///< empty when pattern-only
  PackingStats stats;

  TileCompositeView<S> view() const {
    return {num_rows,
            num_slots,
            tiles.data(),
            tiles.size(),
            workloads.data(),
            row_ids.data(),
            offsets16.data(),
            offsets32.data(),
            values16.empty() ? nullptr : values16.data(),
            values32.empty() ? nullptr : values32.data()};
  }
};

/// Rows of this rank with columns already turned into slots.
template <class S>
struct CsrMatrix {
  std::uint64_t num_rows = 0, num_slots = 0;
  Buffer<EdgeOffset> row_offsets;
  Buffer<VertexId> col_indices;
  Buffer<S> values;
  PackingStats stats;

  CsrView<S> view() const {
    return {num_rows, num_slots, row_offsets.data(), col_indices.data(),
            values.empty() ? nullptr : values.data()};
  }
};

}  // namespace tessera
