// First half of the build: the elements of all rows grouped by tile and cut into messages. Rows may come in
// chunks, so that the edges are never all there in full width: what stays of an edge is its 16-bit offset
// (and value).
#pragma once
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/base/error.hpp"
#include "kernels/cuda/build_runs.cuh"
#include "kernels/cuda/row_pieces.cuh"
#include "kernels/cuda/tile_dealer.cuh"
#include "kernels/cuda/tile_elements.cuh"
#include "kernels/messages_build_input.hpp"

namespace tessera::cuda {

inline constexpr std::size_t kMostTiles = (1u << kTileShift) - 1;

inline void check_message_count(std::uint64_t num_messages) {
  if (num_messages >= kNoVertex)
    throw ResourceError("the matrix needs more than 2^32 messages; use more ranks");
}

/// Messages, chunk after chunk of rows, by tile and row in each.
template <class Memory, class S>
struct CutMessages {
  template <class T>
  using Vector = BuildVector<Memory, T>;
  std::uint64_t num_elements = 0;
  std::uint64_t num_rows = 0;  ///< those behind have no messages
  std::size_t num_chunks = 1;
  std::uint32_t longest = 1;      ///< elements that a message may have
  std::uint64_t most_of_row = 0;  ///< messages that a row may have: pieces, and what long ones become more
  Vector<std::uint16_t> offsets;  ///< of all elements, message after message
  Vector<S> values;
  Vector<VertexId> rows;
  Vector<std::uint32_t> shapes;      ///< see MessageShape
  ElementPositions<Memory> firsts;   ///< into offsets
  Vector<std::uint32_t> row_counts;  ///< messages of all rows, behind a 0

  /// Of rows that were dealt: what write() makes rows, shapes and firsts of. Until settle() these have as
  /// much room as such rows usually need, so that a device may write while the host waits for what it reads.
  /// Kept afterwards, as it says where messages of tiles begin.
  std::optional<RowPieces<Memory>> pieces{};
  /// Messages of pieces, as many as there is room for.
  void write() {
    if (pieces) pieces->write_messages(0, rows.size(), rows.data(), shapes.data(), firsts.to_store());
  }
  /// After write(), when it is known how many there are: all of them are there from then on.
  void settle(std::uint64_t num_messages) {
    if (rows.size() < num_messages) {
      rows = {};
      shapes = {};
      firsts = {};
      make_room(num_messages, num_elements);
      write();
    }
    rows.truncate(num_messages);
    shapes.truncate(num_messages);
    firsts.truncate(num_messages);
  }
  void make_room(std::uint64_t num_messages, std::uint64_t of_elements) {
    rows = Vector<VertexId>(num_messages);
    shapes = Vector<std::uint32_t>(num_messages);
    firsts = ElementPositions<Memory>(num_messages, of_elements);
  }
};

/// What elements become, as far as it is known from the first how large that is.
template <class Memory>
struct ElementRoom {
  BuildVector<Memory, std::uint16_t> offsets;  ///< offsets_with_room
  /// Of elements that are dealt: as many as there are, where their pieces go.
  BuildVector<Memory, std::uint32_t> piece_firsts{};
  BuildVector<Memory, VertexId> piece_rows{};

  explicit ElementRoom(std::uint64_t num_elements) : offsets(offsets_with_room<Memory>(num_elements)) {}
  /// For elements that are dealt, too.
  void add_pieces(std::uint64_t num_elements) {
    if (!piece_firsts.empty()) return;
    piece_firsts = BuildVector<Memory, std::uint32_t>(num_elements);
    piece_rows = BuildVector<Memory, VertexId>(num_elements);
  }
};

/// Some rows of the result in a Memory.
template <class Memory, class S>
struct RowChunk {
  std::uint64_t first_row = 0;
  BuildVector<Memory, std::uint64_t> starts;  ///< first element of each row, from 0, and the end
  const std::uint64_t* from = nullptr;        ///< where each row begins in cols
  const VertexId* cols = nullptr;
  const S* values = nullptr;
  /// Elements in all tiles before each, where that is known of a pattern; they then need no sort.
  BuildVector<Memory, std::uint32_t> tile_starts{};
  BuildVector<Memory, std::uint64_t> own_from{};  ///< where `from` lies, unless somebody else has that

