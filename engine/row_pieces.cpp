#include "engine/row_pieces.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "engine/region_failure.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Finds the tile of a slot by a table of blocks: dense tiles start at multiples of their stride.
class TileFinder {
 public:
  explicit TileFinder(const ColumnOrder& columns) {
    const auto& tiles = columns.tiles;
    std::uint64_t boundaries = 0;
    for (const Tile& tile : tiles) boundaries |= tile.first_slot;
    shift_ = boundaries == 0 ? 63 : std::countr_zero(boundaries);
    tile_of_block_.resize((columns.num_slots >> shift_) + 1);
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      const bool is_last = t + 1 == tiles.size();
      const std::uint64_t end = is_last ? tile_of_block_.size() : tiles[t + 1].first_slot >> shift_;
      for (std::uint64_t block = tiles[t].first_slot >> shift_; block < end; ++block)
        tile_of_block_[block] = static_cast<std::uint32_t>(t);
    }
  }
  std::uint32_t operator()(VertexId slot) const { return tile_of_block_[std::uint64_t{slot} >> shift_]; }

 private:
  int shift_ = 0;
  std::vector<std::uint32_t> tile_of_block_;
};

/// What one chunk of rows produced; pieces in row order, a row's pieces by tile.
struct Chunk {
  struct Piece {
    VertexId row;
    std::uint32_t tile, length;
  };
  std::vector<Piece> pieces;
  std::vector<std::uint64_t> pieces_of_tile;  // counts
  std::uint64_t first_narrow = 0, first_wide = 0, num_wide = 0;
};

/// Groups the elements of one row by tile, keeping their order inside a tile; reused from row to row.
class RowCutter {
 public:
  RowCutter(const ColumnOrder& columns, const TileFinder& tile_of)
      : columns_(columns),
        tile_of_(tile_of),
        counts_(columns.tiles.size(), 0),
        positions_(counts_.size()),
        first_tile_slots_(columns.tiles.empty() || columns.tiles[0].wide ? 0 : columns.tiles[0].num_columns) {
  }

  /// Afterwards order()[i] is the position in the row of the i-th element of the grouped row, and slots()
  /// its slot. The first tile holds most elements of a power-law graph, so it is split off without a
  /// branch; only what is left is counted by tile.
  void group(const VertexId* cols, std::uint64_t length) {
    if (slots_.size() < length + 1) {
      for (auto* array : {&slots_, &order_, &rest_slots_, &rest_order_}) array->resize(2 * length + 1);
    }
    std::uint64_t first = 0, rest = 0;
    for (std::uint64_t k = 0; k < length; ++k) {
      if (k + kAhead < length) ask_for_slot(cols[k + kAhead]);
      const VertexId slot = columns_.slot_of_column[cols[k]];
      const bool in_first = slot < first_tile_slots_;
      slots_[first] = rest_slots_[rest] = slot;
      order_[first] = rest_order_[rest] = static_cast<std::uint32_t>(k);
      first += in_first;
      rest += !in_first;
    }
    touched_.clear();
    if (first > 0) {
      touched_.push_back(0);
      counts_[0] = static_cast<std::uint32_t>(first);
    }
    group_rest(first, rest);
    length_ = length;
  }
  /// Slots lie scattered: those of a row's first elements should be on their way when it is grouped.
  void ask_for_slots(const VertexId* cols, std::uint64_t length) const {
    for (std::uint64_t k = 0; k < std::min(length, kAhead); ++k) ask_for_slot(cols[k]);
  }
  /// Tiles of the row, ascending, and how many elements each has.
  std::span<const std::uint32_t> touched() const { return touched_; }
  std::uint32_t count(std::uint32_t tile) const { return counts_[tile]; }
  std::span<const VertexId> slots() const { return std::span(slots_).first(length_); }
  std::span<const std::uint32_t> order() const { return std::span(order_).first(length_); }
  void clear() {
    for (std::uint32_t tile : touched_) counts_[tile] = 0;
  }

 private:
  static constexpr std::uint64_t kAhead = 32;  // elements

  void ask_for_slot(VertexId column) const { __builtin_prefetch(columns_.slot_of_column.data() + column); }
  void group_rest(std::uint64_t first, std::uint64_t rest) {
    for (std::uint64_t i = 0; i < rest; ++i) {
      const std::uint32_t tile = tile_of_(rest_slots_[i]);
      if (counts_[tile]++ == 0) touched_.push_back(tile);
    }
    std::sort(touched_.begin(), touched_.end());
    std::uint64_t next = first;
    for (std::uint32_t tile : touched_) {
      if (tile == 0 && first > 0) continue;
      positions_[tile] = next;
      next += counts_[tile];
    }
    for (std::uint64_t i = 0; i < rest; ++i) {
      const std::uint64_t position = positions_[tile_of_(rest_slots_[i])]++;
      slots_[position] = rest_slots_[i];
      order_[position] = rest_order_[i];
    }
  }

