// Bitonic partitioning: the paper's dealing order, and what it promises about balance.
#include "partition/row_partition.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace tessera {
namespace {

using Rows = std::vector<std::vector<VertexId>>;

TEST(RowPartition, DealsRoundsToAndFro) {
  const std::vector<std::uint64_t> lengths = {1, 9, 3, 7, 5, 8};  // by length: 1 5 3 | 4 2 0
  EXPECT_EQ(bitonic_partition(lengths, 3).rows, (Rows{{0, 1}, {2, 5}, {3, 4}}));
}

TEST(RowPartition, TiesGoByRowNumber) {
  const std::vector<std::uint64_t> lengths(6, 4);
  EXPECT_EQ(bitonic_partition(lengths, 2).rows, (Rows{{0, 3, 4}, {1, 2, 5}}));
}

TEST(RowPartition, LengthsOfMoreThan32BitsAreSorted) {
  const std::vector<std::uint64_t> lengths = {std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 1, 7, 1};
  EXPECT_EQ(bitonic_partition(lengths, 2).rows, (Rows{{1, 3}, {0, 2}}));
}

TEST(RowPartition, OneRankHasAllRowsInOrder) {
  EXPECT_EQ(bitonic_partition(std::vector<std::uint64_t>{3, 1, 2}, 1).rows, (Rows{{0, 1, 2}}));
}

TEST(RowPartition, MoreRanksThanRowsLeavesRanksEmpty) {
  EXPECT_EQ(bitonic_partition(std::vector<std::uint64_t>{3, 1}, 4).rows, (Rows{{0}, {1}, {}, {}}));
  EXPECT_EQ(bitonic_partition({}, 2).rows, (Rows{{}, {}}));
}

TEST(RowPartition, BalanceOfNothingIsPerfect) {
  const PartitionBalance balance = partition_balance(bitonic_partition({}, 3), {});
  EXPECT_EQ(balance.row_imbalance, 1);
  EXPECT_EQ(balance.nonzero_imbalance, 1);
}

TEST(RowPartition, BalanceIsLargestOverMean) {
  const std::vector<std::uint64_t> lengths = {6, 1, 1};
  const PartitionBalance balance = partition_balance({{{0}, {1, 2}}}, lengths);
  EXPECT_DOUBLE_EQ(balance.row_imbalance, 2 / 1.5);
  EXPECT_DOUBLE_EQ(balance.nonzero_imbalance, 6 / 4.0);
}

RC_GTEST_PROP(RowPartitionProperty, EveryRowHasOneOwnerAndSharesDifferByAtMostOne, ()) {
  const auto lengths =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 100));
  const int ranks = *rc::gen::inRange(1, 9);
  const RowPartition partition = bitonic_partition(lengths, ranks);
  std::vector<int> owners(lengths.size(), 0);
  std::size_t fewest = lengths.size(), most = 0;
  for (const auto& rows : partition.rows) {
    RC_ASSERT(std::is_sorted(rows.begin(), rows.end()));
    for (VertexId row : rows) ++owners[row];
    fewest = std::min(fewest, rows.size());
    most = std::max(most, rows.size());
  }
  RC_ASSERT(std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; }));
  RC_ASSERT(most - fewest <= 1u);
}

RC_GTEST_PROP(RowPartitionProperty, NonzerosDifferByAtMostTheLongestRow, ()) {
  const auto lengths =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 1000));
  const int ranks = *rc::gen::inRange(1, 9);
  const RowPartition partition = bitonic_partition(lengths, ranks);
  std::uint64_t fewest = ~std::uint64_t{0}, most = 0, longest = 0;
  for (std::uint64_t length : lengths) longest = std::max(longest, length);
  for (const auto& rows : partition.rows) {
    std::uint64_t nonzeros = 0;
    for (VertexId row : rows) nonzeros += lengths[row];
    fewest = std::min(fewest, nonzeros);
    most = std::max(most, nonzeros);
  }
  RC_ASSERT(most - fewest <= longest);
}

}  // namespace
}  // namespace tessera
