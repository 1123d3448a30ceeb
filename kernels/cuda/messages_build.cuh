// Builds the tile-messages form: byte for byte what engine/tile_messages_builder.cpp builds, up to 2^34 words
// of a pass. Written for any memory; the host is where it is tested without a device, but for what
// docs/design.md names. Sorting does the work: elements by tile, messages of each cell (tile and bin) by
// length, rows of each bin by messages.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/bin_cells.cuh"
#include "kernels/cuda/group_sort.cuh"
#include "kernels/cuda/message_order.cuh"
#include "kernels/cuda/message_places.cuh"
#include "kernels/cuda/resident_matrix.cuh"
#include "kernels/cuda/side_stream.cuh"
#include "kernels/cuda/word_filler.cuh"
#include "kernels/tile_messages.hpp"

namespace tessera::cuda {

template <class Memory, class S>
struct MessagesBuild {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  MessagesBuild(const MessagesShape& shape, CutMessages<Memory, S> messages, SideStream<Memory>& side)
      : shape_(shape), messages_(std::move(messages)), side_(side) {}
  MessagesBuild(const MessagesBuild&) = delete;
  MessagesBuild& operator=(const MessagesBuild&) = delete;
  ~MessagesBuild() { side_.settle(); }  // before arrays are freed that are used there

  TileMessages<S> run() {
    make_bins();
    sort_messages();
    send_tiles();
    const Vector<std::uint32_t> places = place_cells();
    begin_places();
    const RankedRows rows = rank_rows();
    auto [tiles, bins] = slices_of(rows, places.data());
    build_tiles(tiles);
    end_places();
    build_bins(rows, bins);
    finish();
    return std::move(result_);
  }

  std::uint64_t num_bins() const { return bin_windows_.size() - 1; }
  std::uint64_t num_tiles() const { return shape_.tiles.size(); }
  /// Cell: the messages of a tile for a bin, neighbours in what the tile sends and the bin receives.
  std::uint64_t num_cells() const { return num_tiles() * num_bins(); }

  /// Windows of pass 2, on the host: bins are few.
  void make_bins() {
    const std::uint64_t num_rows = shape_.num_rows;
    before_row_ = std::move(messages_.before_row);
    const auto num_messages = static_cast<std::uint32_t>(messages_.rows.size());
    const FindRows find{
        .of_targets = [&](std::span<const std::uint32_t> targets) { return find_rows(targets); },
        .of_parts = [&](std::uint64_t num_parts) { return find_parts(num_parts, num_messages); }};
    const auto edges = cut_bins(num_rows, num_messages, messages_.found.most_messages, find, shape_.bins);
    list_rest();  // as find_edges() has, if it was called
    std::vector<std::uint32_t> first_rows, first_messages, bin_row_counts;
    std::uint64_t next = 0;
    for (auto* list : {&first_rows, &first_messages, &bin_row_counts}) list->reserve(edges.size());
    bin_windows_.reserve(edges.size());
    for (std::size_t b = 0; b < edges.size(); ++b) {
      first_rows.push_back(edges[b].row);
      first_messages.push_back(edges[b].messages_before);
      if (b + 1 == edges.size()) break;
      const std::uint32_t size = edges[b + 1].messages_before - edges[b].messages_before;
      most_bin_messages_ = std::max(most_bin_messages_, size);
      bin_row_counts.push_back(edges[b + 1].row - edges[b].row);
      bin_windows_.push_back({.first_in = next, .size = size});
      next += aligned_bin_size(size);
    }
    usual_bin_rows_ = most_usual(bin_row_counts);
    if (next > kNoVertex) throw ResourceError("the matrix needs more than 2^32 messages; use more ranks");
    bin_windows_.push_back({});
    result_.num_messages = next;
    bin_messages_ = Memory::template from_host<std::uint32_t>(first_messages);
    bin_pass_.windows = Memory::template from_host<Window>(bin_windows_);
    bin_rows_ = Memory::template from_host<std::uint32_t>(first_rows);
  }

  std::vector<BinEdge> find_rows(std::span<const std::uint32_t> targets) {
    const auto wanted = Memory::template from_host<std::uint32_t>(targets);
    const std::uint32_t* target = wanted.data();
    return find_edges(targets.size(), [=] __host__ __device__(std::uint64_t i) { return target[i]; });
  }
  std::vector<BinEdge> find_parts(std::uint64_t num_parts, std::uint32_t num_messages) {
    return find_edges(num_parts + 1, [=] __host__ __device__(std::uint64_t i) {
      return end_of_part(i, num_parts, num_messages);
    });
  }
  template <class TargetOf>
  std::vector<BinEdge> find_edges(std::uint64_t count, TargetOf target_of) {
    Vector<BinEdge> edges(count);
    const std::uint32_t* before = before_row_.data();
    const std::uint64_t size = before_row_.size();
    BinEdge* edge = edges.data();
    Memory::each(count, [=] __host__ __device__(std::uint64_t i) {
      const std::uint64_t row = first_not_below(before, size, target_of(i));
      edge[i] = {static_cast<VertexId>(row), before[row]};
    });
    // Only one launch goes before the host's request, as each delays the edges; the rest follows while the
    // host cuts.
    std::vector<BinEdge> found = side_.to_host(edge, count, [&] { messages_.write_rest(); });
    list_rest();
    return found;
  }