  const ColumnOrder& columns_;
  const TileFinder& tile_of_;
  std::vector<std::uint32_t> counts_, touched_;
  std::vector<std::uint64_t> positions_;
  std::vector<VertexId> slots_, rest_slots_;
  std::vector<std::uint32_t> order_, rest_order_;
  std::uint64_t first_tile_slots_ = 0, length_ = 0;
};

template <class S>
class Cutting {
 public:
  Cutting(const CsrView<double>& csr, std::span<const VertexId> rows, const ColumnOrder& columns)
      : csr_(csr), rows_(rows), columns_(columns), tile_of_(columns) {}

  RowPieces<S> run() {
    make_chunks();
    result_.offsets16 = Buffer<std::uint16_t>(num_elements_);
    if (csr_.values != nullptr) result_.values16 = Buffer<S>(num_elements_);
    // At most the elements of the remainder are wide; their columns have one element each.
    const bool has_wide = !columns_.tiles.empty() && columns_.tiles.back().wide;
    wide_.resize(has_wide ? chunks_.size() : 0);
    wide_values_.resize(wide_.size());
    RegionFailure failure;
#pragma omp parallel
    {
      std::optional<RowCutter> cutter;
      failure.guard([&] { cutter.emplace(columns_, tile_of_); });
#pragma omp for schedule(dynamic, 1)
      for (std::size_t c = 0; c < chunks_.size(); ++c) failure.guard([&] { cut_chunk(c, *cutter); });
    }
    failure.rethrow();
    collect_wide();
    sort_by_tile();
    return std::move(result_);
  }

 private:
  EdgeOffset row_begin(std::uint64_t i) const { return csr_.row_offsets[rows_[i]]; }
  std::uint64_t row_length(std::uint64_t i) const { return csr_.row_offsets[rows_[i] + 1] - row_begin(i); }

  /// Chunks of rows with about equal numbers of elements.
  void make_chunks() {
    constexpr std::uint64_t kElementsPerChunk = 256 * 1024;
    // Positions in a row and widths of workloads, padding included, have 32 bits. Only parallel edges that
    // are kept can make a row so long.
    constexpr std::uint64_t kLongestRow = std::uint64_t{1} << 31;
    std::uint64_t elements = kElementsPerChunk;
    for (std::uint64_t i = 0; i < rows_.size(); ++i) {
      if (row_length(i) > kLongestRow)
        throw ResourceError("a vertex has " + std::to_string(row_length(i)) + " edges, expected at most " +
                            std::to_string(kLongestRow) + "; merge duplicates, or use --kernel csr");
      if (elements >= kElementsPerChunk) {
        chunks_.emplace_back().first_narrow = num_elements_;
        first_row_.push_back(i);
        elements = 0;
      }
      elements += row_length(i) + 1;
      num_elements_ += row_length(i);
    }
    first_row_.push_back(rows_.size());
  }

  void cut_chunk(std::size_t c, RowCutter& cutter) {
    constexpr std::uint64_t kAhead = 8;  // rows lie scattered: fetch the next ones early
    Chunk& chunk = chunks_[c];
    chunk.pieces_of_tile.assign(columns_.tiles.size(), 0);
    std::uint64_t next_narrow = chunk.first_narrow;
    for (std::uint64_t i = first_row_[c]; i < first_row_[c + 1]; ++i) {
      if (i + 2 * kAhead < first_row_[c + 1]) {
        __builtin_prefetch(csr_.row_offsets + rows_[i + 2 * kAhead]);
        __builtin_prefetch(csr_.col_indices + row_begin(i + kAhead));
      }
      if (const std::uint64_t soon = i + kAhead / 2; soon < first_row_[c + 1])
        cutter.ask_for_slots(csr_.col_indices + row_begin(soon), row_length(soon));
      cutter.group(csr_.col_indices + row_begin(i), row_length(i));
      std::uint64_t from = 0;
      for (std::uint32_t tile : cutter.touched()) {
        const std::uint32_t count = cutter.count(tile);
        chunk.pieces.push_back({static_cast<VertexId>(i), tile, count});
        ++chunk.pieces_of_tile[tile];
        if (columns_.tiles[tile].wide)
          place_wide(c, i, cutter, from, tile);
        else
          place_narrow(i, cutter, from, tile, next_narrow);
        from += count;
      }
      cutter.clear();
    }
    chunk.pieces.shrink_to_fit();  // growth has left up to half of it empty
  }

