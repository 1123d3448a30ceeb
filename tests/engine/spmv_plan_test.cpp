#include "engine/spmv_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/column_order.hpp"
#include "kernels/base/error.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
constexpr TilingLimits kLimits{.tile_columns = 65535, .warp_width = 8, .max_active_warps = 64};

/// Lengths that fall as a power law, in no particular order.
std::vector<std::uint64_t> power_law(std::size_t n) {
  std::vector<std::uint64_t> lengths(n);
  for (std::size_t i = 0; i < n; ++i)
    lengths[(i * 7919) % n] = static_cast<std::uint64_t>(2e5 / std::pow(static_cast<double>(i + 1), 0.8));
  return lengths;
}

SpmvPlan plan_for(KernelKind asked, const std::vector<std::uint64_t>& rows,
                  const std::vector<std::uint64_t>& columns) {
  return choose_plan(asked, rows, columns, kLimits, default_perf_table());
}

TEST(ChoosePlan, TilesAPowerLaw) {
  const auto lengths = power_law(1 << 20);
  const SpmvPlan plan = plan_for(KernelKind::automatic, lengths, lengths);
  EXPECT_EQ(plan.kernel, KernelKind::tile_composite);
  EXPECT_GT(plan.predicted_csr_seconds, plan.predicted_tile_seconds);
  EXPECT_THAT(plan.reason, HasSubstr("predicted to be faster"));
}

TEST(ChoosePlan, TakesPlainCsrWhereTilingDoesNotPay) {
  // A matrix that fits the cache: nothing to gain, so the cheaper preparation wins.
  PerfTable flat = default_perf_table();
  for (auto& entry : flat.entries) entry.ns_per_element = 1;
  for (auto& entry : flat.csr) entry.ns_per_element = 1;
  flat.csr_ns_per_row = 0;
  flat.prepare();
  const std::vector<std::uint64_t> small(1000, 10);
  const SpmvPlan even = choose_plan(KernelKind::automatic, small, small, kLimits, flat);
  EXPECT_EQ(even.kernel, KernelKind::csr);
}

/// Every shape of a tile takes tile_ns an element, plain CSR csr_ns an element and row_ns a row.
PerfTable flat_table(double tile_ns, double csr_ns, double row_ns) {
  PerfTable table;
  table.entries = {{1, 1, tile_ns}, {2, 1, tile_ns}};
  table.csr = {{1, csr_ns}};
  table.csr_ns_per_row = row_ns;
  table.prepare();
  return table;
}

TEST(ChoosePlan, TakesWhatTheTablePredictsToBeFaster) {
  const std::vector<std::uint64_t> even(200000, 12);
  for (const auto& lengths : {even, power_law(1 << 16)}) {
    const auto plan = [&](double tile_ns) {
      return choose_plan(KernelKind::automatic, lengths, lengths, kLimits, flat_table(tile_ns, 1, 0));
    };
    EXPECT_EQ(plan(1.1).kernel, KernelKind::csr);
    EXPECT_THAT(plan(1.1).reason, HasSubstr("csr: predicted to be faster"));
    EXPECT_EQ(plan(0.97).kernel, KernelKind::csr);  // too little for what preparing tiles costs
    EXPECT_THAT(plan(0.97).reason, HasSubstr("gain less than 5 %"));
    EXPECT_EQ(plan(0.9).kernel, KernelKind::tile_composite);
    EXPECT_THAT(plan(0.9).reason, HasSubstr("tile-composite: predicted to be faster"));
  }
}

TEST(ChoosePlan, WithoutRoomForTilesTakesCsrAndRefusesThem) {
  const std::vector<std::uint64_t> lengths = power_law(1 << 16);
  TilingLimits limits = kLimits;
  const auto plan = [&](KernelKind asked) {
    return choose_plan(asked, lengths, lengths, limits, flat_table(0.1, 1, 0));
  };
  EXPECT_EQ(plan(KernelKind::automatic).kernel, KernelKind::tile_composite);
  limits.holds_tiles = false;
  EXPECT_EQ(plan(KernelKind::automatic).kernel, KernelKind::csr);
  EXPECT_THAT(plan(KernelKind::automatic).reason, HasSubstr("too little shared memory"));
  EXPECT_EQ(plan(KernelKind::csr).kernel, KernelKind::csr);
  for (const KernelKind asked : {KernelKind::tile_composite, KernelKind::tile_messages})
    EXPECT_THROW((void)plan(asked), ResourceError);
}

TEST(ChoosePlan, EveryElementIsPredictedOnceWhateverTheTiles) {
  const std::vector<std::uint64_t> even(3000, 7), single(3000, 1);
  for (const auto& lengths : {even, single, power_law(5000)}) {
    const auto num_nonzeros =
        static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
    for (const std::uint32_t tile_columns : {1u, 7u, 1000u, 3000u, 65535u})
      for (const std::uint32_t most_tiles : {0u, 1u, 2u, ~0u}) {
        const TilingLimits limits{tile_columns, 8, 64, most_tiles};
        const SpmvPlan plan =
            choose_plan(KernelKind::automatic, lengths, lengths, limits, flat_table(2, 3, 5));
        EXPECT_NEAR(plan.predicted_tile_seconds, 2e-9 * num_nonzeros, 2e-18 * num_nonzeros);
        EXPECT_NEAR(plan.predicted_csr_seconds,
                    3e-9 * num_nonzeros + 5e-9 * static_cast<double>(lengths.size()), 5e-18 * num_nonzeros);
      }
  }
}

