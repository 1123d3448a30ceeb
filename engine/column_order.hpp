// Columns in the order of the slots of x: sorted by length (paper 3.1, solution 2; algorithm 1), or as given.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/buffer.hpp"
#include "kernels/column_slots.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera {

enum class ColumnOrderKind {
  by_length,  ///< longest first, ties by vertex id; empty columns get no slot
  as_given,   ///< by vertex id; empty columns get no slot
  original,   ///< slot = vertex id, no tiles
};

/// Solver order of the columns: where each lives in x.
struct ColumnOrder {
  ColumnOrderKind kind = ColumnOrderKind::by_length;
  std::uint64_t num_slots = 0;
  Buffer<VertexId> slot_of_column;  ///< kNoVertex for an empty column
  std::vector<Tile> tiles;          ///< first_slot, num_columns, wide; workloads not filled in
  /// By length: all columns, by slot, then, by id, those without; whoever needs it no more may give it up.
  /// Else empty, as slots ascend with ids.
  Buffer<VertexId> order;

  /// Of columns in this order, those without a slot left out; as they are made, before ranks exchange inputs
  /// by tiles (engine/exchange_plan.hpp).
  ColumnSlots slots() const {
    if (tiles.size() < 2) return {};
    return {static_cast<std::uint32_t>(tiles[0].num_columns), tiles.size()};
  }
  std::uint64_t num_with_slot() const { return num_slots - tiles.size(); }
  /// Tile t begins at slot t * tile_stride(), its zero slot is its last.
  std::uint64_t tile_stride() const { return tiles.size() > 1 ? tiles[1].first_slot : num_slots + 1; }
};

/// Columns of a tile in tile-messages at most, where several ranks have parts of it that begin at multiples
/// of 4: with the zero, and what that adds for up to 341 ranks, they still have 16 bits. The same on one
/// rank, so that bits do not depend on how many there are.
inline constexpr std::uint32_t kMostMessageColumns = 65535 - 1023;

/// What becomes of the columns behind the dense tiles.
enum class Remainder {
  wide,    ///< one tile with 32-bit offsets
  narrow,  ///< no dense tile is the last: all columns are cut alike, kMostMessageColumns at most
};

/// Dense tiles of `tile_columns` columns while a tile's first column is longer than 1 (algorithm 1), at most
/// `max_dense_tiles`; the rest as one remainder tile, if there is to be one. Same on every rank.
ColumnOrder order_columns_by_length(std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns,
                                    std::uint32_t max_dense_tiles = ~std::uint32_t{0},
                                    Remainder remainder = Remainder::wide);
/// Narrow tiles of `tile_columns` columns, kMostMessageColumns at most, for graphs whose vertices are
/// numbered so that neighbours lie together. Same on every rank.
ColumnOrder order_columns_as_given(std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns);
/// One "tile" with all columns in the order as given, for plain CSR.
ColumnOrder original_column_order(std::uint64_t num_columns);

}  // namespace tessera
