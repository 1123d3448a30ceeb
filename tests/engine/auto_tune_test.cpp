#include "engine/auto_tune.hpp"

#include <gtest/gtest.h>

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
  ASSERT_GT(table.csr.size(), 3u);
  for (std::size_t i = 1; i < table.csr.size(); ++i)
    EXPECT_GT(table.csr[i].x_bytes, table.csr[i - 1].x_bytes);
  const PerfTable back = perf_table_from_json(perf_table_to_json(table), "t.json");
  EXPECT_EQ(back.elements_per_second(16, 512), table.elements_per_second(16, 512));
  EXPECT_GT(table.elements_per_second(64, 64), 0);
}

}  // namespace
}  // namespace tessera::test
