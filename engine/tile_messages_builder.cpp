#include "engine/tile_messages_builder.hpp"

#include <algorithm>
#include <numeric>

#include "engine/region_failure.hpp"
#include "engine/row_pieces.hpp"
#include "kernels/base/error.hpp"
#include "kernels/slice_builder.hpp"
#include "kernels/word_arrangement.hpp"

namespace tessera {
namespace {

/// The messages that one tile sends to one bin.
struct Cell {
  std::uint64_t bin = 0;
  std::uint64_t first = 0, count = 0;  ///< into the tile's messages
  std::uint64_t first_message = 0;
};

/// Messages of a tile: by bin, longest first, rows ascending among equals. Message = RowPiece: what one row
/// has in the tile, or a part of it.
struct TileCells {
  std::vector<RowPiece> messages;
  std::vector<Cell> cells;
  std::vector<Slice> slices;
  std::uint64_t num_words = 0;
};

struct BinSlices {
  std::vector<VertexId> rows;  ///< most messages first
  std::vector<Slice> slices;
  std::uint64_t num_words = 0;
};

/// Calls body(i) for i < count on all threads.
template <class Body>
void for_each(std::uint64_t count, const Body& body) {
  RegionFailure failure;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::uint64_t i = 0; i < count; ++i) failure.guard([&] { body(i); });
  failure.rethrow();
}

template <class S>
class Builder {
 public:
  Builder(const CsrView<double>& csr, std::span<const VertexId> rows, const ColumnOrder& columns,
          const BinLimits& bin_limits)
      : csr_(csr),
        rows_(rows),
        columns_(columns),
        bin_limits_(bin_limits),
        pieces_(cut_rows<S>(csr, rows, columns)),
        tiles_(columns.tiles.size()) {
    for (const Tile& tile : columns.tiles) require(!tile.wide, "tile-messages has no wide tile");
    result_.num_rows = rows.size();
    result_.num_slots = columns.num_slots;
  }

  TileMessages<S> run() {
    for_each(tiles_.size(), [&](std::uint64_t t) { make_messages(t); });
    pieces_.pieces = {};
    count_messages();
    make_bins();
    for_each(tiles_.size(), [&](std::uint64_t t) { make_cells(t); });
    number_messages();
    build_tiles();
    build_bins();
    finish_stats();
    return std::move(result_);
  }

 private:
  std::uint32_t message_elements(VertexId row) const {
    return elements_of_message(csr_.row_offsets[rows_[row] + 1] - csr_.row_offsets[rows_[row]]);
  }

  void make_messages(std::uint64_t t) {
    const auto pieces = pieces_.pieces.span().subspan(
        pieces_.first_of_tile[t], pieces_.first_of_tile[t + 1] - pieces_.first_of_tile[t]);
    auto& messages = tiles_[t].messages;
    messages.reserve(pieces.size());
    for (const RowPiece& piece : pieces) {
      const std::uint32_t most =
          piece.length <= kMessageElements ? piece.length : message_elements(piece.row);
      for (std::uint32_t k = 0; k < piece.length; k += most)
        messages.push_back({piece.row, std::min(most, piece.length - k), piece.first + k});
    }
  }

  void count_messages() {
    first_message_.assign(rows_.size() + 1, 0);
    std::uint64_t total = 0;
    for (const TileCells& tile : tiles_) {
      total += tile.messages.size();
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < tile.messages.size(); ++i) {
#pragma omp atomic
        ++first_message_[tile.messages[i].row + 1];
      }
    }
    if (total >= kNoVertex) throw ResourceError("the matrix needs more than 2^32 messages; use more ranks");
    std::partial_sum(first_message_.begin(), first_message_.end(), first_message_.begin());
  }
  std::uint32_t count_of(std::uint64_t row) const { return first_message_[row + 1] - first_message_[row]; }

  void make_bins() {
    first_row_ = cut_bins(first_message_, bin_limits_);
    result_.bins.windows = Buffer<Window>(num_bins() + 1);
    std::uint64_t next = 0;
    for (std::size_t b = 0; b < num_bins(); ++b) {
      const std::uint32_t size = first_message_[first_row_[b + 1]] - first_message_[first_row_[b]];
      result_.bins.windows[b] = {.first_in = next, .size = size};
      next += aligned_bin_size(size);
    }
    result_.num_messages = next;
    if (next > kNoVertex) throw ResourceError("the matrix needs more than 2^32 messages; use more ranks");
  }
  std::uint64_t num_bins() const { return first_row_.size() - 1; }

