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

/// What a row has in a tile. Which row that is lies at `at` in the list of all: few who look at pieces ask.
struct RowPiece {
  std::uint32_t at, tile, first, length;  ///< first, length: elements
};

/// Pieces by tile and row, those of a tile one behind the other in firsts and rows.
struct RowPiecesView {
  std::uint64_t num_elements;
  std::uint32_t num_tiles;
  const std::uint32_t* firsts;  ///< element that each begins with
  const VertexId* rows;
  const Segment* tiles;              ///< where the pieces of each tile lie
  const std::uint32_t* tile_starts;  ///< elements in all tiles before each

  __host__ __device__ RowPiece piece(std::uint32_t tile, std::uint64_t at) const {
    const std::uint32_t first = firsts[at];
    const std::uint64_t end = at + 1 < tiles[tile].end ? firsts[at + 1]
                              : tile + 1 < num_tiles   ? tile_starts[tile + 1]
                                                       : num_elements;
    return {static_cast<std::uint32_t>(at), tile, first, static_cast<std::uint32_t>(end - first)};
  }
};

/// How many messages a piece becomes, and the most elements of each.
struct PieceMessages {
  bool splits;  ///< some piece may become several
  const VertexId* rows;
  VertexId first_row;
  const std::uint64_t* row_starts;  ///< elements before each row, first_row first, and in all

  __host__ __device__ std::uint32_t most_elements(const RowPiece& piece) const {
    if (piece.length <= kMessageElements) return piece.length;
    const std::uint64_t row = rows[piece.at] - first_row;
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
  __host__ __device__ RowPiece operator()(std::uint32_t tile, std::uint64_t at) const {
    return pieces.piece(tile, at);
  }
};

struct PieceOfRow : RowPiece {
  VertexId row;
};
struct LoadPieceOfRow {
  RowPiecesView pieces;
  __host__ __device__ PieceOfRow operator()(std::uint32_t tile, std::uint64_t at) const {
    return {pieces.piece(tile, at), pieces.rows[at]};
  }
};

/// All pieces of some rows.
template <class Memory>
struct RowPieces {
  template <class T>
  using Vector = BuildVector<Memory, T>;

  std::uint64_t num_elements = 0;
  std::uint64_t most = 0, usual = 0;  ///< pieces, and more if they lie as elements; as many as are likely
  Vector<std::uint32_t> firsts{};     ///< this and `rows`: as RowPiecesView has them
  Vector<VertexId> rows{};
  Vector<Segment> tiles{};              ///< where the pieces of each tile lie
  Vector<std::uint32_t> tile_starts{};  ///< elements in tiles before each
  bool lie_as_elements = false;   ///< those of a tile from where its elements are; else one behind the other
  bool rows_have_pieces = false;  ///< row_counts of count_messages() have a message a piece already
  bool splits = false;            ///< this and what follows: as PieceMessages has them
  VertexId first_row = 0;
  Vector<std::uint64_t> row_starts{};
  Expansion<Memory> messages{};  ///< of count_messages()

  /// Of at least one piece. Adds to row_counts[i + 1] the messages of row i.
  void count_messages(std::uint32_t* row_counts) {
    const std::uint32_t counted = rows_have_pieces ? 1 : 0;
    const VertexId* row = rows.data();
    messages.count(tiles, most, usual, LoadPiece{view()}, messages_of(),
                   [=] __host__ __device__(const RowPiece& piece, std::uint32_t items) {
                     if (items > counted) add_to(row_counts + row[piece.at] + 1, items - counted);
                   });
  }
  /// After that.
  std::uint64_t num_messages() { return splits || lie_as_elements ? messages.num_items() : most; }

  /// After count_messages(): of each tile.
  ItemsBefore messages_before() { return messages.items_before(); }
  /// After count_messages(). row, shape, first: of the first `room` messages, first less num_before.
  void write_messages(std::uint64_t num_before, std::uint64_t room, VertexId* row, std::uint32_t* shape,
                      PositionsStore first) {
    const PieceMessages of = messages_of();
    messages.each(tiles, LoadPieceOfRow{view()}, of,
                  [=] __host__ __device__(const PieceOfRow& piece, std::uint64_t m) {
                    const std::uint32_t length = piece.length, most = of.most_elements(piece);
                    for (std::uint32_t k = 0; k < length && m < room; k += most, ++m) {
                      row[m] = piece.row;
                      shape[m] = MessageShape::of(piece.tile, length - k < most ? length - k : most);
                      first.store(m, num_before + piece.first + k);
                    }
                  });
  }

 private:
  RowPiecesView view() const {
    return {.num_elements = num_elements,
            .num_tiles = static_cast<std::uint32_t>(tile_starts.size()),
            .firsts = firsts.data(),
            .rows = rows.data(),
            .tiles = tiles.data(),
            .tile_starts = tile_starts.data()};
  }
  PieceMessages messages_of() const { return {splits, rows.data(), first_row, row_starts.data()}; }
};

}  // namespace tessera::cuda
