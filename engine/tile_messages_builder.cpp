#include "engine/tile_messages_builder.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/region_failure.hpp"
#include "engine/row_pieces.hpp"
#include "kernels/base/error.hpp"
#include "kernels/slice_builder.hpp"

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
  std::vector<std::uint32_t> counts;
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
          std::uint32_t bin_messages)
      : csr_(csr),
        rows_(rows),
        columns_(columns),
        bin_messages_(bin_messages),
        pieces_(cut_rows<S>(csr, rows, columns)),
        tiles_(columns.tiles.size()) {
    for (const Tile& tile : columns.tiles) require(!tile.wide, "tile-messages has no wide tile");
    require(bin_messages <= 65535, "a bin has at most 65,535 messages");
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
    counts_.assign(rows_.size(), 0);
    for (const TileCells& tile : tiles_)
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < tile.messages.size(); ++i) {
#pragma omp atomic
        ++counts_[tile.messages[i].row];
      }
  }

  /// Whole rows, in local order, while they fit.
  void make_bins() {
    std::uint64_t in_bin = 0;
    first_row_.push_back(0);
    std::vector<std::uint32_t> sizes;
    for (std::uint64_t row = 0; row < rows_.size(); ++row) {
      if (counts_[row] > bin_messages_)
        throw ResourceError("a row has elements in " + std::to_string(counts_[row]) +
                            " tiles, expected at most " + std::to_string(bin_messages_) +
                            "; use --kernel csr");
      if (in_bin + counts_[row] > bin_messages_) {
        first_row_.push_back(row);
        sizes.push_back(static_cast<std::uint32_t>(in_bin));
        in_bin = 0;
      }
      in_bin += counts_[row];
    }
    first_row_.push_back(rows_.size());
    sizes.push_back(static_cast<std::uint32_t>(in_bin));
    result_.bins.windows = Buffer<Window>(sizes.size() + 1);
    std::uint64_t next = 0;
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      result_.bins.windows[b] = {.first_in = next, .size = sizes[b]};
      next += (sizes[b] + kBinAlignment - 1) / kBinAlignment * kBinAlignment;
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
      if (counts_[row] > 0) bin.rows.push_back(static_cast<VertexId>(row));
    std::stable_sort(bin.rows.begin(), bin.rows.end(),
                     [&](VertexId u, VertexId v) { return counts_[u] > counts_[v]; });
    each_slice(
        bin.rows.size(), [&](std::uint64_t i) { return counts_[bin.rows[i]]; }, 0, bin.num_words,
        [&](const Slice& slice, std::uint64_t) { bin.slices.push_back(slice); });
  }

  void fill_bin(std::uint64_t b, BinSlices& bin, std::uint64_t first_word, std::uint64_t first_product) {
    SlicePass<S>& pass = result_.bins;
    const Window& window = pass.windows[b];
    // The bin's messages by row; tiles ascend, so each row's are in order.
    std::vector<std::uint32_t> next(first_row_[b + 1] - first_row_[b] + 1, 0);
    for (std::size_t i = 0; i + 1 < next.size(); ++i) next[i + 1] = next[i] + counts_[first_row_[b] + i];
    const std::vector<std::uint32_t> first = next;
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
        const std::uint16_t* from = places.data() + first[*row - first_row_[b]];
        result_.row_positions[*row] = slice.first_out + r;
        fill_slice_row(
            slice, r, counts_[*row], window.size, [&](std::uint32_t k) { return from[k]; },
            pass.words.data());
      }
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
  const std::uint32_t bin_messages_;
  RowPieces<S> pieces_;
  std::vector<TileCells> tiles_;
  std::vector<std::uint32_t> counts_;     // messages of each row
  std::vector<std::uint64_t> first_row_;  // of each bin, and the end
  std::vector<std::vector<CellOfBin>> cells_of_bin_;
  TileMessages<S> result_;
};

}  // namespace

template <class S>
TileMessages<S> build_tile_messages(const CsrView<double>& csr, std::span<const VertexId> rows,
                                    const ColumnOrder& columns, std::uint32_t bin_messages,
                                    std::span<const WindowPart> parts) {
  TileMessages<S> result = Builder<S>(csr, rows, columns, bin_messages).run();
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
                                                 const ColumnOrder&, std::uint32_t,
                                                 std::span<const WindowPart>);
template TileMessages<double> build_tile_messages(const CsrView<double>&, std::span<const VertexId>,
                                                  const ColumnOrder&, std::uint32_t,
                                                  std::span<const WindowPart>);

}  // namespace tessera
