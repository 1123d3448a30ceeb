// tile-coo (Yang, Parthasarathy, Sadayappan 2011, section 3.1): columns sorted by length, longest first, and
// cut into tiles whose part of x fits in the shared memory of a device; a tile is a COO of its own with
// 16-bit columns. What lies behind the tiles is one COO (the paper's is HYB; ours keeps the comparison with
// coo to the tiles). x is in the order of the columns here: in slots.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/formats/coo.hpp"

namespace tessera {

/// Slots [first_slot, + num_columns) and elements from first_element to the next tile's.
struct CooTile {
  std::uint32_t first_slot = 0, num_columns = 0, first_element = 0;
};

/// Limits of the tiles. A tile is added while its columns have at least `least_mean_length` elements in the
/// mean (so its first has more than one, which is the paper's condition: else nothing is read twice), at most
/// `most_tiles` of them (docs/performance.md, "Before 44fef9d", found this many for tile-composite).
template <class S>
struct CooTileLimits {
  std::uint32_t num_columns = 160 * 1024 / sizeof(S);  ///< of a tile
  std::uint32_t least_mean_length = 2, most_tiles = 12;
};

template <class S>
struct TileCoo {
  using Value = S;
  std::uint64_t num_rows = 0;
  std::uint32_t widest_tile = 0;
  Buffer<VertexId> slot_columns;  ///< the column of each slot; empty columns have none
  Buffer<CooTile> tiles;          ///< and one that only ends the last
  Buffer<VertexId> row_indices;
  Buffer<std::uint16_t> offsets;  ///< of slots in their tile
  Buffer<S> values;
  Coo<S> rest;  ///< its columns are slots

  explicit TileCoo(const CsrView<double>& a, const CooTileLimits<S>& limits = {})
      : TileCoo(a, limits, ColumnLengths(a)) {}
  std::uint64_t num_tiles() const { return tiles.size() - 1; }
  std::uint64_t num_stored() const { return values.size() + rest.num_stored(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    visit(self.slot_columns);
    visit(self.tiles);
    visit(self.row_indices);
    visit(self.offsets);
    visit(self.values);
    Coo<S>::each_buffer(self.rest, visit);
  }

 private:
  /// Columns that have elements, longest first, ties in order.
  struct ColumnLengths {
    std::vector<std::uint64_t> lengths;
    std::vector<VertexId> order, slots;
    explicit ColumnLengths(const CsrView<double>& a) : lengths(a.num_cols, 0), slots(a.num_cols, 0) {
      for (EdgeOffset k = 0; k < a.num_nonzeros(); ++k) ++lengths[a.col_indices[k]];
      for (std::uint64_t c = 0; c < a.num_cols; ++c)
        if (lengths[c] > 0) order.push_back(static_cast<VertexId>(c));
      std::stable_sort(order.begin(), order.end(),
                       [&](VertexId u, VertexId v) { return lengths[u] > lengths[v]; });
      for (std::uint64_t slot = 0; slot < order.size(); ++slot)
        slots[order[slot]] = static_cast<VertexId>(slot);
    }
  };

  TileCoo(const CsrView<double>& a, const CooTileLimits<S>& limits, const ColumnLengths& columns)
      : num_rows(a.num_rows),
        slot_columns(columns.order.size()),
        tiles(cut(columns, limits)),
        row_indices(tiles[num_tiles()].first_element),
        offsets(row_indices.size()),
        values(row_indices.size()),
        rest(a, [&](std::uint64_t, EdgeOffset k) {
          const VertexId slot = columns.slots[a.col_indices[k]];
          return slot < tiles[num_tiles()].first_slot ? kNoVertex : slot;
        }) {
    for (const CooTile& tile : tiles) widest_tile = std::max(widest_tile, tile.num_columns);
    std::copy(columns.order.begin(), columns.order.end(), slot_columns.begin());
    fill(a, columns.slots, limits.num_columns);
  }

  static Buffer<CooTile> cut(const ColumnLengths& columns, const CooTileLimits<S>& limits) {
    require(limits.num_columns > 0 && limits.num_columns <= 65536, "a tile has 1 to 65,536 columns");
    std::vector<CooTile> cuts;
    std::uint64_t slot = 0, element = 0;
    while (slot < columns.order.size() && cuts.size() < limits.most_tiles) {
      const std::uint64_t count = std::min<std::uint64_t>(limits.num_columns, columns.order.size() - slot);
      std::uint64_t size = 0;
      for (std::uint64_t i = slot; i < slot + count; ++i) size += columns.lengths[columns.order[i]];
      if (size < limits.least_mean_length * count) break;
      cuts.push_back({static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(count),
                      static_cast<std::uint32_t>(element)});
      slot += count;
      element = checked_size(element + size);
    }
    cuts.push_back({static_cast<std::uint32_t>(slot), 0, static_cast<std::uint32_t>(element)});
    Buffer<CooTile> result(cuts.size());
    std::copy(cuts.begin(), cuts.end(), result.begin());
    return result;
  }

  void fill(const CsrView<double>& a, const std::vector<VertexId>& slots, std::uint32_t tile_columns) {
    std::vector<std::uint32_t> next;
    for (const CooTile& tile : tiles) next.push_back(tile.first_element);
    for (std::uint64_t row = 0; row < num_rows; ++row)
      for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
        const VertexId slot = slots[a.col_indices[k]];
        if (slot >= tiles[num_tiles()].first_slot) continue;
        const std::uint32_t to = next[slot / tile_columns]++;
        row_indices[to] = static_cast<VertexId>(row);
        offsets[to] = static_cast<std::uint16_t>(slot % tile_columns);
        values[to] = element_value<S>(a, k);
      }
  }
};

/// slots: x in the order of the columns.
template <class S>
void order_input_on_host(const TileCoo<S>& a, const S* x, S* slots) {
#pragma omp parallel for schedule(static)
  for (std::uint64_t i = 0; i < a.slot_columns.size(); ++i) slots[i] = x[a.slot_columns[i]];
}

template <class S>
void multiply_on_host(const TileCoo<S>& a, const S* slots, S* y) {
  std::fill_n(y, a.num_rows, S{0});
  for (std::uint64_t t = 0; t < a.num_tiles(); ++t) {
    const std::uint64_t first = a.tiles[t].first_element;
    const VertexId* rows = a.row_indices.data() + first;
    const S* x = slots + a.tiles[t].first_slot;
    for_ranges_of_rows(
        a.tiles[t + 1].first_element - first, [&](std::uint64_t k) { return rows[k] == rows[k - 1]; },
        [&](std::uint64_t begin, std::uint64_t end) {
          for (std::uint64_t k = begin; k < end; ++k)
            y[rows[k]] += a.values[first + k] * x[a.offsets[first + k]];
        });
  }
  add_on_host(a.rest, slots, y);
}

// kernels/cuda/formats/cuda_tile_coo.cu
template <class S>
void check_device(const TileCoo<S>& a);
template <class S>
void order_input_on_device(const TileCoo<S>& a, const S* x, S* slots);
template <class S>
void multiply_on_device(const TileCoo<S>& a, const S* slots, S* y);

}  // namespace tessera
