// Bitonic partitioning: the paper's dealing order, and what it promises about balance.
#include "partition/row_partition.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace tessera {
namespace {

using Rows = std::vector<std::vector<VertexId>>;

/// Of each rank, ascending.
Rows rows_of(const RowPartition& partition) {
  Rows rows(static_cast<std::size_t>(partition.num_ranks));
  for (std::size_t row = 0; row < partition.owners.size(); ++row)
    rows.at(partition.owners[row]).push_back(static_cast<VertexId>(row));
  return rows;
}

Rows dealt(const std::vector<std::uint64_t>& lengths, int num_ranks) {
  return rows_of(bitonic_partition(lengths, num_ranks));
}

TEST(RowPartition, DealsRoundsToAndFro) {
  const std::vector<std::uint64_t> lengths = {1, 9, 3, 7, 5, 8};  // by length: 1 5 3 | 4 2 0
  EXPECT_EQ(dealt(lengths, 3), (Rows{{0, 1}, {2, 5}, {3, 4}}));
}

TEST(RowPartition, TiesGoByRowNumber) {
  const std::vector<std::uint64_t> lengths(6, 4);
  EXPECT_EQ(dealt(lengths, 2), (Rows{{0, 3, 4}, {1, 2, 5}}));
}

TEST(RowPartition, LengthsOfMoreThan32BitsAreSorted) {
  const std::vector<std::uint64_t> lengths = {std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 1, 7, 1};
  EXPECT_EQ(dealt(lengths, 2), (Rows{{1, 3}, {0, 2}}));
}

TEST(RowPartition, OneRankHasAllRowsInOrder) { EXPECT_EQ(dealt({3, 1, 2}, 1), (Rows{{0, 1, 2}})); }

TEST(RowPartition, MoreRanksThanRowsLeavesRanksEmpty) {
  EXPECT_EQ(dealt({3, 1}, 4), (Rows{{0}, {1}, {}, {}}));
  EXPECT_EQ(dealt({}, 2), (Rows{{}, {}}));
}

TEST(RowPartition, BalanceOfNothingIsPerfect) {
  const PartitionBalance balance = partition_balance(bitonic_partition({}, 3), {});
  EXPECT_EQ(balance.row_imbalance, 1);
  EXPECT_EQ(balance.nonzero_imbalance, 1);
}

TEST(RowPartition, BalanceIsLargestOverMean) {
  const std::vector<std::uint64_t> lengths = {6, 1, 1};
  RowPartition partition{2, Buffer<std::uint32_t>(3)};
  partition.owners[0] = 0;
  partition.owners[1] = partition.owners[2] = 1;
  const PartitionBalance balance = partition_balance(partition, lengths);
  EXPECT_DOUBLE_EQ(balance.row_imbalance, 2 / 1.5);
  EXPECT_DOUBLE_EQ(balance.nonzero_imbalance, 6 / 4.0);
}

RC_GTEST_PROP(RowPartitionProperty, EveryRowHasOneOwnerAndSharesDifferByAtMostOne, ()) {
  const auto lengths =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 100));
  const int ranks = *rc::gen::inRange(1, 9);
  const RowPartition partition = bitonic_partition(lengths, ranks);
  RC_ASSERT(partition.owners.size() == lengths.size());
  std::size_t fewest = lengths.size(), most = 0;
  for (const auto& rows : rows_of(partition)) {
    fewest = std::min(fewest, rows.size());
    most = std::max(most, rows.size());
  }
  RC_ASSERT(most - fewest <= 1u);
}

RC_GTEST_PROP(RowPartitionProperty, NonzerosDifferByAtMostTheLongestRow, ()) {
  const auto lengths =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 1000));
  const int ranks = *rc::gen::inRange(1, 9);
  const RowPartition partition = bitonic_partition(lengths, ranks);
  std::uint64_t fewest = ~std::uint64_t{0}, most = 0, longest = 0;
  for (std::uint64_t length : lengths) longest = std::max(longest, length);
  for (const auto& rows : rows_of(partition)) {
    std::uint64_t nonzeros = 0;
    for (VertexId row : rows) nonzeros += lengths[row];
    fewest = std::min(fewest, nonzeros);
    most = std::max(most, nonzeros);
  }
  RC_ASSERT(most - fewest <= longest);
}

}  // namespace
}  // namespace tessera