  void make_cells(std::uint64_t t) {
    auto& [messages, cells, slices, num_words] = tiles_[t];
    for (std::uint64_t first = 0, bin = 0; first < messages.size(); ++bin) {
      while (messages[first].row >= first_row_[bin + 1]) ++bin;
      std::uint64_t end = first;
      while (end < messages.size() && messages[end].row < first_row_[bin + 1]) ++end;
      std::stable_sort(messages.begin() + static_cast<std::ptrdiff_t>(first),
                       messages.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const RowPiece& a, const RowPiece& b) { return a.length > b.length; });
      cells.push_back({.bin = bin, .first = first, .count = end - first});
      first = end;
    }
  }

  /// A bin's messages: tile after tile.
  void number_messages() {
    std::vector<std::uint64_t> next(num_bins());
    cells_of_bin_.resize(num_bins());
    for (std::size_t b = 0; b < next.size(); ++b) next[b] = result_.bins.windows[b].first_in;
    for (std::size_t t = 0; t < tiles_.size(); ++t)
      for (Cell& cell : tiles_[t].cells) {
        cell.first_message = next[cell.bin];
        next[cell.bin] += cell.count;
        cells_of_bin_[cell.bin].push_back({static_cast<std::uint32_t>(t), &cell});
      }
  }

  /// Turns positions in each part into positions in the whole pass; gives the parts' first words.
  template <class Part>
  static std::vector<std::uint64_t> join(std::vector<Part>& parts, SlicePass<S>& pass) {
    std::vector<std::uint64_t> first_words(parts.size() + 1, 0);
    std::uint64_t num_slices = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      pass.windows[i].first_slice = num_slices;
      num_slices += parts[i].slices.size();
      first_words[i + 1] = first_words[i] + parts[i].num_words;
    }
    pass.windows[parts.size()] = {.first_slice = num_slices};
    pass.slices = Buffer<Slice>(num_slices);
    pass.words = Buffer<std::uint32_t>(first_words.back());
    return first_words;
  }

  void build_tiles() {
    SlicePass<S>& pass = result_.tiles;
    pass.windows = Buffer<Window>(tiles_.size() + 1);
    for_each(tiles_.size(), [&](std::uint64_t t) {
      const Tile& tile = columns_.tiles[t];
      pass.windows[t] = {.first_in = tile.first_slot, .size = static_cast<std::uint32_t>(tile.num_columns)};
      for (const Cell& cell : tiles_[t].cells)
        each_slice(
            cell.count, [&](std::uint64_t i) { return tiles_[t].messages[cell.first + i].length; },
            cell.first_message, tiles_[t].num_words,
            [&](const Slice& slice, std::uint64_t) { tiles_[t].slices.push_back(slice); });
    });
    const auto first_words = join(tiles_, pass);
    if (!pieces_.values16.empty()) pass.values = Buffer<S>(2 * pass.words.size());
    for_each(tiles_.size(), [&](std::uint64_t t) { fill_tile(t, first_words[t]); });
  }

  void fill_tile(std::uint64_t t, std::uint64_t first_word) {
    SlicePass<S>& pass = result_.tiles;
    const RowPiece* message = tiles_[t].messages.data();
    Slice* out = pass.slices.data() + pass.windows[t].first_slice;
    for (Slice slice : tiles_[t].slices) {
      slice.first_word += first_word;
      fill_slice_gap(slice, pass.words.data());
      if (!pass.values.empty())
        std::fill_n(pass.values.data() + 2 * slice.first_word, 2 * aligned_words(slice), S{0});
      for (std::uint32_t r = 0; r < rows_of(slice); ++r, ++message) {
        const std::uint16_t* from = pieces_.offsets16.data() + message->first;
        fill_slice_row(
            slice, r, message->length, pass.windows[t].size, [&](std::uint32_t k) { return from[k]; },
            pass.words.data());
        if (!pass.values.empty())
          for (std::uint32_t k = 0; k < message->length; ++k) {
            const auto [word, half] = element_place(slice, r, k);
            pass.values[2 * word + half] = pieces_.values16[message->first + k];
          }
      }
      arrange_slice(slice, pass.windows[t].size, pass.words.data(),
                    pass.values.empty() ? nullptr : pass.values.data());
      *out++ = slice;
    }
  }

  void build_bins() {
    std::vector<BinSlices> bins(num_bins());
    for_each(bins.size(), [&](std::uint64_t b) { rank_rows(b, bins[b]); });
    const auto first_words = join(bins, result_.bins);
    std::vector<std::uint64_t> first_products(bins.size() + 1, 0);
    for (std::size_t b = 0; b < bins.size(); ++b)
      first_products[b + 1] = first_products[b] + bins[b].rows.size();
    result_.num_products = first_products.back();
    result_.row_positions = Buffer<VertexId>(rows_.size());
    std::fill(result_.row_positions.begin(), result_.row_positions.end(), kNoVertex);
    for_each(bins.size(), [&](std::uint64_t b) { fill_bin(b, bins[b], first_words[b], first_products[b]); });
  }

  void rank_rows(std::uint64_t b, BinSlices& bin) const {
    for (std::uint64_t row = first_row_[b]; row < first_row_[b + 1]; ++row)
      if (count_of(row) > 0) bin.rows.push_back(static_cast<VertexId>(row));
    std::stable_sort(bin.rows.begin(), bin.rows.end(),
                     [&](VertexId u, VertexId v) { return count_of(u) > count_of(v); });
    each_slice(
        bin.rows.size(), [&](std::uint64_t i) { return count_of(bin.rows[i]); }, 0, bin.num_words,
        [&](const Slice& slice, std::uint64_t) { bin.slices.push_back(slice); });
  }

  void fill_bin(std::uint64_t b, BinSlices& bin, std::uint64_t first_word, std::uint64_t first_product) {
    SlicePass<S>& pass = result_.bins;
    const Window& window = pass.windows[b];
    // The bin's messages by row; tiles ascend, so each row's are in order.
    const std::uint32_t* first = first_message_.data() + first_row_[b];
    std::vector<std::uint32_t> next(first_row_[b + 1] - first_row_[b]);
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = first[i] - first[0];
    std::vector<std::uint16_t> places(window.size);
    for (const auto& [t, cell] : cells_of_bin_[b])
      for (std::uint64_t i = 0; i < cell->count; ++i) {
        const VertexId row = tiles_[t].messages[cell->first + i].row;
        places[next[row - first_row_[b]]++] =
            static_cast<std::uint16_t>(cell->first_message + i - window.first_in);
      }
    Slice* out = pass.slices.data() + window.first_slice;
    const VertexId* row = bin.rows.data();
    for (Slice slice : bin.slices) {
      slice.first_word += first_word;
      slice.first_out += static_cast<std::uint32_t>(first_product);
      fill_slice_gap(slice, pass.words.data());
      for (std::uint32_t r = 0; r < rows_of(slice); ++r, ++row) {
        const std::uint16_t* from = places.data() + first[*row - first_row_[b]] - first[0];
        result_.row_positions[*row] = slice.first_out + r;
        fill_slice_row(
            slice, r, count_of(*row), window.size, [&](std::uint32_t k) { return from[k]; },
            pass.words.data());
      }
      arrange_slice<S>(slice, window.size, pass.words.data(), nullptr);
      *out++ = slice;
    }
    bin = {};
  }

  void finish_stats() {
    PackingStats& stats = result_.stats;
    for (const TileCells& tile : tiles_) {
      stats.num_row_pieces += tile.messages.size();
      for (const RowPiece& message : tile.messages) stats.num_nonzeros += message.length;
    }
    stats.num_stored = 2 * result_.tiles.words.size();
    stats.bytes = result_.tiles.bytes() + result_.bins.bytes() + result_.row_positions.size_bytes();
    stats.num_tiles = tiles_.size();
    stats.num_workloads = result_.tiles.slices.size() + result_.bins.slices.size();
  }

  struct CellOfBin {
    std::uint32_t tile;
    const Cell* cell;
  };

  const CsrView<double>& csr_;
  std::span<const VertexId> rows_;
  const ColumnOrder& columns_;
  const BinLimits bin_limits_;
  RowPieces<S> pieces_;
  std::vector<TileCells> tiles_;
  std::vector<std::uint32_t> first_message_;  // of each row, and the end, as if there were no bins
  std::vector<std::uint64_t> first_row_;      // of each bin, and the end
  std::vector<std::vector<CellOfBin>> cells_of_bin_;
  TileMessages<S> result_;
};

}  // namespace