  void place_narrow(std::uint64_t i, const RowCutter& cutter, std::uint64_t from, std::uint32_t tile,
                    std::uint64_t& next) {
    const std::uint64_t first_slot = columns_.tiles[tile].first_slot, count = cutter.count(tile);
    const VertexId* slots = cutter.slots().data() + from;
    for (std::uint64_t k = 0; k < count; ++k)
      result_.offsets16[next + k] = static_cast<std::uint16_t>(slots[k] - first_slot);
    if (csr_.values != nullptr)
      for (std::uint64_t k = 0; k < count; ++k)
        result_.values16[next + k] = static_cast<S>(csr_.values[row_begin(i) + cutter.order()[from + k]]);
    next += count;
  }

  void place_wide(std::size_t c, std::uint64_t i, const RowCutter& cutter, std::uint64_t from,
                  std::uint32_t tile) {
    const std::uint32_t count = cutter.count(tile);
    for (std::uint64_t k = from; k < from + count; ++k) {
      wide_[c].push_back(static_cast<std::uint32_t>(cutter.slots()[k] - columns_.tiles[tile].first_slot));
      if (csr_.values != nullptr)
        wide_values_[c].push_back(static_cast<S>(csr_.values[row_begin(i) + cutter.order()[k]]));
    }
    chunks_[c].num_wide += count;
  }

  void collect_wide() {
    if (wide_.empty()) return;
    std::uint64_t total = 0;
    for (Chunk& chunk : chunks_) {
      chunk.first_wide = total;
      total += chunk.num_wide;
    }
    result_.offsets32 = Buffer<std::uint32_t>(total);
    if (csr_.values != nullptr) result_.values32 = Buffer<S>(total);
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      std::copy(wide_[c].begin(), wide_[c].end(), result_.offsets32.data() + chunks_[c].first_wide);
      if (csr_.values != nullptr)
        std::copy(wide_values_[c].begin(), wide_values_[c].end(),
                  result_.values32.data() + chunks_[c].first_wide);
    }
  }

  /// Stable: chunk after chunk, so that rows ascend inside each tile.
  void sort_by_tile() {
    const std::size_t num_tiles = columns_.tiles.size();
    result_.first_of_tile.assign(num_tiles + 1, 0);
    std::uint64_t total = 0;
    for (std::size_t t = 0; t < num_tiles; ++t) {
      for (Chunk& chunk : chunks_) {
        const std::uint64_t count = chunk.pieces_of_tile[t];
        chunk.pieces_of_tile[t] = total;  // now the position of the chunk's first piece of this tile
        total += count;
      }
      result_.first_of_tile[t + 1] = total;
    }
    result_.pieces = Buffer<RowPiece>(total);
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      Chunk& chunk = chunks_[c];
      std::uint64_t narrow = chunk.first_narrow, wide = chunk.first_wide;
      for (const Chunk::Piece& piece : chunk.pieces) {
        std::uint64_t& first = columns_.tiles[piece.tile].wide ? wide : narrow;
        result_.pieces[chunk.pieces_of_tile[piece.tile]++] = {piece.row, piece.length, first};
        first += piece.length;
      }
      std::vector<Chunk::Piece>().swap(chunk.pieces);
    }
  }

  const CsrView<double>& csr_;
  std::span<const VertexId> rows_;
  const ColumnOrder& columns_;
  TileFinder tile_of_;
  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> first_row_;
  std::uint64_t num_elements_ = 0;
  std::vector<std::vector<std::uint32_t>> wide_;
  std::vector<std::vector<S>> wide_values_;
  RowPieces<S> result_;
};

}  // namespace

template <class S>
RowPieces<S> cut_rows(const CsrView<double>& csr, std::span<const VertexId> rows,
                      const ColumnOrder& columns) {
  require(columns.kind != ColumnOrderKind::original, "columns that are not cut into tiles have no pieces");
  return Cutting<S>(csr, rows, columns).run();
}

template RowPieces<float> cut_rows(const CsrView<double>&, std::span<const VertexId>, const ColumnOrder&);
template RowPieces<double> cut_rows(const CsrView<double>&, std::span<const VertexId>, const ColumnOrder&);

}  // namespace tessera