  void free_from() {
    own_from = {};
    from = nullptr;
  }
};

template <class Memory, class S>
struct MessageCutter {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  /// slot_of_column: in Memory. longest_row: its elements. row_counts: as many as rows, and one more, all 0.
  /// room: for so many elements.
  MessageCutter(const MessagesShape& shape, const VertexId* slot_of_column, std::uint64_t num_elements,
                std::uint64_t longest_row, bool weighted, Vector<std::uint32_t>&& row_counts,
                ElementRoom<Memory>&& room)
      : shape_(shape), slot_of_column_(slot_of_column), most_elements_(num_elements), room_(std::move(room)) {
    require(shape.tiles.size() <= kMostTiles, "tiles have 16-bit numbers");
    out_.offsets = std::move(room_.offsets);
    if (weighted) out_.values = Vector<S>(num_elements);
    out_.row_counts = std::move(row_counts);
    out_.longest = longest_row <= kMessageElements
                       ? static_cast<std::uint32_t>(std::max<std::uint64_t>(longest_row, 1))
                       : elements_of_message(longest_row);
    out_.most_of_row = shape.tiles.size() + longest_row / kMessageElements;
    splits_ = longest_row > kMessageElements;
  }

  /// Has copied from chunk.cols and chunk.values when it returns. A chunk with tile_starts has all rows.
  void add(RowChunk<Memory, S>&& chunk, std::uint64_t num_elements) {
    if (num_elements == 0) return;
    if (num_elements >= kNoVertex) throw ResourceError("more than 2^32 edges at once; use more ranks");
    require(!out_.pieces, "a chunk that is dealt has all rows");
    out_.num_rows = std::max(out_.num_rows, chunk.first_row + chunk.starts.size() - 1);
    if (!chunk.tile_starts.empty())
      add_dealt_elements(chunk, num_elements);
    else if (chunk.values == nullptr)
      add_elements<VertexId>(chunk, num_elements);
    else
      add_elements<RowValue<S>>(chunk, num_elements);
    out_.num_elements += num_elements;
  }

  CutMessages<Memory, S> finish() {
    std::uint64_t num_messages = 0;  // as far as the host knows
    for (const Vector<VertexId>& of_chunk : rows_) num_messages += of_chunk.size();
    check_message_count(num_messages);
    if (out_.pieces) return std::move(out_);
    std::uint16_t* const offsets = out_.offsets.data();
    const std::uint64_t num_offsets = out_.offsets.size();
    Memory::each(1, [=] __host__ __device__(std::uint64_t) { clear_behind(offsets, num_offsets); });
    out_.num_chunks = rows_.size();
    out_.rows = Memory::joined(rows_);
    out_.shapes = Memory::joined(shapes_);
    out_.firsts = ElementPositions<Memory>::joined(firsts_);
    return std::move(out_);
  }

  // Parents of device lambdas must be public.
  template <class P>
  void add_elements(RowChunk<Memory, S>& chunk, std::uint64_t count) {
    Vector<std::uint32_t> keys(count);  // tile, offset
    Vector<P> elements(count);
    make_keys(chunk, count, keys, elements);
    chunk.free_from();
    const std::uint64_t num_tiles = shape_.tiles.size();
    Memory::sort(keys, elements, kTileShift, kTileShift + bits_for(num_tiles - 1));
    Vector<std::uint32_t> tile_starts(num_tiles);
    const std::uint32_t* key = keys.data();
    std::uint32_t* tile_start = tile_starts.data();
    Memory::each(num_tiles, [=] __host__ __device__(std::uint64_t t) {
      tile_start[t] = static_cast<std::uint32_t>(first_not_below(key, count, t << kTileShift));
    });
    find_pieces(chunk, std::move(tile_starts), count,
                SortedElement<P, S>{key, elements.data(), next_offset(), next_value()});
  }

