// Stand-ins have the sizes and the row lengths of the tables.
#include "tests/bench/stand_in_matrices.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "tests/bench/stand_in_tables.hpp"

namespace tessera::bench {
namespace {

std::vector<StandIn> all_stand_ins() {
  std::vector<StandIn> all;
  for (const auto& list : {power_law_stand_ins(), unstructured_stand_ins(), ellpack_stand_ins(),
                           density_stand_ins(), batch_stand_ins()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

struct Moments {
  double mean = 0, deviation = 0, longest = 0;
};
Moments moments(const std::vector<std::uint32_t>& lengths) {
  Moments m;
  const auto n = static_cast<double>(lengths.size());
  for (const double length : lengths) {
    m.mean += length / n;
    m.longest = std::max(m.longest, length);
  }
  for (const double length : lengths) m.deviation += (length - m.mean) * (length - m.mean) / n;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST(StandIns, HaveTheTablesSizesAndMoments) {
  for (StandIn s : all_stand_ins()) {
    SCOPED_TRACE(s.name);
    constexpr std::uint64_t kQuick = 2000000;  // LiveJournal alone has more rows
    if (s.lengths == Lengths::quarters || s.num_rows > kQuick) continue;
    s.scaled_by = 1;
    const Moments found = moments(row_lengths(scaled(s, 1), 1));
    const double mean = static_cast<double>(s.num_nonzeros) / static_cast<double>(s.num_rows);
    EXPECT_NEAR(found.mean, mean, 0.01 * mean);
    EXPECT_LE(found.longest, static_cast<double>(s.longest));
    // Whole numbers with a mean between two of them have a deviation of their own.
    if (s.lengths == Lengths::normal) {
      EXPECT_GE(found.longest, static_cast<double>(s.longest) - 1);
      EXPECT_NEAR(found.deviation, s.deviation, 0.05 * s.deviation + 0.5);
    } else {
      EXPECT_GE(found.longest, 0.7 * static_cast<double>(s.longest));
    }
  }
}

TEST(StandIns, OfPowersHaveTheDeviationsOfTheCollections) {
  const auto deviation = [](const std::vector<StandIn>& all, const std::string& name) {
    for (const StandIn& s : all)
      if (name == s.name) return moments(row_lengths(s, 1)).deviation;
    return 0.0;
  };
  EXPECT_NEAR(deviation(power_law_stand_ins(), "Webbase"), 25.35, 2.5);
  EXPECT_NEAR(deviation(unstructured_stand_ins(), "Circuit"), 4.39, 0.5);
  EXPECT_NEAR(deviation(unstructured_stand_ins(), "LP"), 4209, 420);
}

TEST(StandIns, OfDensitiesHaveTheirSharesOfShortAndLongRows) {
  for (const StandIn& s : density_stand_ins()) {
    double short_rows = 0, long_rows = 0;
    for (const std::uint32_t length : row_lengths(s, 1)) {
      ASSERT_TRUE(length >= 1 && length <= s.longest);
      short_rows += length <= s.longest / 4 ? 1 : 0;
      long_rows += length > 3 * s.longest / 4 ? 1 : 0;
    }
    EXPECT_NEAR(short_rows / static_cast<double>(s.num_rows), s.short_share, 0.01);
    EXPECT_NEAR(long_rows / static_cast<double>(s.num_rows), s.long_share, 0.01);
  }
}

TEST(StandIns, ColumnsAscendWithoutRepeatsAndSizesAreScaled) {
  for (const StandIn& s : all_stand_ins()) {
    SCOPED_TRACE(s.name);
    const StandIn small = scaled(s, s.num_rows > 5000 ? 20 : 1);
    const SparseMatrix matrix = generate(small);
    ASSERT_EQ(matrix.num_rows, small.num_rows);
    ASSERT_EQ(matrix.num_cols, small.num_cols);
    if (s.lengths != Lengths::quarters) {
      EXPECT_EQ(matrix.num_nonzeros(), small.num_nonzeros);
    }
    for (std::uint64_t row = 0; row < matrix.num_rows; ++row)
      for (EdgeOffset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
        ASSERT_LT(matrix.col_indices[k], matrix.num_cols);
        if (k == matrix.row_offsets[row]) continue;
        ASSERT_LT(matrix.col_indices[k - 1], matrix.col_indices[k]);
      }
  }
}

TEST(StandIns, AreTheSameForASeedAndAnyNumberOfThreads) {
  const int threads = omp_get_max_threads();
  for (const StandIn& s : {power_law_stand_ins().front(), unstructured_stand_ins()[1]}) {
    omp_set_num_threads(1);
    const SparseMatrix one = generate(scaled(s, 50), 7);
    omp_set_num_threads(3);
    const SparseMatrix three = generate(scaled(s, 50), 7);
    const SparseMatrix other = generate(scaled(s, 50), 8);
    omp_set_num_threads(threads);
    const auto same = [&](const SparseMatrix& b) {
      return std::equal(one.row_offsets.begin(), one.row_offsets.end(), b.row_offsets.begin()) &&
             std::equal(one.col_indices.begin(), one.col_indices.end(), b.col_indices.begin());
    };
    EXPECT_TRUE(same(three));
    EXPECT_TRUE(std::equal(one.values.begin(), one.values.end(), three.values.begin()));
    EXPECT_FALSE(same(other));
  }
}

}  // namespace
}  // namespace tessera::bench
