// Predictions for GPUs: they move with the work, and the plan follows them.
#include "engine/device_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/graph_stats.hpp"
#include "engine/order_choice.hpp"
#include "engine/spmv_plan.hpp"
#include "engine/tile_messages_builder.hpp"
#include "engine/vertex_distribution.hpp"

namespace tessera {
namespace {

constexpr DeviceWork kWork{.num_rows = 1e6, .num_columns = 1e6, .num_nonzeros = 1e8, .num_messages = 1e7};
constexpr TilingLimits kGpuLimits{.tile_columns = 1023,
                                  .warp_width = 32,
                                  .bins = {.most_messages = 1023},
                                  .value_bytes = 4,
                                  .prefers_messages = true};

double messages_seconds(const DeviceWork& work) {
  return predict_tiles_seconds(work, default_device_rates()) +
         predict_bins_seconds(work, default_device_rates());
}

double csr_seconds(const DeviceWork& work) {
  return predict_device_csr_seconds(work, default_device_rates());
}

TEST(DeviceModel, MoreOfAnythingCostsMore) {
  for (double DeviceWork::*part :
       {&DeviceWork::num_rows, &DeviceWork::num_nonzeros, &DeviceWork::num_messages}) {
    DeviceWork more = kWork;
    more.*part *= 2;
    EXPECT_GT(messages_seconds(more), messages_seconds(kWork));
    EXPECT_GT(predict_messages_bytes(more), predict_messages_bytes(kWork));
  }
  for (double DeviceWork::*part : {&DeviceWork::num_cells, &DeviceWork::longest_row}) {
    DeviceWork more = kWork;
    more.*part += 100;
    EXPECT_GT(messages_seconds(more), messages_seconds(kWork));
  }
  DeviceWork weighted = kWork;
  weighted.weighted = true;
  EXPECT_GT(messages_seconds(weighted), messages_seconds(kWork));
  EXPECT_GT(csr_seconds(weighted), csr_seconds(kWork));
  EXPECT_GT(predict_messages_bytes(weighted), predict_messages_bytes(kWork));
  EXPECT_GT(predict_device_csr_bytes(weighted), predict_device_csr_bytes(kWork));
}

/// Each a number of its own.
DeviceRates rates_apart() {
  DeviceRates rates;
  rates.tiles = {1, 0.5, 2, 4, 3, 8, 5, 6, 97};
  rates.bins = {7, 11, 12, 13};
  rates.csr = {17, 1e3, 41, 43, 37, 19, 23, 29, 31, 47};
  return rates;
}
constexpr DeviceWork kSmallWork{.num_rows = 10,
                                .num_columns = 10,
                                .num_nonzeros = 100,
                                .num_adjacent = 10,
                                .num_near = 30,
                                .num_messages = 40,
                                .num_cells = 7,
                                .longest_row = 31,
                                .value_bytes = 8,
                                .weighted = false};

TEST(DeviceModel, PartsAreRatesTimesWork) {
  const DeviceRates rates = rates_apart();
  const DeviceWork work = kSmallWork;
  EXPECT_DOUBLE_EQ(predict_tiles_seconds(work, rates),
                   1 + 0.5 * 5 + 4 * 100 + 5 * 40 * 8 + 6 * 10 * 8 + 97 * 7);
  EXPECT_DOUBLE_EQ(predict_bins_seconds(work, rates), 7 + 11 * 40 * 8 + 12 * 40 + 13 * 10);
  // a row of 31 elements is five doublings; 256 elements a multiprocessor are a first block; 10 columns lie
  // in the cache; a row counts as 18 bytes, an adjacent or near input of f64 as two; rows of ten are waited
  // for as long as for one of 31
  EXPECT_DOUBLE_EQ(predict_device_csr_seconds(work, rates), 17 + 1e3 * 100 / (132 * 256) + 41 * 5 + 37 * 20 +
                                                                19 * 60 + 23 * 60 + 31 * (4 * 100 + 18 * 10) +
                                                                47 * 100 * (1 - 10 / 31.0));
}

TEST(DeviceModel, PartsWithValuesAndCutRowsAreRatesTimesWork) {
  const DeviceRates rates = rates_apart();
  DeviceWork work = kSmallWork;
  work.weighted = true;
  work.longest_row = 5000;  // cut, from 1,024 elements on
  const double cut = 1e3 * 100 / (132 * 256) + 41 * std::log2(1025) + 43;
  const double uneven = 47 * 100 * (1 - 10 / 64.0);  // longer ones are not added by a thread
  work.num_columns = 1e7;                            // half of 80 MB lie there
  // with values a lane sums up to 128 elements of a row
  const double rows = 1 + 0.5 * std::log2(1025) + 8 * 128;
  EXPECT_DOUBLE_EQ(predict_tiles_seconds(work, rates),
                   rows + 4 * 100 + 3 * 800 + 5 * 40 * 8 + 6 * 8e7 + 97 * 7);
  EXPECT_DOUBLE_EQ(predict_device_csr_seconds(work, rates),
                   17 + cut + 37 * 15 + 19 * 45 + (23 + 29) * 30 + 31 * (4 * 100 + 800 + 18 * 10) + uneven);
  work.value_bytes = 4;
  EXPECT_DOUBLE_EQ(predict_tiles_seconds(work, rates),
                   rows + 2 * 100 + 3 * 400 + 5 * 40 * 4 + 6 * 4e7 + 97 * 7);
  EXPECT_DOUBLE_EQ(predict_device_csr_seconds(work, rates),
                   17 + cut + 37 * 8 + 19 * 24 + 23 * 60 + 31 * (4 * 100 + 400 + 18 * 10) + uneven);
  work.num_nonzeros = 132 * 256 * 4;
  EXPECT_NEAR(predict_device_csr_seconds(work, {.csr = {0, 1e3}}), 1e3, 1e-9);
}

TEST(DeviceModel, ThreadsWaitWhereRowsDiffer) {
  const auto seconds = [](double num_rows, double longest) {
    return predict_device_csr_seconds(
        {.num_rows = num_rows, .num_nonzeros = 1000, .longest_row = longest, .value_bytes = 4},
        {.csr = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1}});
  };
  EXPECT_EQ(seconds(100, 10), 0);
  EXPECT_DOUBLE_EQ(seconds(100, 40), 750);
  EXPECT_DOUBLE_EQ(seconds(500, 8), 1000 * 0.75 / 2);  // rows of two are soon added
  EXPECT_EQ(seconds(10, 1000), 0);                     // eight threads a row
  EXPECT_EQ(seconds(0, 0), 0);
}

TEST(DeviceModel, CellsAreThoseThatMessagesFallInto) {
  const auto cells = [](const std::vector<double>& messages_of_tile, std::uint32_t most) {
    return expected_cells(messages_of_tile, {.most_messages = most});
  };
  EXPECT_EQ(cells({}, 10), 0);
  EXPECT_EQ(cells({7, 0, 3}, 10), 2);  // one bin
  EXPECT_EQ(cells({0.25}, 10), 0.25);  // of a sample
  EXPECT_NEAR(cells({10, 10}, 10), 2 * 2 * (1 - std::pow(0.5, 10)), 1e-12);
  EXPECT_NEAR(cells({1, 1, 1, 1}, 2), 4, 1e-12);  // two bins, a message has one cell
  EXPECT_NEAR(cells({2, 1, 1}, 2), 1.5 + 2, 1e-12);
  EXPECT_NEAR(cells({1e9, 1}, 50000), 20001 + 1, 1e-3);  // a hub's tile reaches all bins
}

TEST(DeviceModel, ThePlanCountsCellsWithTheBinsOfTheMatrix) {
  const std::vector<std::uint64_t> lengths(2046, 10);
  const GraphFindings findings{.pieces_of_tile = {3000, 1}};
  TilingLimits limits = kGpuLimits;
  limits.bin_nonzeros = 30000;  // bins of half the size below
  const auto cells = [&] {
    return choose_plan(KernelKind::automatic, lengths, lengths, limits, default_perf_table(), &findings)
        .predicted_cells;
  };
  EXPECT_NEAR(cells(), 6 + 1, 0.01);  // 3,001 messages, up to 511 a bin
  limits.bin_nonzeros = 0;
  EXPECT_NEAR(cells(), 3 + 1, 0.01);
}

TEST(DeviceModel, GathersCostMoreOnceXLeavesTheCache) {
  DeviceWork wide = kWork;
  wide.num_columns = 2e8;
  EXPECT_GT(csr_seconds(wide), 2 * csr_seconds(kWork));
  EXPECT_LT(messages_seconds(wide) - messages_seconds(kWork), (csr_seconds(wide) - csr_seconds(kWork)) / 2);
}

TEST(DeviceModel, ThePlanNamesThePartsOfItsKernel) {
  const std::vector<std::uint64_t> lengths(1000, 50);
  const PerfTable& table = default_perf_table();
  const SpmvPlan messages = choose_plan(KernelKind::tile_messages, lengths, lengths, kGpuLimits, table);
  ASSERT_EQ(messages.parts.size(), 2u);
  EXPECT_STREQ(messages.parts[0].name, "tiles");
  EXPECT_STREQ(messages.parts[1].name, "bins");
  EXPECT_DOUBLE_EQ(messages.parts[0].seconds + messages.parts[1].seconds, messages.predicted_tile_seconds);
  const SpmvPlan csr = choose_plan(KernelKind::csr, lengths, lengths, kGpuLimits, table);
  ASSERT_EQ(csr.parts.size(), 1u);
  EXPECT_STREQ(csr.parts[0].name, "product");
  EXPECT_EQ(csr.parts[0].seconds, csr.predicted_csr_seconds);
  EXPECT_TRUE(choose_plan(KernelKind::tile_composite, lengths, lengths, kGpuLimits, table).parts.empty());
}

/// Both passes take 2 us, CSR 3, whatever the matrix.
PerfTable table_of_fast_tiles() {
  PerfTable table = default_perf_table();
  table.gpu.tiles = {1e-6};
  table.gpu.bins = {1e-6};
  table.gpu.csr = {3e-6};
  return table;
}

TEST(DeviceModel, ThePlanFollowsTheRatesOfTheGpu) {
  const std::vector<std::uint64_t> lengths(1000, 50);
  PerfTable table = table_of_fast_tiles();
  EXPECT_EQ(choose_plan(KernelKind::automatic, lengths, lengths, kGpuLimits, table).kernel,
            KernelKind::tile_messages);
  // Where there are values tiles must promise 25 %.
  const auto with_values = [&](double csr_seconds) {
    table.gpu.csr[0] = csr_seconds;
    const GraphFindings findings{.pieces_of_tile = {1}, .weighted = true};
    return choose_plan(KernelKind::automatic, lengths, lengths, kGpuLimits, table, &findings);
  };
  EXPECT_EQ(with_values(2.51e-6).kernel, KernelKind::tile_messages);
  const SpmvPlan hardly = with_values(2.49e-6);
  EXPECT_EQ(hardly.kernel, KernelKind::csr);
  EXPECT_NE(hardly.reason.find("gain less than 25 %"), std::string::npos) << hardly.reason;
  table.gpu.csr[0] = 2.01e-6;
  EXPECT_EQ(choose_plan(KernelKind::automatic, lengths, lengths, kGpuLimits, table).kernel,
            KernelKind::tile_messages);
}

TEST(DeviceModel, StepsThatMayRunByThemselvesAreOfCsr) {
  const std::vector<std::uint64_t> lengths(1000, 50);
  PerfTable table = table_of_fast_tiles();
  TilingLimits limits = kGpuLimits;
  limits.run_rows = lengths.size();
  limits.run_longest_row = 100;
  const auto plan = [&](EdgeOffset run_nonzeros, KernelKind asked = KernelKind::automatic) {
    limits.run_nonzeros = run_nonzeros;
    return choose_plan(asked, lengths, lengths, limits, table);
  };
  EXPECT_EQ(plan(49999).kernel, KernelKind::tile_messages);
  const SpmvPlan runs = plan(50000);
  EXPECT_EQ(runs.kernel, KernelKind::csr);
  EXPECT_EQ(runs.order, ColumnOrderKind::original);
  EXPECT_NE(runs.reason.find("many steps at once"), std::string::npos) << runs.reason;
  EXPECT_EQ(plan(50000, KernelKind::tile_messages).kernel, KernelKind::tile_messages);
  // Blocks of vectors go step by step, as do more rows and longer ones, of either side. Where CSR is faster
  // in any case that is the reason.
  table.gpu.block = {1};
  const SpmvPlan block = choose_plan(KernelKind::automatic, lengths, lengths, limits, table, nullptr, 4);
  EXPECT_EQ(block.kernel, KernelKind::tile_messages) << block.reason;
  --limits.run_rows;
  EXPECT_EQ(plan(50000).kernel, KernelKind::tile_messages);
  ++limits.run_rows;
  std::vector<std::uint64_t> longer(1000, 49);
  const auto kernel = [&](std::uint64_t longest, bool of_rows) {
    longer[3] = longest;
    return choose_plan(KernelKind::automatic, of_rows ? longer : lengths, of_rows ? lengths : longer, limits,
                       table)
        .kernel;
  };
  for (const bool of_rows : {true, false}) {
    EXPECT_EQ(kernel(100, of_rows), KernelKind::csr);
    EXPECT_EQ(kernel(101, of_rows), KernelKind::tile_messages);
  }
  longer[3] = 51;
  EXPECT_EQ(choose_plan(KernelKind::automatic, longer, longer, limits, table).kernel,
            KernelKind::tile_messages);
  table.gpu.csr = {1e-6};
  EXPECT_EQ(plan(50000).reason.find("many steps at once"), std::string::npos);
}

TEST(DeviceModel, NeighboursThatGatherTheSameSpeakForCsr) {
  const std::vector<std::uint64_t> lengths(1 << 20, 10);
  PerfTable table = default_perf_table();
  table.gpu.csr = {0, 0, 0, 0, 1e-13, 5e-13, 1e-11, 1e-11, 0};
  const auto kernel = [&](const GraphFindings& findings) {
    return choose_plan(KernelKind::automatic, lengths, lengths, kGpuLimits, table, &findings).kernel;
  };
  const double all = 10 << 20;
  EXPECT_EQ(kernel({.pieces_of_tile = {1e6}}), KernelKind::tile_messages);
  EXPECT_EQ(kernel({.pieces_of_tile = {1e6}, .num_adjacent = all}), KernelKind::csr);
  EXPECT_EQ(kernel({.pieces_of_tile = {1e6}, .num_near = all}), KernelKind::csr);
}

TEST(DeviceModel, BlocksAreRatesTimesWork) {
  DeviceRates rates;
  rates.block = {17, 18, 19, 23, 27, 29};
  DeviceWork work{.num_rows = 10, .num_columns = 10, .num_nonzeros = 100, .longest_row = 64};
  // a quarter of a chunk; 8 bytes an element of x, 16 a row of y
  EXPECT_DOUBLE_EQ(predict_csr_block_seconds(work, 2, rates),
                   17 + 18 / 4.0 + 19 * 100 + 23 * 800 + 29 * (4 * 100 + 10 * 10 + 16 * 10));
  work.longest_row = 1000;
  work.num_columns = 1e7;  // half of 80 MB lie in the cache
  EXPECT_DOUBLE_EQ(predict_csr_block_seconds(work, 2, rates),
                   17 + 18 + 19 * 100 + (23 + 27) * 400 + 29 * (4 * 100 + 10 * 10 + 16 * 10));
  work.num_columns = 10;  // 25 vectors are padded to 32, and rows added up in fours
  EXPECT_DOUBLE_EQ(predict_csr_block_seconds(work, 25, rates),
                   17 + 18 + 23 * 12800 + 29 * (4 * 100 + 10 * 10 + 256 * 10));
  work.value_bytes = 8;
  EXPECT_DOUBLE_EQ(predict_csr_block_seconds(work, 25, rates),
                   17 + 18 + 19 * 100 + 23 * 20000 + 29 * (4 * 100 + 10 * 10 + 200 * 10));
}

TEST(DeviceModel, ManyVectorsTakeRowsOfXWhereFewTakeTiles) {
  std::vector<std::uint64_t> lengths(1 << 20);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1 + 400000 / (i + 1);
  const PerfTable table = default_perf_table();
  const GraphFindings findings{.order = ColumnOrderKind::as_given, .pieces_of_tile = {3e6}};
  const auto plan = [&](unsigned num_vectors) {
    return choose_plan(KernelKind::automatic, lengths, lengths, kGpuLimits, table, &findings, num_vectors);
  };
  const SpmvPlan one = plan(1), few = plan(2);
  EXPECT_EQ(one.kernel, KernelKind::tile_messages);
  EXPECT_EQ(few.kernel, KernelKind::tile_messages);
  EXPECT_DOUBLE_EQ(few.predicted_tile_seconds, 2 * one.predicted_tile_seconds);  // one by one
  EXPECT_EQ(few.parts.size(), 2u);
  const SpmvPlan block = plan(100);
  EXPECT_EQ(block.kernel, KernelKind::csr);
  EXPECT_EQ(block.order, ColumnOrderKind::as_given);
  EXPECT_TRUE(block.parts.empty());
  EXPECT_LT(block.predicted_csr_seconds, block.predicted_tile_seconds);
}

TEST(DeviceModel, TilesOfSeveralVectorsMustPromiseATenth) {
  const std::vector<std::uint64_t> lengths(100, 2);
  const GraphFindings findings{.order = ColumnOrderKind::as_given, .pieces_of_tile = {100}};
  PerfTable table = default_perf_table();
  table.gpu = {};
  table.gpu.tiles[0] = 1;  // a launch
  const auto kernel = [&](double block_seconds) {
    table.gpu.block[0] = block_seconds;
    return choose_plan(KernelKind::automatic, lengths, lengths, kGpuLimits, table, &findings, 4).kernel;
  };
  EXPECT_EQ(kernel(4 * 1.09), KernelKind::csr);
  EXPECT_EQ(kernel(4 * 1.11), KernelKind::tile_messages);
}

TEST(DeviceModel, ThePlanTilesALargePowerLawAndLeavesASmallGraphAlone) {
  std::vector<std::uint64_t> lengths(1 << 20);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1 + 400000 / (i + 1);
  const PerfTable table = default_perf_table();
  TilingLimits limits = kGpuLimits;  // tiles and bins as large as a GPU has them: small ones cost more
  limits.tile_columns = limits.bins.most_messages = 40959;
  EXPECT_EQ(choose_plan(KernelKind::automatic, lengths, lengths, limits, table).kernel,
            KernelKind::tile_messages);
  const std::vector<std::uint64_t> small(100, 3);
  EXPECT_EQ(choose_plan(KernelKind::automatic, small, small, limits, table).kernel, KernelKind::csr);
}

/// Non-empty (tile, bin) pairs.
std::size_t count_cells(const TileMessages<float>& form) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> cells;
  const auto bins = form.bins.windows.span().first(form.bins.num_windows());
  for (std::uint64_t t = 0; t < form.tiles.num_windows(); ++t)
    for (std::uint64_t i = form.tiles.windows[t].first_slice; i < form.tiles.windows[t + 1].first_slice;
         ++i) {
      const auto behind =
          std::upper_bound(bins.begin(), bins.end(), form.tiles.slices[i].first_out,
                           [](std::uint64_t message, const Window& bin) { return message < bin.first_in; });
      cells.emplace(t, behind - bins.begin());
    }
  return cells.size();
}

