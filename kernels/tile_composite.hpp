// Owning storage of the two matrix forms that a backend multiplies with. Built by engine/, always on the
// host first: the CPU build is the definition of the format.
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
  std::uint64_t num_row_pieces = 0;  ///< non-empty (row, tile) pairs
  std::uint64_t bytes = 0;           ///< of the whole structure
  std::uint64_t num_tiles = 0, num_workloads = 0;
  double padding_ratio() const {
    return num_nonzeros == 0
               ? 0.0
               : static_cast<double>(num_stored - num_nonzeros) / static_cast<double>(num_nonzeros);
  }
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