  /// Messages, and rows with messages, in order; once.
  void list_rest() {
    messages_.write_rest();
    if (linked_rows_) return;
    const std::uint32_t* before = before_row_.data();
    linked_rows_ = indices_where<VertexId, Memory>(
        messages_.num_rows, messages_.found.num_rows,
        [=] __host__ __device__(VertexId row) { return before[row + 1] > before[row]; });
  }

  /// What is cut chunk after chunk of rows, tile after tile in each, all by tile. Gives positions.
  Vector<std::uint32_t> order_by_tile() {
    Vector<std::uint32_t> order;
    if (messages_.num_chunks < 2) return order;
    const std::uint64_t count = messages_.rows.size();
    Vector<std::uint32_t> shapes(count);
    order = Vector<std::uint32_t>(count);
    std::uint32_t* position = order.data();
    Memory::copy(messages_.shapes.data(), shapes.data(), count * sizeof(std::uint32_t));
    Memory::each(count,
                 [=] __host__ __device__(std::uint64_t m) { position[m] = static_cast<std::uint32_t>(m); });
    Memory::sort(shapes, order, kTileShift, kTileShift + bits_for(num_tiles() - 1));
    return order;
  }

  /// By cell and length, longest first.
  void sort_messages() {
    const std::uint64_t count = messages_.rows.size(), cells = num_cells(), bins = num_bins();
    const Vector<std::uint32_t> by_tile = order_by_tile();
    const CutOrder cut{by_tile.data(), messages_.rows.data(), messages_.shapes.data()};
    cell_firsts_ = Vector<std::uint32_t>(cells + 1);
    std::uint32_t* first = cell_firsts_.data();
    const std::uint32_t* first_row = bin_rows_.data();
    Memory::each(cells + 1, [=] __host__ __device__(std::uint64_t c) {
      first[c] = static_cast<std::uint32_t>(
          c == cells ? count : cut.first_not_below(count, c / bins, first_row[c % bins]));
    });
    begins_ = ElementPositions<Memory>(count, messages_.num_elements);
    rows_ = Vector<VertexId>(count);
    lengths_ = Vector<std::uint16_t>(count);
    const PositionsStore begin = begins_.to_store();
    VertexId* row = rows_.data();
    std::uint16_t* length = lengths_.data();
    const PositionsLoad begin_of = messages_.firsts.to_load();
    const VertexId* row_of = messages_.rows.data();
    sort_groups<Memory>(
        cells, count, first, messages_.longest,
        [=] __host__ __device__(std::uint32_t i) { return cut.length(i); },
        [=] __host__ __device__(std::uint32_t i) -> PlacedMessage {
          const std::uint32_t message = cut.message(i);
          return {begin_of.load(message), row_of[message]};
        },
        [=] __host__ __device__(std::uint32_t place, const PlacedMessage& message, std::uint32_t elements) {
          begin.store(place, message.begin);
          row[place] = message.row;
          length[place] = static_cast<std::uint16_t>(elements);
        });
    messages_.shapes = {};
    messages_.firsts = {};
    messages_.rows = {};
  }

  /// Windows of pass 1, while a device still sorts.
  void send_tiles() {
    std::vector<Window> windows;
    for (const Tile& tile : shape_.tiles)
      windows.push_back({.first_in = tile.first_slot, .size = static_cast<std::uint32_t>(tile.num_columns)});
    windows.push_back({});
    tile_pass_.windows = Memory::template from_host<Window>(windows);
  }

  /// Where the first message of each cell lies: a bin's messages tile after tile.
  Vector<std::uint32_t> place_cells() {
    Vector<std::uint32_t> places(num_cells());
    ends_by_bin_ = Vector<std::uint32_t>(num_cells());
    list_cells<Memory>({.num_tiles = static_cast<std::uint32_t>(num_tiles()),
                        .num_bins = static_cast<std::uint32_t>(num_bins()),
                        .firsts = cell_firsts_.data(),
                        .before_bins = bin_messages_.data(),
                        .bins = bin_pass_.windows.data(),
                        .ends_by_bin = ends_by_bin_.data(),
                        .places = places.data()});
    return places;
  }

