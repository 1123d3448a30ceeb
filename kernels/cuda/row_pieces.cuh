// Pieces, what a row has in a tile, and the messages that they become: a piece one, a long one several.
#pragma once
#include "kernels/base/types.hpp"
#include "kernels/cuda/element_positions.cuh"
#include "kernels/cuda/expansion.cuh"
#include "kernels/cuda/tile_elements.cuh"
#include "kernels/messages_build_input.hpp"

namespace tessera::cuda {

/// Tile and elements of a message, 1 to 65,536 of them.
struct MessageShape {
  __host__ __device__ static std::uint32_t of(std::uint32_t tile, std::uint32_t length) {
    return tile << kTileShift | (length - 1);
  }
  __host__ __device__ static std::uint32_t tile(std::uint32_t shape) { return shape >> kTileShift; }
  __host__ __device__ static std::uint32_t length(std::uint32_t shape) {
    return (shape & ((1u << kTileShift) - 1)) + 1;
  }
};

/// What a row has in a tile.
struct RowPiece {
  std::uint32_t tile;
  VertexId row;
  std::uint32_t first, length;  ///< elements
};

/// Pieces by tile and row, those of tile t from tile_places[t] on in firsts and rows.
struct RowPiecesView {
  static constexpr std::uint64_t kChunk = 1024;

  std::uint64_t num_elements;
  std::uint32_t num_tiles;
  const std::uint32_t* firsts;  ///< element that each begins with
  const VertexId* rows;
  const std::uint32_t *tile_firsts, *tile_places, *tile_starts;  ///< tile_firsts: pieces in tiles before each
                                                                 ///< and in all; tile_starts: elements
  const std::uint32_t* tiles_of_chunks;                          ///< tile of every kChunk-th piece

  __host__ __device__ std::uint32_t num_pieces(std::uint32_t tile) const {
    return tile_firsts[tile + 1] - tile_firsts[tile];
  }
  /// Piece i of a tile.
  __host__ __device__ RowPiece piece_of(std::uint32_t tile, std::uint32_t i) const {
    const std::uint64_t at = std::uint64_t{tile_places[tile]} + i;
    const std::uint32_t first = firsts[at];
    const std::uint64_t end = i + 1 < num_pieces(tile) ? firsts[at + 1]
                              : tile + 1 < num_tiles   ? tile_starts[tile + 1]
                                                       : num_elements;
    return {tile, rows[at], first, static_cast<std::uint32_t>(end - first)};
  }
  /// Piece p of all.
  __host__ __device__ RowPiece piece(std::uint64_t p) const {
    std::uint32_t tile = tiles_of_chunks[p / kChunk];
    while (tile_firsts[tile + 1] <= p) ++tile;
    return piece_of(tile, static_cast<std::uint32_t>(p - tile_firsts[tile]));
  }
};

/// How many messages a piece becomes, and the most elements of each.
struct PieceMessages {
  bool splits;  ///< some piece may become several
  VertexId first_row;
  const std::uint64_t* row_starts;  ///< elements before each row, first_row first, and in all

  __host__ __device__ std::uint32_t most_elements(const RowPiece& piece) const {
    if (piece.length <= kMessageElements) return piece.length;
    const std::uint64_t row = piece.row - first_row;
    return elements_of_message(row_starts[row + 1] - row_starts[row]);
  }
  __host__ __device__ std::uint32_t operator()(const RowPiece& piece) const {
    if (!splits) return 1;
    const std::uint32_t most = most_elements(piece);
    return piece.length <= most ? 1 : (piece.length + most - 1) / most;
  }
};

struct LoadPiece {
  RowPiecesView pieces;
  __host__ __device__ RowPiece operator()(std::uint64_t p) const { return pieces.piece(p); }
};

/// All pieces of some rows.
template <class Memory>
struct RowPieces {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  std::uint64_t num_elements = 0, count = 0;  ///< count: of pieces
  Vector<std::uint32_t> firsts{};             ///< this and what follows: as RowPiecesView has them
  Vector<VertexId> rows{};
  Vector<std::uint32_t> tile_firsts{}, tile_starts{};
  bool lie_as_elements = false;  ///< those of a tile from where its elements are; else one behind the other
  bool splits = false;           ///< this and what follows: as PieceMessages has them
  VertexId first_row = 0;
  Vector<std::uint64_t> row_starts{};
  Vector<std::uint32_t> tiles_of_chunks{}, ends{};  ///< ends: of item_ends(), for messages

  RowPiecesView view() const {
    return {.num_elements = num_elements,
            .num_tiles = static_cast<std::uint32_t>(tile_starts.size()),
            .firsts = firsts.data(),
            .rows = rows.data(),
            .tile_firsts = tile_firsts.data(),
            .tile_places = lie_as_elements ? tile_starts.data() : tile_firsts.data(),
            .tile_starts = tile_starts.data(),
            .tiles_of_chunks = tiles_of_chunks.data()};
  }
  PieceMessages messages_of() const { return {splits, first_row, row_starts.data()}; }

  /// Of at least one piece. Adds to row_counts[i + 1] the messages of row i.
  void count_messages(std::uint32_t* row_counts) {
    list_tiles();
    ends = item_ends<Memory>(count, LoadPiece{view()}, messages_of(),
                             [=] __host__ __device__(const RowPiece& piece, std::uint32_t messages) {
                               add_to(row_counts + piece.row + 1, messages);
                             });
  }
  /// After that.
  std::uint64_t num_messages() const { return splits ? Memory::read(ends.data() + ends.size() - 1) : count; }

  /// After count_messages(). row, shape, first: of all messages, first less num_before.
  void write_messages(std::uint64_t num_before, VertexId* row, std::uint32_t* shape,
                      PositionsStore first) const {
    const PieceMessages of = messages_of();
    each_expanded<Memory>(count, LoadPiece{view()}, of, ends,
                          [=] __host__ __device__(const RowPiece& piece, std::uint64_t m) {
                            const std::uint32_t length = piece.length, most = of.most_elements(piece);
                            for (std::uint32_t k = 0; k < length; k += most, ++m) {
                              row[m] = piece.row;
                              shape[m] = MessageShape::of(piece.tile, length - k < most ? length - k : most);
                              first.store(m, num_before + piece.first + k);
                            }
                          });
  }

  // Parents of device lambdas must be public.
  void list_tiles() {
    tiles_of_chunks = Vector<std::uint32_t>(count / RowPiecesView::kChunk + 1);
    std::uint32_t* tile = tiles_of_chunks.data();
    const std::uint32_t* tile_first = tile_firsts.data();
    const std::uint64_t num_tiles = tile_starts.size();
    Memory::each(tiles_of_chunks.size(), [=] __host__ __device__(std::uint64_t c) {
      tile[c] = static_cast<std::uint32_t>(last_not_above(tile_first, num_tiles, c * RowPiecesView::kChunk));
    });
  }
};

}  // namespace tessera::cuda
