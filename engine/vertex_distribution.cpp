#include "engine/vertex_distribution.hpp"

#include <algorithm>

#include "kernels/base/error.hpp"
#include "partition/bucket_placement.hpp"

namespace tessera {
namespace {

Buffer<VertexId> vertices_by_order(std::span<const std::uint64_t> row_lengths, const ColumnOrder& columns) {
  const Buffer<VertexId>& order = columns.order;
  require(order.size() == columns.slot_of_column.size(), "an order by length as it was made");
  Buffer<VertexId> vertices(order.size());
  const std::uint64_t with_slot = columns.num_with_slot();
#pragma omp parallel for schedule(static)
  for (std::uint64_t i = 0; i < with_slot; ++i) vertices[i] = order[i];
  place_in_buckets(
      order.size() - with_slot, 2,
      [&](std::uint64_t i) { return std::uint64_t{row_lengths[order[with_slot + i]] == 0}; },
      [&](std::uint64_t position, std::uint64_t i) {
        vertices[with_slot + position] = order[with_slot + i];
      });
  return vertices;
}

/// All vertices by slot; then, by id, those without a slot that are rows with elements, then the others.
Buffer<VertexId> vertices_by_slot(std::span<const std::uint64_t> row_lengths, const ColumnOrder& columns) {
  const Buffer<VertexId>& slots = columns.slot_of_column;
  if (columns.kind == ColumnOrderKind::by_length) return vertices_by_order(row_lengths, columns);
  // Else slots ascend with ids.
  Buffer<VertexId> vertices(slots.size());
  const auto kind_of = [&](std::uint64_t v) {
    return slots[v] != kNoVertex ? 0 : row_lengths[v] > 0 ? 1 : 2;
  };
  place_in_buckets(slots.size(), 3, kind_of, [&](std::uint64_t position, std::uint64_t v) {
    vertices[position] = static_cast<VertexId>(v);
  });
  return vertices;
}

}  // namespace

VertexDistribution distribute_vertices(std::span<const std::uint64_t> row_lengths, const ColumnOrder& columns,
                                       int num_ranks) {
  VertexDistribution result;
  result.vertices = vertices_by_slot(row_lengths, columns);
  result.first_of_rank = {0, result.vertices.size()};
  if (num_ranks > 1) {
    const RowPartition partition = bitonic_partition(row_lengths, num_ranks);
    result.balance = partition_balance(partition, row_lengths);
    const Buffer<VertexId> ordered = std::exchange(result.vertices, Buffer<VertexId>(row_lengths.size()));
    result.first_of_rank = place_in_buckets(
        ordered.size(), static_cast<std::uint64_t>(num_ranks),
        [&](std::uint64_t i) { return partition.owners[ordered[i]]; },
        [&](std::uint64_t position, std::uint64_t i) { result.vertices[position] = ordered[i]; });
  }
  const auto has_slot = [&](VertexId v) { return columns.slot_of_column[v] != kNoVertex; };
  const auto is_connected = [&](VertexId v) { return has_slot(v) || row_lengths[v] > 0; };
  for (int r = 0; r < num_ranks; ++r) {
    const auto mine = result.of_rank(r);
    const auto count = [&](const auto& is_counted) {
      return static_cast<std::uint64_t>(std::partition_point(mine.begin(), mine.end(), is_counted) -
                                        mine.begin());
    };
    result.with_slot.push_back(count(has_slot));
    result.connected.push_back(count(is_connected));
  }
  return result;
}

}  // namespace tessera
