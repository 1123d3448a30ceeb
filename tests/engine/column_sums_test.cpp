#include "engine/column_sums.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

struct Largest {
  std::uint64_t value = 0;
  Largest& operator+=(const Largest& other) {
    value = std::max(value, other.value);
    return *this;
  }
};

TEST(ColumnSums, AreTheSameWithAnyNumberOfThreads) {
  constexpr std::uint64_t kColumns = 7;
  std::vector<VertexId> columns(1000);
  for (std::size_t e = 0; e < columns.size(); ++e)
    columns[e] = static_cast<VertexId>(e * e % 6);  // none in 6
  const int threads = omp_get_max_threads();
  for (int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    const auto sums = sums_by_column<std::uint64_t>(columns, kColumns,
                                                    [](std::uint64_t& sum, std::uint64_t e) { sum += e; });
    const auto largest = sums_by_column<Largest>(
        columns, kColumns, [](Largest& most, std::uint64_t e) { most.value = std::max(most.value, e); });
    for (VertexId c = 0; c < kColumns; ++c) {
      std::uint64_t sum = 0, last = 0;
      for (std::size_t e = 0; e < columns.size(); ++e) {
        if (columns[e] != c) continue;
        sum += e;
        last = e;
      }
      EXPECT_EQ(sums[c], sum) << "column " << c << ", " << count << " threads";
      EXPECT_EQ(largest[c].value, last) << "column " << c << ", " << count << " threads";
    }
  }
  omp_set_num_threads(threads);
}

TEST(ColumnSums, OfNothingAreZero) {
  const auto add = [](std::uint32_t& sum, std::uint64_t) { ++sum; };
  EXPECT_TRUE(sums_by_column<std::uint32_t>({}, 0, add).empty());
  EXPECT_EQ(sums_by_column<std::uint32_t>({}, 2, add)[1], 0u);
}

}  // namespace
}  // namespace tessera
