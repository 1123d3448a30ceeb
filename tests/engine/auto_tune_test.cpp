#include "engine/auto_tune.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

namespace tessera::test {
namespace {

TEST(MeasurePerfTable, MeasuresBothLayoutsAndCsrAndComesBackFromJson) {
  double last = 0;
  int calls = 0;
  const PerfTable table = measure_perf_table([&](double fraction) {
    EXPECT_GE(fraction, last);
    EXPECT_LE(fraction, 1.0);
    last = fraction;
    ++calls;
  });
  EXPECT_GT(calls, 10);
  int row_major = 0, column_major = 0;
  for (const auto& entry : table.entries) {
    EXPECT_TRUE(std::isfinite(entry.ns_per_element) && entry.ns_per_element > 0);
    ++(entry.width > entry.height ? row_major : column_major);
  }
  EXPECT_GT(row_major, 5);
  EXPECT_GT(column_major, 5);
  // Every shape of 2^9 to 2^18 elements: what workload sizes are chosen among.
  for (std::uint32_t log_width = 0; log_width <= 16; ++log_width)
    for (std::uint32_t log_height = log_width < 9 ? 9 - log_width : 0; log_height <= 18 - log_width;
         ++log_height) {
      const auto is_shape = [&](const auto& e) {
        return e.width == 1u << log_width && e.height == 1u << log_height;
      };
      EXPECT_EQ(std::count_if(table.entries.begin(), table.entries.end(), is_shape), 1);
    }
  EXPECT_GE(table.csr_ns_per_row, 0);
  ASSERT_GT(table.csr.size(), 3u);
  EXPECT_GT(table.csr.front().ns_per_element, 0);
  for (std::size_t i = 1; i < table.csr.size(); ++i)
    EXPECT_GT(table.csr[i].x_bytes, table.csr[i - 1].x_bytes);
  const PerfTable back = perf_table_from_json(perf_table_to_json(table), "t.json");
  EXPECT_EQ(back.elements_per_second(16, 512), table.elements_per_second(16, 512));
  EXPECT_GT(table.elements_per_second(64, 64), 0);
  EXPECT_EQ(last, 1.0);
}

TEST(MeasurePerfTable, AnInterruptedMeasurementGivesTheThreadsBack) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  struct Interrupted {};
  EXPECT_THROW(measure_perf_table([](double) { throw Interrupted(); }), Interrupted);
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace tessera::test
