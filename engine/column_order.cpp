#include "engine/column_order.hpp"

#include <algorithm>

#include "engine/length_order.hpp"
#include "kernels/base/error.hpp"

namespace tessera {

ColumnOrder order_columns_by_length(std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns,
                                    std::uint32_t max_dense_tiles, Remainder remainder) {
  require(tile_columns > 0 && tile_columns <= 65535, "a tile has 1 to 65,535 columns");
  if (remainder == Remainder::narrow) tile_columns = std::min(tile_columns, kMostMessageColumns);
  const std::vector<VertexId> order = order_by_length(column_lengths);
  ColumnOrder result;
  result.slot_of_column = Buffer<VertexId>(column_lengths.size());
  std::uint64_t non_empty = 0;
  while (non_empty < order.size() && column_lengths[order[non_empty]] > 0) ++non_empty;

  std::uint64_t slot = 0, next = 0;
  while (next < non_empty) {
    // A column with a single element is never read twice: from there on tiling gains nothing (algorithm 1).
    const bool dense = remainder == Remainder::narrow ||
                       (column_lengths[order[next]] > 1 && result.tiles.size() < max_dense_tiles);
    const std::uint64_t count =
        dense ? std::min<std::uint64_t>(tile_columns, non_empty - next) : non_empty - next;
    result.tiles.push_back({.first_slot = slot, .num_columns = count, .wide = !dense});
    for (std::uint64_t i = 0; i < count; ++i)
      result.slot_of_column[order[next++]] = static_cast<VertexId>(slot++);
    ++slot;  // the zero slot that padding points to
  }
  for (std::uint64_t i = non_empty; i < order.size(); ++i) result.slot_of_column[order[i]] = kNoVertex;
  if (slot > kMaxVertices) throw ResourceError("the graph has too many vertices for 32-bit slots");
  result.num_slots = slot;
  return result;
}

ColumnOrder order_columns_as_given(std::span<const std::uint64_t> column_lengths,
                                   std::uint32_t tile_columns) {
  require(tile_columns > 0 && tile_columns <= 65535, "a tile has 1 to 65,535 columns");
  tile_columns = std::min(tile_columns, kMostMessageColumns);
  ColumnOrder result;
  result.kind = ColumnOrderKind::as_given;
  result.slot_of_column = Buffer<VertexId>(column_lengths.size());
  std::uint64_t slot = 0;
  for (std::uint64_t c = 0; c < column_lengths.size(); ++c) {
    result.slot_of_column[c] = kNoVertex;
    if (column_lengths[c] == 0) continue;
    if (result.tiles.empty() || result.tiles.back().num_columns == tile_columns) {
      slot += result.tiles.empty() ? 0 : 1;  // the zero slot that padding points to
      result.tiles.push_back({.first_slot = slot});
    }
    ++result.tiles.back().num_columns;
    result.slot_of_column[c] = static_cast<VertexId>(slot++);
  }
  result.num_slots = slot + (result.tiles.empty() ? 0 : 1);
  if (result.num_slots > kMaxVertices)
    throw ResourceError("the graph has too many vertices for 32-bit slots");
  return result;
}

ColumnOrder original_column_order(std::uint64_t num_columns) {
  ColumnOrder result;
  result.kind = ColumnOrderKind::original;
  result.num_slots = num_columns;
  result.slot_of_column = Buffer<VertexId>(num_columns);
  for (std::uint64_t i = 0; i < num_columns; ++i) result.slot_of_column[i] = static_cast<VertexId>(i);
  return result;
}

}  // namespace tessera