template <class S>
TileMessages<S> build_tile_messages(const CsrView<double>& csr, std::span<const VertexId> rows,
                                    const ColumnOrder& columns, const BinLimits& bins,
                                    std::span<const WindowPart> parts) {
  TileMessages<S> result = Builder<S>(csr, rows, columns, bins).run();
  if (parts.empty()) return result;
  require(!columns.tiles.empty() && parts.size() % columns.tiles.size() == 0, "every tile has as many parts");
  result.tiles.parts = Buffer<WindowPart>(parts.size());
  std::copy(parts.begin(), parts.end(), result.tiles.parts.begin());
  result.tiles.num_parts = static_cast<std::uint32_t>(parts.size() / columns.tiles.size());
  result.num_slots = 0;
  for (const WindowPart& part : parts)
    result.num_slots = std::max(result.num_slots, part.first_in + part.size);
  return result;
}

template TileMessages<float> build_tile_messages(const CsrView<double>&, std::span<const VertexId>,
                                                 const ColumnOrder&, const BinLimits&,
                                                 std::span<const WindowPart>);
template TileMessages<double> build_tile_messages(const CsrView<double>&, std::span<const VertexId>,
                                                  const ColumnOrder&, const BinLimits&,
                                                  std::span<const WindowPart>);

}  // namespace tessera
