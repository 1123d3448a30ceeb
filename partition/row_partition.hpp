// Which rank owns which row of the matrix (paper 3.2).
#pragma once
#include <cstdint>
#include <span>

#include "kernels/base/buffer.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// Rows dealt to ranks: every row has exactly one owner.
struct RowPartition {
  int num_ranks = 1;
  Buffer<std::uint32_t> owners;  ///< of each row
};

/// How even a partition is: largest share over mean share, 1 = perfect.
struct PartitionBalance {
  double row_imbalance = 1;
  double nonzero_imbalance = 1;
};

/// Bitonic partitioning (paper 3.2): rows sorted by length (longest first, ties by row number) are dealt
/// `num_ranks` at a time; the rank that got the longest row of one round gets the shortest of the next.
/// Ranks may end up without rows.
RowPartition bitonic_partition(std::span<const std::uint64_t> row_lengths, int num_ranks);

/// How far the largest part is from the mean, in rows and in elements (1: even).
PartitionBalance partition_balance(const RowPartition& partition, std::span<const std::uint64_t> row_lengths);

}  // namespace tessera
