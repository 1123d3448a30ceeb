// Which rank holds which entries of a distributed vector, and in which local order.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/column_order.hpp"
#include "kernels/base/buffer.hpp"
#include "partition/row_partition.hpp"

namespace tessera {

/// "Local order" of every rank: its vertices by their slot in `columns` (so that moving a result into the
/// next x is a sequential pass), then, by id, those without a slot that are rows with elements, then those
/// that are neither.
struct VertexDistribution {
  Buffer<VertexId> vertices;                 ///< all vertices, rank after rank, each in local order
  std::vector<std::uint64_t> first_of_rank;  ///< num_ranks + 1 positions in `vertices`
  std::vector<std::uint64_t> with_slot;      ///< of each rank's vertices, how many have a slot
  std::vector<std::uint64_t> connected;      ///< how many have a slot, or elements as a row
  PartitionBalance balance;

  std::span<const VertexId> of_rank(int rank) const {
    return std::span(vertices).subspan(first_of_rank[rank], first_of_rank[rank + 1] - first_of_rank[rank]);
  }
};

/// Rows dealt by bitonic partitioning of `row_lengths`; local order from `columns`. Same on every rank.
VertexDistribution distribute_vertices(std::span<const std::uint64_t> row_lengths, const ColumnOrder& columns,
                                       int num_ranks);

}  // namespace tessera