  void add_dealt_elements(RowChunk<Memory, S>& chunk, std::uint64_t count) {
    require(out_.num_elements == 0, "a chunk that is dealt has all rows");
    const auto num_tiles = static_cast<std::uint32_t>(shape_.tiles.size());
    const std::uint64_t usual = count / (num_tiles <= kManyDealtTiles ? kElementsOfMessage : kFewElements);
    room_.add_pieces(count);
    RowPieces<Memory> pieces{.num_elements = count,
                             .most = count,
                             .usual = usual,
                             .firsts = std::move(room_.piece_firsts),
                             .rows = std::move(room_.piece_rows),
                             .tiles = Vector<Segment>(num_tiles),
                             .tile_starts = std::move(chunk.tile_starts),
                             .lie_as_elements = true,
                             .rows_have_pieces = true};
    deal_to_tiles<Memory>({.count = count,
                           .starts = chunk.starts.data(),
                           .from = chunk.from,
                           .cols = chunk.cols,
                           .slot_of_column = slot_of_column_,
                           .slot_keys = SlotKeys(static_cast<std::uint32_t>(shape_.tile_stride)),
                           .first_row = static_cast<VertexId>(chunk.first_row),
                           .num_tiles = num_tiles,
                           .tile_starts = pieces.tile_starts.data()},
                          chunk.starts.size() - 1,
                          {next_offset(), pieces.firsts.data(), pieces.rows.data(),
                           out_.row_counts.data() + 1 + chunk.first_row, pieces.tiles.data()});
    count_messages(chunk, pieces);
    chunk.free_from();
    // Memory is asked for while a device deals, as that may take the host long.
    out_.make_room(usual, most_elements_);
    out_.pieces = std::move(pieces);
  }

  std::uint16_t* next_offset() { return out_.offsets.data() + out_.num_elements; }
  S* next_value() { return out_.values.empty() ? nullptr : out_.values.data() + out_.num_elements; }

  /// Element: of `count` by tile and row. tile_starts: in tiles before each.
  template <class Element>
  void find_pieces(RowChunk<Memory, S>& chunk, Vector<std::uint32_t> tile_starts, std::uint64_t count,
                   Element element) {
    const auto runs = find_runs<Memory>(
        count, [=] __host__ __device__(std::uint64_t e) { return (e == 0) | element.begins_piece(e); });
    const std::uint64_t num_pieces = runs.size(), num_tiles = shape_.tiles.size();
    RowPieces<Memory> pieces{.num_elements = count,
                             .most = num_pieces,
                             .usual = num_pieces,
                             .firsts = Vector<std::uint32_t>(num_pieces),
                             .rows = Vector<VertexId>(num_pieces),
                             .tiles = Vector<Segment>(num_tiles),
                             .tile_starts = std::move(tile_starts)};
    std::uint32_t* first = pieces.firsts.data();
    Segment* tile = pieces.tiles.data();
    VertexId* row = pieces.rows.data();
    runs.each([=] __host__ __device__(std::uint64_t e, std::uint32_t piece, bool begins) {
      element.keep(e);
      if (!begins) return;
      first[piece] = static_cast<std::uint32_t>(e);
      row[piece] = element.row(e);
    });
    const std::uint32_t* tile_start = pieces.tile_starts.data();
    Memory::each(num_tiles, [=] __host__ __device__(std::uint64_t t) {
      const auto begin = [=](std::uint64_t of) {
        return static_cast<std::uint32_t>(
            of == num_tiles ? num_pieces : first_not_below(first, num_pieces, tile_start[of]));
      };
      tile[t] = {begin(t), begin(t + 1)};
    });
    count_messages(chunk, pieces);
    add_room(pieces.num_messages());
    pieces.write_messages(out_.num_elements, rows_.back().size(), rows_.back().data(), shapes_.back().data(),
                          firsts_.back().to_store());
  }