TEST(ChoosePlan, TheOrderOfRowsAndColumnsDoesNotMatter) {
  std::vector<std::uint64_t> rows = power_law(30000), columns = power_law(50000);
  const SpmvPlan plan = plan_for(KernelKind::automatic, rows, columns);
  std::sort(rows.begin(), rows.end());
  std::sort(columns.rbegin(), columns.rend());
  const SpmvPlan sorted = plan_for(KernelKind::automatic, rows, columns);
  EXPECT_EQ(plan.predicted_tile_seconds, sorted.predicted_tile_seconds);  // the same bits
  EXPECT_EQ(plan.predicted_csr_seconds, sorted.predicted_csr_seconds);
  EXPECT_EQ(plan.num_dense_tiles, sorted.num_dense_tiles);
  EXPECT_EQ(plan.reason, sorted.reason);
}

TEST(ChoosePlan, RowsPast32BitsAreFine) {
  const std::vector<std::uint64_t> lengths = {std::uint64_t{3} << 40, std::uint64_t{1} << 33, 1};
  const SpmvPlan plan = choose_plan(KernelKind::automatic, lengths, lengths, kLimits, flat_table(1, 1, 1));
  EXPECT_NEAR(plan.predicted_tile_seconds, 1e-9 * std::ldexp(3, 40), 10);
  EXPECT_NEAR(plan.predicted_csr_seconds, 1e-9 * std::ldexp(3, 40), 10);
}

TEST(ChoosePlan, WhatIsAskedForIsTaken) {
  const auto lengths = power_law(1 << 16);
  for (const KernelKind asked : {KernelKind::csr, KernelKind::tile_composite}) {
    const SpmvPlan plan = plan_for(asked, lengths, lengths);
    EXPECT_EQ(plan.kernel, asked);
    EXPECT_THAT(plan.reason, HasSubstr("asked for"));
    EXPECT_THAT(plan.reason, HasSubstr(to_string(asked)));
  }
}

TEST(ChoosePlan, CountsTheTilesThatTheOrderMakes) {
  for (const auto& lengths : {power_law(1 << 18), power_law(70000), std::vector<std::uint64_t>(200000, 2),
                              std::vector<std::uint64_t>(200000, 1), std::vector<std::uint64_t>(10, 0)}) {
    const ColumnOrder order = order_columns_by_length(lengths, kLimits.tile_columns);
    const auto dense =
        std::count_if(order.tiles.begin(), order.tiles.end(), [](const Tile& t) { return !t.wide; });
    EXPECT_EQ(plan_for(KernelKind::automatic, lengths, lengths).num_dense_tiles,
              static_cast<std::uint64_t>(dense));
  }
}

TEST(ChoosePlan, CountsNoMoreTilesThanTheBackendWants) {
  TilingLimits limits = kLimits;
  limits.max_dense_tiles = 2;
  for (const auto& lengths : {power_law(1 << 18), power_law(70000), power_law(1000)}) {
    const ColumnOrder order = order_columns_by_length(lengths, limits.tile_columns, limits.max_dense_tiles);
    const auto dense =
        std::count_if(order.tiles.begin(), order.tiles.end(), [](const Tile& t) { return !t.wide; });
    const SpmvPlan plan = choose_plan(KernelKind::automatic, lengths, lengths, limits, default_perf_table());
    EXPECT_EQ(plan.num_dense_tiles, static_cast<std::uint64_t>(dense));
    EXPECT_LE(plan.num_dense_tiles, 2u);
  }
}

TEST(ChoosePlan, MoreWorkTakesLonger) {
  std::vector<std::uint64_t> lengths = power_law(1 << 16);
  const SpmvPlan once = plan_for(KernelKind::automatic, lengths, lengths);
  for (std::uint64_t& length : lengths) length *= 3;
  const SpmvPlan thrice = plan_for(KernelKind::automatic, lengths, lengths);
  EXPECT_GT(thrice.predicted_tile_seconds, once.predicted_tile_seconds);
  EXPECT_GT(thrice.predicted_csr_seconds, once.predicted_csr_seconds);
}

TEST(ChoosePlan, AnEmptyMatrixHasAPlan) {
  EXPECT_EQ(plan_for(KernelKind::automatic, {}, {}).kernel, KernelKind::csr);
  const SpmvPlan plan = plan_for(KernelKind::automatic, {0, 0}, {0, 0});
  EXPECT_EQ(plan.predicted_tile_seconds, 0);
  EXPECT_EQ(plan.num_dense_tiles, 0u);
}

}  // namespace
}  // namespace tessera::test
