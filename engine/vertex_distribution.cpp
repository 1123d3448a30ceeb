#include "engine/vertex_distribution.hpp"

namespace tessera {
namespace {

/// All vertices by slot; then, by id, those without a slot that are rows with elements, then the others.
std::vector<VertexId> vertices_by_slot(std::span<const std::uint64_t> row_lengths,
                                       const ColumnOrder& columns) {
  const std::uint64_t n = columns.slot_of_column.size();
  std::vector<VertexId> vertex_of_slot(columns.num_slots, kNoVertex);
  std::vector<VertexId> without_slot, unconnected;
  for (std::uint64_t v = 0; v < n; ++v) {
    const VertexId slot = columns.slot_of_column[v];
    if (slot == kNoVertex)
      (row_lengths[v] > 0 ? without_slot : unconnected).push_back(static_cast<VertexId>(v));
    else
      vertex_of_slot[slot] = static_cast<VertexId>(v);
  }
  std::erase(vertex_of_slot, kNoVertex);
  vertex_of_slot.insert(vertex_of_slot.end(), without_slot.begin(), without_slot.end());
  vertex_of_slot.insert(vertex_of_slot.end(), unconnected.begin(), unconnected.end());
  return vertex_of_slot;
}

}  // namespace

VertexDistribution distribute_vertices(std::span<const std::uint64_t> row_lengths, const ColumnOrder& columns,
                                       int num_ranks) {
  const std::uint64_t n = row_lengths.size();
  VertexDistribution result;
  result.first_of_rank.assign(static_cast<std::size_t>(num_ranks) + 1, 0);
  result.with_slot.assign(static_cast<std::size_t>(num_ranks), 0);
  result.connected.assign(static_cast<std::size_t>(num_ranks), 0);
  std::vector<VertexId> ordered = vertices_by_slot(row_lengths, columns);
  std::vector<std::uint32_t> owner(num_ranks == 1 ? 0 : n, 0);
  if (num_ranks > 1) {
    const RowPartition partition = bitonic_partition(row_lengths, num_ranks);
    result.balance = partition_balance(partition, row_lengths);
    for (int r = 0; r < num_ranks; ++r)
      for (VertexId row : partition.rows[r]) owner[row] = static_cast<std::uint32_t>(r);
  }
  auto owner_of = [&](VertexId v) { return num_ranks == 1 ? 0u : owner[v]; };
  for (VertexId v : ordered) {
    ++result.first_of_rank[owner_of(v) + 1];
    const bool has_slot = columns.slot_of_column[v] != kNoVertex;
    if (has_slot) ++result.with_slot[owner_of(v)];
    if (has_slot || row_lengths[v] > 0) ++result.connected[owner_of(v)];
  }
  for (int r = 0; r < num_ranks; ++r) result.first_of_rank[r + 1] += result.first_of_rank[r];
  if (num_ranks == 1) {
    result.vertices = std::move(ordered);
    return result;
  }
  result.vertices.resize(n);
  std::vector<std::uint64_t> next(result.first_of_rank.begin(), result.first_of_rank.end() - 1);
  for (VertexId v : ordered) result.vertices[next[owner[v]]++] = v;
  return result;
}

}  // namespace tessera
