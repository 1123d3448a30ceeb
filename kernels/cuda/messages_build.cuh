// Builds the tile-messages form: byte for byte what engine/tile_messages_builder.cpp builds, up to 2^34 words
// of a pass. Written for any memory; the host is where it is tested without a device, but for what
// docs/design.md names. Sorting does the work: elements by tile, messages of each cell (tile and bin) by
// length, rows of each bin by messages.
#pragma once
#include <array>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/bin_cells.cuh"
#include "kernels/cuda/bin_edges.cuh"
#include "kernels/cuda/group_sort.cuh"
#include "kernels/cuda/message_order.cuh"
#include "kernels/cuda/message_places.cuh"
#include "kernels/cuda/reduction.cuh"
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
    const std::vector<BinEdge> edges = make_bins();
    sort_messages();
    send_windows(edges);
    const RankedRows rows = end_ranking();
    const Vector<std::uint32_t> places = place_cells();
    begin_places();
    auto [tiles, bins] = slices_of(rows, places.data());
    build_tiles(tiles);
    end_places();
    build_bins(rows, bins);
    finish();
    return std::move(result_);
  }

  std::uint64_t num_bins() const { return bins_.size() - 1; }
  std::uint64_t num_tiles() const { return shape_.tiles.size(); }
  /// Cell: the messages of a tile for a bin, neighbours in what the tile sends and the bin receives.
  std::uint64_t num_cells() const { return num_tiles() * num_bins(); }

  /// On the host: bins are few. While it reads and cuts, a device does what needs no bins.
  std::vector<BinEdge> make_bins() {
    sum_up_rows();
    BinEdges<Memory> bins(before_row_, findings_.data(), messages_.rows.size(), shape_.bins, side_, [&] {
      messages_.write();
      list_linked_rows();
    });
    findings_ = {};
    found_ = bins.found();
    check_message_count(found_.num_messages);
    std::vector<BinEdge> edges = bins.cut();
    bins_ = Memory::template from_host<BinEdge>(edges);
    messages_.settle(found_.num_messages);
    linked_rows_.truncate(found_.num_rows);
    return edges;
  }

  /// Messages before each row, and what those of all rows are together: side by side on a device.
  void sum_up_rows() {
    Vector<std::uint32_t>& counts = messages_.row_counts;
    const std::uint32_t* count = counts.data();
    before_row_ = Vector<std::uint32_t>(counts.size());
    findings_ = sum_of<RowFindings, Memory>(
        messages_.num_rows + 1,
        [=] __host__ __device__(std::uint64_t i) -> RowFindings {
          return {count[i], count[i] > 0 ? 1u : 0u, count[i]};
        },
        &side_);
    sum_up(counts, before_row_);
    side_.join();
    counts = {};
  }

  /// Rows with messages, in order.
  void list_linked_rows() {
    const std::uint32_t* before = before_row_.data();
    linked_rows_ = indices_where<VertexId, Memory>(
        messages_.num_rows, [=] __host__ __device__(VertexId row) { return before[row + 1] > before[row]; });
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

  /// Where the messages of each cell begin.
  void find_cells(const CutOrder& cut) {
    const std::uint64_t cells = num_cells(), bins = num_bins();
    cell_firsts_ = Vector<std::uint32_t>(cells + 1);
    std::uint32_t* first = cell_firsts_.data();
    const BinEdge* bin = bins_.data();
    Memory::each(cells + 1, [=] __host__ __device__(std::uint64_t c) {
      const auto tile = static_cast<std::uint32_t>(c / bins);
      first[c] =
          static_cast<std::uint32_t>(c == cells ? cut.count : cut.first_not_below(tile, bin[c % bins].row));
    });
  }

  /// Rows with messages, by bin, most messages first. row_positions_ has where each comes.
  struct RankedRows {
    Vector<std::uint32_t> begins;  ///< messages before each
    Vector<std::uint16_t> counts;
    Vector<std::uint32_t> firsts;  ///< of each bin, and the end
  };
  /// On a device beside the sort of messages, until end_ranking(): both wait more than they work.
  void begin_ranking() {
    const std::uint32_t* before = before_row_.data();
    const BinEdge* bin = bins_.data();
    const std::uint64_t count = linked_rows_.size(), bins = num_bins();
    ranked_ = {Vector<std::uint32_t>(count), Vector<std::uint16_t>(count), Vector<std::uint32_t>(bins + 1)};
    result_.num_products = count;
    const VertexId* row = linked_rows_.data();
    std::uint32_t* first = ranked_.firsts.data();
    Memory::each(bins + 1, [=] __host__ __device__(std::uint64_t b) {
      first[b] = static_cast<std::uint32_t>(b == bins ? count : first_not_below(row, count, bin[b].row));
    });
    VertexId* position = row_positions_.data();
    std::uint32_t* begin = ranked_.begins.data();
    std::uint16_t* num_messages = ranked_.counts.data();
    ranking_scratch_ = sort_groups<Memory>(
        bins, count, first, static_cast<std::uint32_t>(found_.most_messages),
        [=] __host__ __device__(std::uint32_t i) { return before[row[i] + 1] - before[row[i]]; },
        [=] __host__ __device__(std::uint32_t i) -> PlacedRow {
          return {row[i], before[row[i]]};
        },
        [=] __host__ __device__(std::uint32_t place, const PlacedRow& of, std::uint32_t messages) {
          position[of.row] = place;
          begin[place] = of.messages_before;
          num_messages[place] = static_cast<std::uint16_t>(messages);
        },
        &side_);
  }
  RankedRows end_ranking() {
    side_.join();
    ranking_scratch_ = {};
    linked_rows_ = {};
    return std::move(ranked_);
  }

  /// By cell and length, longest first.
  void sort_messages() {
    const std::uint64_t count = messages_.rows.size();
    const Vector<std::uint32_t> by_tile = order_by_tile();
    const CutOrder cut{count, by_tile.data(), messages_.rows.data(), messages_.shapes.data(),
                       messages_.pieces ? messages_.pieces->messages_before() : ItemsBefore{}};
    find_cells(cut);
    messages_.pieces.reset();  // the host frees, and then fills, while a device looks for cells
    row_positions_ = Memory::no_vertices(shape_.num_rows);
    begin_ranking();
    begins_ = ElementPositions<Memory>(count, messages_.num_elements);
    rows_ = Vector<VertexId>(count);
    lengths_ = Vector<std::uint16_t>(count);
    const PositionsStore begin = begins_.to_store();
    VertexId* row = rows_.data();
    std::uint16_t* length = lengths_.data();
    const PositionsLoad begin_of = messages_.firsts.to_load();
    const VertexId* row_of = messages_.rows.data();
    sort_groups<Memory>(
        num_cells(), count, cell_firsts_.data(), messages_.longest,
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

  /// Windows of both passes, while a device still sorts.
  void send_windows(const std::vector<BinEdge>& edges) {
    send_bin_windows(edges);
    std::vector<Window> windows;
    for (const Tile& tile : shape_.tiles)
      windows.push_back({.first_in = tile.first_slot, .size = static_cast<std::uint32_t>(tile.num_columns)});
    windows.push_back({});
    tile_pass_.windows = Memory::template from_host<Window>(windows);
  }
  void send_bin_windows(const std::vector<BinEdge>& edges) {
    std::vector<std::uint32_t> row_counts;
    std::vector<Window> windows;
    row_counts.reserve(edges.size());
    windows.reserve(edges.size());
    const auto num_rows = static_cast<std::uint32_t>(messages_.num_rows);  // no more have messages
    std::uint64_t next = 0;
    for (std::size_t b = 0; b + 1 < edges.size(); ++b) {
      const std::uint32_t size = edges[b + 1].messages_before - edges[b].messages_before;
      most_bin_messages_ = std::max(most_bin_messages_, size);
      row_counts.push_back(std::min<std::uint32_t>(edges[b + 1].row, num_rows) - edges[b].row);
      windows.push_back({.first_in = next, .size = size});
      next += aligned_bin_size(size);
    }
    if (next > kNoVertex) throw ResourceError("the matrix needs more than 2^32 messages; use more ranks");
    windows.push_back({});
    result_.num_messages = next;
    bin_pass_.windows = Memory::template from_host<Window>(windows);
    usual_bin_rows_ = most_usual(std::move(row_counts));
  }

  /// Where the first message of each cell lies: a bin's messages tile after tile.
  Vector<std::uint32_t> place_cells() {
    Vector<std::uint32_t> places(num_cells());
    ends_by_bin_ = Vector<std::uint32_t>(num_cells());
    list_cells<Memory>({.num_tiles = static_cast<std::uint32_t>(num_tiles()),
                        .num_bins = static_cast<std::uint32_t>(num_bins()),
                        .firsts = cell_firsts_.data(),
                        .edges = bins_.data(),
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
        {bins_, static_cast<std::uint32_t>(messages_.num_rows), before_row_, usual_bin_rows_,
         most_bin_messages_, listed_.data()},
        places_.data(), side_.stream());
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
  Vector<std::uint32_t> before_row_;  // messages before each row, and the end
  RowFindings found_;
  Vector<RowFindings> findings_;  // one, the same on the device, until the host has read it
  Vector<VertexId> linked_rows_;  // with messages, in order, until they are ranked
  RankedRows ranked_;             // until end_ranking(), as what follows
  GroupScratch<Memory> ranking_scratch_;
  std::uint32_t usual_bin_rows_ = 0, most_bin_messages_ = 0;
  Vector<BinEdge> bins_;             // where each begins, and the end
  ElementPositions<Memory> begins_;  // sorted messages: where their elements begin
  Vector<VertexId> rows_;            // ... whose they are
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
  return MessagesBuild<Memory, S>(input.shape, cut_host_rows<Memory, S>(input), side).run();
}

}  // namespace tessera::cuda