  template <class P>
  void make_keys(const RowChunk<Memory, S>& chunk, std::uint64_t count, Vector<std::uint32_t>& keys,
                 Vector<P>& elements) {
    const std::uint64_t *start = chunk.starts.data(), *from = chunk.from;
    const VertexId *column = chunk.cols, *slot_of = slot_of_column_;
    const S* value = chunk.values;
    const auto first_row = static_cast<VertexId>(chunk.first_row);
    const auto stride = static_cast<std::uint32_t>(shape_.tile_stride);
    std::uint32_t* key = keys.data();
    P* element = elements.data();
    Memory::each_in_rows(
        chunk.starts, count,
        [=] __host__ __device__(std::uint64_t row, std::uint64_t e) -> KeyedElement<P> {
          const std::uint64_t at = from[row] + (e - start[row]);
          KeyedElement<P> found{key_of_slot(slot_of[column[at]], stride), {}};
          set_element(found.payload, first_row + static_cast<VertexId>(row), value, at);
          return found;
        },
        [=] __host__ __device__(std::uint64_t e, const KeyedElement<P>& found) {
          key[e] = found.key;
          element[e] = found.payload;
        });
  }

  void add_room(std::uint64_t num_messages) {
    rows_.emplace_back(num_messages);
    shapes_.emplace_back(num_messages);
    firsts_.emplace_back(num_messages, most_elements_);
  }

  void count_messages(RowChunk<Memory, S>& chunk, RowPieces<Memory>& pieces) {
    pieces.first_row = static_cast<VertexId>(chunk.first_row);
    pieces.row_starts = std::move(chunk.starts);
    pieces.splits = splits_;
    pieces.count_messages(out_.row_counts.data());
  }

 private:
  /// Elements for which room for a message is asked before messages are counted, the second of more tiles
  /// than kManyDealtTiles: in power-law graphs a message has some more (R-MAT 25 4.3, 26 3.7). What is too
  /// much stays allocated as long as messages do, 3.25 or 4.33 bytes an element at most.
  static constexpr std::uint64_t kElementsOfMessage = 4, kFewElements = 3;

  const MessagesShape& shape_;
  const VertexId* slot_of_column_;
  std::uint64_t most_elements_;
  ElementRoom<Memory> room_;
  bool splits_ = false;  // some row may have more elements than a message takes
  // Of the messages of each chunk; joined at the end, one after the other, so that little lies there twice.
  std::vector<Vector<VertexId>> rows_;
  std::vector<Vector<std::uint32_t>> shapes_;
  std::vector<ElementPositions<Memory>> firsts_;
  CutMessages<Memory, S> out_;
};

/// Rows of a matrix in host memory, sent chunk after chunk.
template <class Memory, class S>
struct HostRowCutter {
  explicit HostRowCutter(const MessagesBuildInput& input)
      : in_(input), starts_(input.rows.size() + 1), firsts_(input.rows.size()) {
    find_starts();
    // About 22 bytes an element of a chunk, where the result has more than 2 for each of all elements; and
    // page-locked memory costs time.
    constexpr std::uint64_t kChunks = 16, kLeast = std::uint64_t{1} << 20, kMost = std::uint64_t{1} << 22;
    chunk_elements_ =
        in_.chunk_elements > 0 ? in_.chunk_elements : std::clamp(num_elements() / kChunks, kLeast, kMost);
  }

