#include "engine/perf_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera {
namespace {

PerfTable flat_table(double ns) {
  PerfTable table;
  for (std::uint32_t width = 1; width <= 1u << 16; width *= 2)
    for (std::uint32_t height = 1; height <= 1u << 16; height *= 2)
      table.entries.push_back({width, height, ns});
  table.csr.push_back({1024, ns});
  table.prepare();
  return table;
}

TEST(NextWorkload, WideRowsAreRowMajorPaddedInWidth) {
  const Workload w = next_workload(100, 50, 1000, 32);
  EXPECT_EQ(w.layout, Layout::row_major);
  EXPECT_EQ(w.num_rows, 10u);
  EXPECT_EQ(w.width, 128u);
  EXPECT_EQ(w.height, 10u);
}

TEST(NextWorkload, ShortRowsAreColumnMajorPaddedInHeight) {
  const Workload w = next_workload(3, 50, 100, 8);
  EXPECT_EQ(w.layout, Layout::column_major);
  EXPECT_EQ(w.num_rows, 33u);
  EXPECT_EQ(w.width, 3u);
  EXPECT_EQ(w.height, 40u);
}

TEST(NextWorkload, RowLongerThanTheSizeStandsAlone) {
  const Workload w = next_workload(5000, 9, 512, 8);
  EXPECT_EQ(w.num_rows, 1u);
  EXPECT_EQ(w.width, 5000u);
}

TEST(PerfModel, TimeIsElementsOverRateOfOneWave) {
  // 4 rows of 8: two workloads of 16 elements, in one wave of two warps: each takes 16 ns at 1 ns an element.
  const std::vector<std::uint32_t> lengths = {8, 8, 8, 8};
  const TilingLimits limits{.tile_columns = 64, .warp_width = 8, .max_active_warps = 2};
  EXPECT_NEAR(predict_tile_seconds(lengths, 16, limits, flat_table(1.0)), 16e-9, 1e-12);
  const TilingLimits one_warp{.tile_columns = 64, .warp_width = 8, .max_active_warps = 1};
  EXPECT_NEAR(predict_tile_seconds(lengths, 16, one_warp, flat_table(1.0)), 32e-9, 1e-12);
}

TEST(PerfModel, PredictedTimeGrowsWithTheWork) {
  const PerfTable table = flat_table(1.0);
  const TilingLimits limits{.tile_columns = 65535, .warp_width = 8, .max_active_warps = 1};
  std::vector<std::uint32_t> lengths;
  double elements = 0;
  for (std::uint32_t row = 1; row < 200; ++row) {
    lengths.insert(lengths.begin(), 3 * row);
    elements += 3 * row;
    std::vector<std::uint32_t> twice = lengths;
    twice.insert(twice.begin(), lengths.begin(), lengths.end());
    std::sort(twice.rbegin(), twice.rend());
    const double seconds = predict_tile_seconds(lengths, 512, limits, table);
    EXPECT_GE(seconds, elements * 1e-9 * (1 - 1e-12)) << row;
    EXPECT_GT(predict_tile_seconds(twice, 512, limits, table), 1.5 * seconds) << row;
    EXPECT_GT(choose_workload_size(twice, limits, table).predicted_seconds,
              1.5 * choose_workload_size(lengths, limits, table).predicted_seconds);
  }
  EXPECT_EQ(predict_tile_seconds({}, 512, limits, table), 0);
  EXPECT_EQ(choose_workload_size({}, limits, table).predicted_seconds, 0);
}

TEST(PerfModel, ChoosesTheSizeWithLeastPadding) {
  // Halving lengths: small workloads pad less, and a flat table punishes nothing else.
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t length = 4096; length >= 1; length /= 2)
    lengths.insert(lengths.end(), 4096 / length, length);
  const TilingLimits limits{.tile_columns = 65535, .warp_width = 8, .max_active_warps = 4};
  const WorkloadChoice choice = choose_workload_size(lengths, limits, flat_table(1.0));
  for (std::uint64_t size = 512; size <= 16384; size *= 2)
    EXPECT_LE(choice.predicted_seconds,
              predict_tile_seconds(lengths, size, limits, flat_table(1.0)) * (1 + 1e-12));
}

}  // namespace
}  // namespace tessera