  struct PassVectors {
    Vector<Window> windows;
    Vector<Slice> slices;
    Vector<std::uint32_t> words;
    Vector<S> values;
  };

  /// On a device beside what follows, until end_places(): it waits more than it works.
  void begin_places() {
    places_ = offsets_with_room<Memory>(rows_.size());
    listed_ = Vector<std::uint32_t>(before_row_.size());
    side_.fork();
    list_places<Memory>(
        {static_cast<std::uint32_t>(num_tiles()), static_cast<std::uint32_t>(num_bins()),
         static_cast<std::uint32_t>(rows_.size()), cell_firsts_.data(), ends_by_bin_.data(), rows_.data()},
        {bin_rows_, before_row_, usual_bin_rows_, most_bin_messages_, listed_.data()}, places_.data(),
        side_.stream());
  }
  void end_places() {
    side_.join();
    ends_by_bin_ = {};
    listed_ = {};
    rows_ = {};
  }

  void build_tiles(CutSlices<Memory>& cut) {
    tile_pass_.words = Vector<std::uint32_t>(cut.sizes.words);
    if (!messages_.values.empty()) tile_pass_.values = Vector<S>(2 * cut.sizes.words);
    fill_tiles(cut);
    tile_pass_.slices = std::move(cut.slices);
    messages_.offsets = {};
    messages_.values = {};
    begins_ = {};
    lengths_ = {};
  }

  /// The rows of slices that were cut.
  template <class RowOf, class PaddingOf>
  static WordSource<S, RowOf, PaddingOf> source_of(const CutSlices<Memory>& cut, const std::uint16_t* offsets,
                                                   const S* values, RowOf row_of, PaddingOf padding_of) {
    return {cut.slices.data(), cut.first_rows.data(), offsets, values, row_of, padding_of};
  }

  void fill_tiles(const CutSlices<Memory>& cut) {
    const std::uint32_t* group = cut.groups.data();
    const std::uint16_t* length = lengths_.data();
    const PositionsLoad begin = begins_.to_load();
    const Window* tile = tile_pass_.windows.data();
    const auto bins = static_cast<std::uint32_t>(num_bins());
    const auto source = source_of(
        cut, messages_.offsets.data(), messages_.values.empty() ? nullptr : messages_.values.data(),
        [=] __host__ __device__(std::uint32_t i) -> ListedRow {
          return {begin.load(i), length[i]};
        },
        [=] __host__ __device__(std::uint64_t s) { return tile[group[s] / bins].size; });
    S* values = messages_.values.empty() ? nullptr : tile_pass_.values.data();
    if (values != nullptr) fill_values<Memory>(cut, source, values);
    fill_words<Memory>(cut, source, tile_pass_.words.data(), values);
  }

  /// Rows with messages, by bin, most messages first. row_positions_ has where each comes.
  struct RankedRows {
    Vector<std::uint32_t> begins;  ///< messages before each
    Vector<std::uint16_t> counts;
    Vector<std::uint32_t> firsts;  ///< of each bin, and the end
  };
  RankedRows rank_rows() {
    const std::uint32_t *before = before_row_.data(), *first_row = bin_rows_.data();
    const Vector<VertexId> rows = std::move(*linked_rows_);
    const std::uint64_t count = rows.size(), bins = num_bins();
    RankedRows ranked{Vector<std::uint32_t>(count), Vector<std::uint16_t>(count),
                      Vector<std::uint32_t>(bins + 1)};
    row_positions_ = Memory::no_vertices(shape_.num_rows);
    result_.num_products = count;
    const VertexId* row = rows.data();
    std::uint32_t* first = ranked.firsts.data();
    Memory::each(bins + 1, [=] __host__ __device__(std::uint64_t b) {
      first[b] = static_cast<std::uint32_t>(b == bins ? count : first_not_below(row, count, first_row[b]));
    });
    VertexId* position = row_positions_.data();
    std::uint32_t* begin = ranked.begins.data();
    std::uint16_t* num_messages = ranked.counts.data();
    sort_groups<Memory>(
        bins, count, first, static_cast<std::uint32_t>(messages_.found.most_messages),
        [=] __host__ __device__(std::uint32_t i) { return before[row[i] + 1] - before[row[i]]; },
        [=] __host__ __device__(std::uint32_t i) -> PlacedRow {
          return {row[i], before[row[i]]};
        },
        [=] __host__ __device__(std::uint32_t place, const PlacedRow& of, std::uint32_t messages) {
          position[of.row] = place;
          begin[place] = of.messages_before;
          num_messages[place] = static_cast<std::uint16_t>(messages);
        });
    return ranked;
  }

