// Bitonic partitioning (paper 3.2): rows by length, dealt in rounds to and fro.
#include "partition/row_partition.hpp"

#include <algorithm>
#include <vector>

#include "kernels/base/error.hpp"
#include "partition/length_order.hpp"

namespace tessera {

RowPartition bitonic_partition(std::span<const std::uint64_t> row_lengths, int num_ranks) {
  require(num_ranks > 0, "bitonic_partition: no ranks");
  const Buffer<VertexId> order = order_by_length(row_lengths);
  RowPartition partition{num_ranks, Buffer<std::uint32_t>(order.size())};
  const auto num_rows = static_cast<std::int64_t>(order.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < num_rows; ++i) {
    const auto round = i / num_ranks, place = i % num_ranks;
    partition.owners[order[i]] = static_cast<std::uint32_t>(round % 2 == 0 ? place : num_ranks - 1 - place);
  }
  return partition;
}

PartitionBalance partition_balance(const RowPartition& partition,
                                   std::span<const std::uint64_t> row_lengths) {
  const auto num_ranks = static_cast<std::size_t>(partition.num_ranks);
  std::vector<std::uint64_t> rows(num_ranks, 0), nonzeros(num_ranks, 0);
#pragma omp parallel
  {
    std::vector<std::uint64_t> own_rows(num_ranks, 0), own_nonzeros(num_ranks, 0);
#pragma omp for schedule(static) nowait
    for (std::size_t row = 0; row < row_lengths.size(); ++row) {
      ++own_rows[partition.owners[row]];
      own_nonzeros[partition.owners[row]] += row_lengths[row];
    }
#pragma omp critical
    for (std::size_t r = 0; r < num_ranks; ++r) {
      rows[r] += own_rows[r];
      nonzeros[r] += own_nonzeros[r];
    }
  }
  const auto imbalance = [](const std::vector<std::uint64_t>& shares) {
    std::uint64_t most = 0, all = 0;
    for (const std::uint64_t share : shares) {
      most = std::max(most, share);
      all += share;
    }
    return all == 0
               ? 1.0
               : static_cast<double>(most) * static_cast<double>(shares.size()) / static_cast<double>(all);
  };
  return {imbalance(rows), imbalance(nonzeros)};
}

}  // namespace tessera
