#include "engine/column_order.hpp"

#include <algorithm>

#include "kernels/base/error.hpp"
#include "partition/bucket_placement.hpp"
#include "partition/length_order.hpp"

namespace tessera {
namespace {

void add_tile(ColumnOrder& order, std::uint64_t num_columns, bool wide) {
  order.tiles.push_back({.first_slot = order.num_slots, .num_columns = num_columns, .wide = wide});
  order.num_slots += num_columns + 1;  // the zero slot that padding points to
}

void check_slots(const ColumnOrder& order) {
  if (order.num_slots > kMaxVertices) throw ResourceError("the graph has too many vertices for 32-bit slots");
}

}  // namespace

ColumnOrder order_columns_by_length(std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns,
                                    std::uint32_t max_dense_tiles, Remainder remainder) {
  require(tile_columns > 0 && tile_columns <= 65535, "a tile has 1 to 65,535 columns");
  if (remainder == Remainder::narrow) tile_columns = std::min(tile_columns, kMostMessageColumns);
  ColumnOrder result;
  result.order = order_by_length(column_lengths);
  const Buffer<VertexId>& order = result.order;
  const auto first_empty =
      std::partition_point(order.begin(), order.end(), [&](VertexId c) { return column_lengths[c] > 0; });
  const auto non_empty = static_cast<std::uint64_t>(first_empty - order.begin());
  for (std::uint64_t next = 0; next < non_empty;) {
    // A column with a single element is never read twice: from there on tiling gains nothing (algorithm 1).
    const bool dense = remainder == Remainder::narrow ||
                       (column_lengths[order[next]] > 1 && result.tiles.size() < max_dense_tiles);
    const std::uint64_t count =
        dense ? std::min<std::uint64_t>(tile_columns, non_empty - next) : non_empty - next;
    add_tile(result, count, !dense);
    next += count;
  }
  check_slots(result);
  result.slot_of_column = Buffer<VertexId>(column_lengths.size());
  const ColumnSlots slots = result.slots();
  const auto num_columns = static_cast<std::int64_t>(order.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < num_columns; ++i) {
    const auto place = static_cast<std::uint32_t>(i);
    result.slot_of_column[order[place]] = place < non_empty ? slots.slot_of(place) : kNoVertex;
  }
  return result;
}

ColumnOrder order_columns_as_given(std::span<const std::uint64_t> column_lengths,
                                   std::uint32_t tile_columns) {
  require(tile_columns > 0 && tile_columns <= 65535, "a tile has 1 to 65,535 columns");
  tile_columns = std::min(tile_columns, kMostMessageColumns);
  ColumnOrder result;
  result.kind = ColumnOrderKind::as_given;
  result.slot_of_column = Buffer<VertexId>(column_lengths.size());
  const ColumnSlots slots(tile_columns, kMaxVertices);  // the last tile is not known yet
  const auto firsts = place_in_buckets(
      column_lengths.size(), 2, [&](std::uint64_t c) { return column_lengths[c] == 0; },
      [&](std::uint64_t place, std::uint64_t c) {
        result.slot_of_column[c] =
            column_lengths[c] == 0 ? kNoVertex : slots.slot_of(static_cast<VertexId>(place));
      });
  const std::uint64_t non_empty = firsts[1];
  for (std::uint64_t next = 0; next < non_empty; next += tile_columns)
    add_tile(result, std::min<std::uint64_t>(tile_columns, non_empty - next), false);
  check_slots(result);
  return result;
}

ColumnOrder original_column_order(std::uint64_t num_columns) {
  ColumnOrder result;
  result.kind = ColumnOrderKind::original;
  result.num_slots = num_columns;
  result.slot_of_column = Buffer<VertexId>(num_columns);
  const auto count = static_cast<std::int64_t>(num_columns);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) result.slot_of_column[i] = static_cast<VertexId>(i);
  return result;
}

}  // namespace tessera