  /// Of both passes.
  std::array<CutSlices<Memory>, 2> slices_of(const RankedRows& rows, const std::uint32_t* places) {
    return cut_slices<Memory>({.num_groups = num_cells(),
                               .groups_of_window = num_bins(),
                               .first = cell_firsts_.data(),
                               .lengths = lengths_.data(),
                               .out = places,
                               .windows = tile_pass_.windows.data()},
                              {.num_groups = num_bins(),
                               .groups_of_window = 1,
                               .first = rows.firsts.data(),
                               .lengths = rows.counts.data(),
                               .out = rows.firsts.data(),
                               .windows = bin_pass_.windows.data()});
  }

  void build_bins(const RankedRows& ranked, CutSlices<Memory>& cut) {
    bin_pass_.words = Vector<std::uint32_t>(cut.sizes.words);
    fill_bins(ranked, cut);
    bin_pass_.slices = std::move(cut.slices);
  }

  void fill_bins(const RankedRows& ranked, const CutSlices<Memory>& cut) {
    const std::uint32_t *bin = cut.groups.data(), *begin = ranked.begins.data();
    const Window* window = bin_pass_.windows.data();
    const std::uint16_t* count = ranked.counts.data();
    fill_words<Memory>(cut,
                       source_of(
                           cut, places_.data(), static_cast<const S*>(nullptr),
                           [=] __host__ __device__(std::uint32_t i) -> ListedRow {
                             return {begin[i], count[i]};
                           },
                           [=] __host__ __device__(std::uint64_t s) { return window[bin[s]].size; }),
                       bin_pass_.words.data(), static_cast<S*>(nullptr));
  }

  static SlicePass<S> as_pass(PassVectors&& pass) {
    SlicePass<S> result;
    result.windows = Memory::as_buffer(std::move(pass.windows));
    result.slices = Memory::as_buffer(std::move(pass.slices));
    result.words = Memory::as_buffer(std::move(pass.words));
    result.values = Memory::as_buffer(std::move(pass.values));
    return result;
  }

  void finish() {
    result_.num_rows = shape_.num_rows;
    result_.num_slots = shape_.num_slots;
    result_.stats.num_nonzeros = messages_.num_elements;
    result_.stats.num_row_pieces = places_.size();
    result_.tiles = as_pass(std::move(tile_pass_));
    result_.bins = as_pass(std::move(bin_pass_));
    result_.row_positions = Memory::as_buffer(std::move(row_positions_));
    result_.stats.num_stored = 2 * result_.tiles.words.size();
    result_.stats.bytes = result_.tiles.bytes() + result_.bins.bytes() + result_.row_positions.size_bytes();
    result_.stats.num_tiles = num_tiles();
    result_.stats.num_workloads = result_.tiles.slices.size() + result_.bins.slices.size();
    if (shape_.parts.empty()) return;
    result_.tiles.parts = Memory::as_buffer(Memory::template from_host<WindowPart>(shape_.parts));
    result_.tiles.num_parts = static_cast<std::uint32_t>(shape_.parts.size() / num_tiles());
  }

  const MessagesShape& shape_;
  CutMessages<Memory, S> messages_;
  Vector<std::uint32_t> before_row_;             // messages before each row, and the end
  std::optional<Vector<VertexId>> linked_rows_;  // with messages, in order, until they are ranked
  std::uint32_t usual_bin_rows_ = 0, most_bin_messages_ = 0;
  std::vector<Window> bin_windows_;
  Vector<std::uint32_t> bin_rows_, bin_messages_;  // first of each bin, of messages as if without gaps
  ElementPositions<Memory> begins_;                // sorted messages: where their elements begin
  Vector<VertexId> rows_;                          // ... whose they are
  Vector<std::uint16_t> lengths_;
  Vector<std::uint32_t> cell_firsts_;  // first sorted message of each cell, and the end
  Vector<std::uint32_t> ends_by_bin_;  // messages of all cells up to each, by bin, then tile
  Vector<std::uint16_t> places_;       // of messages in their bins, by row
  PassVectors tile_pass_, bin_pass_;
  Vector<VertexId> row_positions_;
  TileMessages<S> result_;
  Vector<std::uint32_t> listed_;  // for list_places()
  SideStream<Memory>& side_;
};

/// The form of a matrix in host memory.
template <class Memory, class S>
TileMessages<S> build_messages(const MessagesBuildInput& input) {
  SideStream<Memory> side;
  return MessagesBuild<Memory, S>(input.shape, cut_host_rows<Memory, S>(input, side), side).run();
}

}  // namespace tessera::cuda