TEST(DeviceModel, PredictedMessagesAndCellsAreNearThoseOfAnRmatGraph) {
  const auto comm = make_single_rank();
  const Graph graph = build_graph(generate_edges({.scale = 14}, *comm), {}, *comm);
  const auto rows = in_degrees(graph, *comm), columns = out_degrees(graph, *comm);
  const SpmvPlan plan =
      choose_plan(KernelKind::tile_messages, rows, columns, kGpuLimits, default_perf_table());
  const ColumnOrder order =
      order_columns_by_length(columns, kGpuLimits.tile_columns, ~std::uint32_t{0}, Remainder::narrow);
  const VertexDistribution all = distribute_vertices(rows, order, 1);
  const auto form = build_tile_messages<float>(graph.in_edges(), all.of_rank(0), order, kGpuLimits.bins);
  EXPECT_EQ(plan.num_dense_tiles, order.tiles.size());
  EXPECT_NEAR(plan.predicted_messages, static_cast<double>(form.stats.num_row_pieces),
              0.25 * static_cast<double>(form.stats.num_row_pieces));
  // Counted in the graph, by few messages a cell.
  TilingLimits limits = kGpuLimits;
  limits.tile_columns = 127;
  limits.bins.most_messages = 150;
  const SpmvPlan counted = plan_for_graph(graph, KernelKind::tile_messages, OrderRequest::by_length, rows,
                                          columns, limits, default_perf_table(), *comm);
  const ColumnOrder narrow =
      order_columns_by_length(columns, limits.tile_columns, ~std::uint32_t{0}, Remainder::narrow);
  const auto cells = static_cast<double>(count_cells(build_tile_messages<float>(
      graph.in_edges(), distribute_vertices(rows, narrow, 1).of_rank(0), narrow, limits.bins)));
  EXPECT_LT(cells, 0.7 * static_cast<double>(narrow.tiles.size()) * counted.predicted_messages / 150);
  EXPECT_NEAR(counted.predicted_cells, cells, 0.1 * cells);
}

}  // namespace
}  // namespace tessera