  CutMessages<Memory, S> run() {
    const auto slots = Memory::template from_host<VertexId>(
        {in_.slot_of_column, static_cast<std::size_t>(in_.csr.num_cols)});
    const bool weighted = in_.csr.values != nullptr;
    MessageCutter<Memory, S> cutter(in_.shape, slots.data(), num_elements(), longest_row_, weighted,
                                    Memory::template zeros<std::uint32_t>(in_.shape.num_rows + 1),
                                    ElementRoom<Memory>(num_elements()));
    for (std::uint64_t first = 0; first < in_.rows.size();) {
      const std::uint64_t* const past =
          std::upper_bound(starts_.begin() + first, starts_.end(), starts_[first] + chunk_elements_);
      // One row at least, however long.
      const std::uint64_t end = std::max<std::uint64_t>(first + 1, past - starts_.begin() - 1);
      send(first, end, cutter);
      first = end;
    }
    return cutter.finish();
  }

 private:
  static constexpr std::uint64_t kRowsAhead = 16;  // short rows lie anywhere: each waits for memory

  std::uint64_t num_elements() const { return starts_[in_.rows.size()]; }

  /// The only look at the offsets of all rows, which lie anywhere.
  void find_starts() {
    const auto num_rows = static_cast<std::int64_t>(in_.rows.size());
    std::uint64_t longest = 0;
#pragma omp parallel for schedule(static) reduction(max : longest)
    for (std::int64_t i = 0; i < num_rows; ++i) {
      const EdgeOffset* const offset = in_.csr.row_offsets + in_.rows[static_cast<std::size_t>(i)];
      firsts_[i] = offset[0];
      starts_[i + 1] = offset[1] - offset[0];
      longest = std::max<std::uint64_t>(longest, starts_[i + 1]);
    }
    longest_row_ = longest;
    starts_[0] = 0;
    for (std::int64_t i = 0; i < num_rows; ++i) starts_[i + 1] += starts_[i];
  }

  void send(std::uint64_t first, std::uint64_t end, MessageCutter<Memory, S>& cutter) {
    const std::uint64_t num_elements = starts_[end] - starts_[first];
    const bool weighted = in_.csr.values != nullptr;
    if (staged_cols_.size() < num_elements) {
      const std::uint64_t size = std::max(num_elements, std::min(chunk_elements_, this->num_elements()));
      staged_cols_ = typename Memory::template Staging<VertexId>(size);
      if (weighted) staged_values_ = typename Memory::template Staging<S>(size);
    }
    Buffer<std::uint64_t> starts(end - first + 1);
    starts[end - first] = num_elements;
    VertexId* to_cols = staged_cols_.data();
    S* to_values = staged_values_.data();
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::uint64_t i = first; i < end; ++i) {
      if (i + kRowsAhead < end) __builtin_prefetch(in_.csr.col_indices + firsts_[i + kRowsAhead]);
      const std::uint64_t to = starts[i - first] = starts_[i] - starts_[first];
      for (std::uint64_t k = 0; k < starts_[i + 1] - starts_[i]; ++k) {
        to_cols[to + k] = in_.csr.col_indices[firsts_[i] + k];
        if (weighted) to_values[to + k] = static_cast<S>(in_.csr.values[firsts_[i] + k]);
      }
    }
    BuildVector<Memory, VertexId> cols(num_elements);
    BuildVector<Memory, S> values(weighted ? num_elements : 0);
    Memory::upload(to_cols, cols.data(), num_elements * sizeof(VertexId));
    Memory::upload(to_values, values.data(), values.size() * sizeof(S));
    RowChunk<Memory, S> chunk{first, Memory::template from_host<std::uint64_t>(std::as_const(starts).span()),
                              nullptr, cols.data(), weighted ? values.data() : nullptr};
    chunk.from = chunk.starts.data();
    cutter.add(std::move(chunk), num_elements);
  }

  const MessagesBuildInput& in_;
  Buffer<std::uint64_t> starts_;  // elements of the result's rows before each, and of all
  Buffer<EdgeOffset> firsts_;     // where the rows begin in csr
  std::uint64_t longest_row_ = 0, chunk_elements_ = 0;
  typename Memory::template Staging<VertexId> staged_cols_;
  typename Memory::template Staging<S> staged_values_;
};

}  // namespace tessera::cuda
