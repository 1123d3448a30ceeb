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
#include "kernels/cuda/cell_search.cuh"
#include "kernels/cuda/group_sort.cuh"
#include "kernels/cuda/message_order.cuh"
#include "kernels/cuda/message_places.cuh"
#include "kernels/cuda/messages_of_rows.cuh"
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
    sort_messages(edges);
    send_bin_windows(edges);
    place_cells();
    const RankedRows rows = end_ranking();
    begin_places();
    SliceCutter<Memory> cutter = cutter_of(rows);
    fill_passes(rows, cutter);
    finish();
    return std::move(result_);
  }

  std::uint64_t num_bins() const { return bins_.size() - 1; }
  std::uint64_t num_tiles() const { return shape_.tiles.size(); }
  /// Cell: the messages of a tile for a bin, neighbours in what the tile sends and the bin receives.
  std::uint64_t num_cells() const { return num_tiles() * num_bins(); }

  /// On the host: bins are few. While it reads and cuts, a device does what needs no bins.
  std::vector<BinEdge> make_bins() {
    MessagesOfRows<Memory> sums(
        {std::move(messages_.row_counts), messages_.num_rows, messages_.num_elements, messages_.most_of_row},
        shape_.bins.most_messages, side_);
    BinEdges<Memory> bins(sums.before, sums.findings.data(), messages_.rows.size(), shape_.bins, side_, [&] {
      messages_.write();
      sums.list();
      make_room_for_ranks();
      if (has_few_elements()) make_room_for_sorted();
      row_positions_ = Memory::no_vertices(shape_.num_rows);
      send_tile_windows();
    });
    found_ = bins.found();
    check_message_count(found_.num_messages);
    std::vector<BinEdge> edges = bins.cut();
    bins_ = Vector<BinEdge>(edges.size());
    bin_pass_.windows = Vector<Window>(edges.size());
    settle_room_for_sorted();
    messages_.settle(found_.num_messages);
    before_row_ = std::move(sums.before);
    linked_rows_ = std::move(sums.linked);
    linked_rows_.truncate(found_.num_rows);
    ranked_.begins.truncate(found_.num_rows);
    ranked_.counts.truncate(found_.num_rows);
    return edges;
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

  /// Where the messages of each cell begin, and the rows with messages of each bin.
  void look_for_cells(const CutOrder& cut, const std::vector<BinEdge>& edges) {
    cell_firsts_ = Vector<std::uint32_t>(num_cells() + 1);
    ranked_.firsts = Vector<std::uint32_t>(num_bins() + 1);
    find_cells<Memory>({.cut = cut,
                        .num_tiles = static_cast<std::uint32_t>(num_tiles()),
                        .num_bins = static_cast<std::uint32_t>(num_bins()),
                        .bins = bins_.data(),
                        .linked = linked_rows_.data(),
                        .num_linked = linked_rows_.size(),
                        .firsts = cell_firsts_.data(),
                        .first_rows = ranked_.firsts.data()},
                       edges);
  }

  /// Rows with messages, by bin, most messages first. row_positions_ has where each comes.
  struct RankedRows {
    Vector<std::uint32_t> begins;  ///< messages before each
    Vector<std::uint16_t> counts;
    Vector<std::uint32_t> firsts;  ///< of each bin, and the end
  };
  /// Of as many rows as there may be.
  void make_room_for_ranks() {
    ranked_.begins = Vector<std::uint32_t>(messages_.num_rows);
    ranked_.counts = Vector<std::uint16_t>(messages_.num_rows);
    ranking_scratch_ = GroupScratch<Memory>(messages_.num_rows, shape_.bins.most_messages);
  }
  /// On a device beside the sort of messages, until end_ranking(): both wait more than they work.
  void begin_ranking() {
    const std::uint32_t* before = before_row_.data();
    const std::uint64_t count = linked_rows_.size();
    result_.num_products = count;
    const VertexId* row = linked_rows_.data();
    VertexId* position = row_positions_.data();
    std::uint32_t* begin = ranked_.begins.data();
    std::uint16_t* num_messages = ranked_.counts.data();
    sort_groups<Memory>(
        num_bins(), count, ranked_.firsts.data(),
        [=] __host__ __device__(std::uint32_t i) { return before[row[i] + 1] - before[row[i]]; },
        [=] __host__ __device__(std::uint32_t i) -> PlacedRow {
          return {row[i], before[row[i]]};
        },
        [=] __host__ __device__(std::uint32_t place, const PlacedRow& of, std::uint32_t messages) {
          position[of.row] = place;
          begin[place] = of.messages_before;
          num_messages[place] = static_cast<std::uint16_t>(messages);
        },
        ranking_scratch_, side_.stream());
  }
  RankedRows end_ranking() {
    side_.join();
    ranking_scratch_ = {};
    linked_rows_ = {};
    return std::move(ranked_);
  }

  /// Of few the host asks for memory, and gives it back, while a device has work; of more they would take
  /// more memory at once.
  bool has_few_elements() const { return messages_.num_elements <= std::uint64_t{1} << 26; }
  /// For as many messages as there may be.
  void make_room_for_sorted() {
    const std::uint64_t count = messages_.rows.size();
    begins_ = ElementPositions<Memory>(count, messages_.num_elements);
    rows_ = Vector<VertexId>(count);
    lengths_ = Vector<std::uint16_t>(count);
    sorting_scratch_ = GroupScratch<Memory>(count, messages_.longest);
  }
  /// When it is known how many there are.
  void settle_room_for_sorted() {
    const std::uint64_t count = found_.num_messages;
    if (rows_.size() < count) {
      begins_ = {};
      rows_ = {};
      lengths_ = {};
      sorting_scratch_ = {};
      return;
    }
    begins_.truncate(count);
    rows_.truncate(count);
    lengths_.truncate(count);
  }

  /// By cell and length, longest first.
  void sort_messages(const std::vector<BinEdge>& edges) {
    const std::uint64_t count = messages_.rows.size();
    const Vector<std::uint32_t> by_tile = order_by_tile();
    const CutOrder cut{count, by_tile.data(), messages_.rows.data(), messages_.shapes.data(),
                       messages_.pieces ? messages_.pieces->messages_before() : ItemsBefore{}};
    look_for_cells(cut, edges);
    if (!has_few_elements()) messages_.pieces.reset();  // the host frees while a device looks for cells
    if (rows_.empty()) make_room_for_sorted();
    ends_by_bin_ = Vector<std::uint32_t>(num_cells());
    cell_places_ = Vector<std::uint32_t>(num_cells());
    side_.fork();
    const PositionsStore begin = begins_.to_store();
    VertexId* row = rows_.data();
    std::uint16_t* length = lengths_.data();
    const PositionsLoad begin_of = messages_.firsts.to_load();
    const VertexId* row_of = messages_.rows.data();
    sort_groups<Memory>(
        num_cells(), count, cell_firsts_.data(),
        [=] __host__ __device__(std::uint32_t i) { return cut.length(i); },
        [=] __host__ __device__(std::uint32_t i) -> PlacedMessage {
          const std::uint32_t message = cut.message(i);
          return {begin_of.load(message), row_of[message]};
        },
        [=] __host__ __device__(std::uint32_t place, const PlacedMessage& message, std::uint32_t elements) {
          begin.store(place, message.begin);
          row[place] = message.row;
          length[place] = static_cast<std::uint16_t>(elements);
        },
        sorting_scratch_);
    begin_ranking();
    messages_.pieces.reset();
    sorting_scratch_ = {};
    messages_.shapes = {};
    messages_.firsts = {};
    messages_.rows = {};
  }

  void send_tile_windows() {
    std::vector<Window> windows;
    for (const Tile& tile : shape_.tiles)
      windows.push_back({.first_in = tile.first_slot, .size = static_cast<std::uint32_t>(tile.num_columns)});
    windows.push_back({});
    tile_pass_.windows = Memory::template from_host<Window>(windows);
  }
  /// Behind the ranking, while a device still sorts.
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
    Memory::upload(windows.data(), bin_pass_.windows.data(), windows.size() * sizeof(Window), side_.stream());
    usual_bin_rows_ = most_usual(std::move(row_counts));
  }

  /// Where the first message of each cell lies: a bin's messages tile after tile. Behind the ranking, too.
  void place_cells() {
    list_cells<Memory>({.num_tiles = static_cast<std::uint32_t>(num_tiles()),
                        .num_bins = static_cast<std::uint32_t>(num_bins()),
                        .firsts = cell_firsts_.data(),
                        .edges = bins_.data(),
                        .bins = bin_pass_.windows.data(),
                        .ends_by_bin = ends_by_bin_.data(),
                        .places = cell_places_.data()},
                       side_.stream());
  }

  struct PassVectors {
    Vector<Window> windows;
    Vector<Slice> slices;
    Vector<std::uint32_t> words;
    Vector<S> values;
  };

  /// On a device beside what follows, until fill_passes() has ended: it waits more than it works.
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

  using TileSource = WordSource<S, MessageRows, PaddingOfWindows>;
  using BinSource = WordSource<S, RankedRowsView, PaddingOfWindows>;
  TileSource tile_source(const CutSlices<Memory>& cut) const {
    return {cut.slices.data(),
            cut.first_rows.data(),
            messages_.offsets.data(),
            messages_.values.empty() ? nullptr : messages_.values.data(),
            {begins_.to_load(), lengths_.data()},
            {tile_pass_.windows.data(), cut.groups.data(), static_cast<std::uint32_t>(num_bins())}};
  }
  BinSource bin_source(const RankedRows& rows, const CutSlices<Memory>& cut) const {
    return {cut.slices.data(),
            cut.first_rows.data(),
            places_.data(),
            nullptr,
            {rows.begins.data(), rows.counts.data()},
            {bin_pass_.windows.data(), cut.groups.data(), 1}};
  }

  /// Of both passes.
  SliceCutter<Memory> cutter_of(const RankedRows& rows) {
    return SliceCutter<Memory>({.num_groups = num_cells(),
                                .groups_of_window = num_bins(),
                                .num_rows = lengths_.size(),
                                .num_elements = messages_.num_elements,
                                .first = cell_firsts_.data(),
                                .lengths = lengths_.data(),
                                .out = cell_places_.data(),
                                .windows = tile_pass_.windows.data()},
                               {.num_groups = num_bins(),
                                .groups_of_window = 1,
                                .num_rows = rows.counts.size(),
                                .num_elements = lengths_.size(),
                                .first = rows.firsts.data(),
                                .lengths = rows.counts.data(),
                                .out = rows.firsts.data(),
                                .windows = bin_pass_.windows.data()},
                               side_);
  }

  /// Gives room for the pass's parts.
  static Vector<NumberedPart> make_room(const CutSlices<Memory>& cut, PassVectors& pass) {
    pass.words = Vector<std::uint32_t>(cut.sizes.words);
    pass.slices = Vector<Slice>(cut.slices.size());
    return Vector<NumberedPart>(cut.sizes.parts.all());
  }

  /// Words of both passes. On a device those of bins are filled beside, behind the places that they are of.
  void fill_passes(const RankedRows& rows, SliceCutter<Memory>& cutter) {
    const std::array<CutSlices<Memory>, 2> cut = cutter.cut();
    Vector<NumberedPart> tile_parts = make_room(cut[0], tile_pass_), bin_parts = make_room(cut[1], bin_pass_);
    if (!messages_.values.empty()) tile_pass_.values = Vector<S>(2 * cut[0].sizes.words);
    S *const values = messages_.values.empty() ? nullptr : tile_pass_.values.data(), *const none = nullptr;
    const TileSource tiles = tile_source(cut[0]);
    const BinSource bins = bin_source(rows, cut[1]);
    const typename SideStream<Memory>::Settled settled{side_};
    side_.follow();
    list_parts(cut[0], tiles, tile_pass_.words.data(), tile_pass_.slices.data(), tile_parts);
    list_parts(cut[1], bins, bin_pass_.words.data(), bin_pass_.slices.data(), bin_parts, side_.stream());
    fill_parts<Memory>(bin_parts, bins, bin_pass_.words.data(), none, side_.stream());
    cutter.begin_windows(side_.stream());  // which words need not wait for
    if (values != nullptr) fill_values<Memory>(cut[0], tiles, values);
    fill_parts<Memory>(tile_parts, tiles, tile_pass_.words.data(), values);
    side_.join();
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
  Vector<VertexId> linked_rows_;  // with messages, in order, until they are ranked
  RankedRows ranked_;             // until end_ranking(), as what follows
  GroupScratch<Memory> sorting_scratch_, ranking_scratch_;
  std::uint32_t usual_bin_rows_ = 0, most_bin_messages_ = 0;
  Vector<BinEdge> bins_;             // where each begins, and the end; from look_for_cells() on
  ElementPositions<Memory> begins_;  // sorted messages: where their elements begin
  Vector<VertexId> rows_;            // ... whose they are
  Vector<std::uint16_t> lengths_;
  Vector<std::uint32_t> cell_firsts_;  // first sorted message of each cell, and the end
  Vector<std::uint32_t> ends_by_bin_;  // messages of all cells up to each, by bin, then tile
  Vector<std::uint32_t> cell_places_;  // where the first message of each cell lies
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
