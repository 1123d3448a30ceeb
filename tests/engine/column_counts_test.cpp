#include "engine/column_counts.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <random>
#include <vector>

namespace tessera {
namespace {

std::vector<std::uint64_t> counted(const std::vector<VertexId>& columns, std::uint64_t num_columns) {
  const Buffer<std::uint64_t> counts = column_counts(columns, num_columns);
  return {counts.begin(), counts.end()};
}

TEST(ColumnCounts, OfAFewElements) {
  EXPECT_EQ(counted({2, 0, 2, 4, 2}, 5), (std::vector<std::uint64_t>{1, 0, 3, 0, 1}));
  EXPECT_EQ(counted({}, 2), (std::vector<std::uint64_t>{0, 0}));
  EXPECT_TRUE(counted({}, 0).empty());
}

/// Half of the elements in nine columns, which lie together.
void check_with_hubs(std::uint64_t num_columns) {
  std::mt19937 engine(11);
  std::vector<VertexId> columns(3'000'000);
  for (VertexId& column : columns)
    column = engine() % 2 == 0 ? engine() % num_columns : 70'000 + engine() % 9;
  std::vector<std::uint64_t> expected(num_columns, 0);
  for (const VertexId column : columns) ++expected[column];
  const int threads = omp_get_max_threads();
  for (int count : {1, 3, 16}) {
    omp_set_num_threads(count);
    EXPECT_EQ(counted(columns, num_columns), expected) << count;
  }
  omp_set_num_threads(threads);
}

TEST(ColumnCounts, OfColumnsForWhichThreadsHaveCounters) { check_with_hubs(300'001); }

TEST(ColumnCounts, OfManyColumnsRangeByRange) { check_with_hubs((1 << 22) + 5); }

}  // namespace
}  // namespace tessera
