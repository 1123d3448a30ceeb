// Predictions for GPUs: they move with the work, and the plan follows them.
#include "engine/device_model.hpp"

#include <gtest/gtest.h>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/graph_stats.hpp"
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

TEST(DeviceModel, MoreOfAnythingCostsMore) {
  for (double DeviceWork::*part :
       {&DeviceWork::num_rows, &DeviceWork::num_nonzeros, &DeviceWork::num_messages}) {
    DeviceWork more = kWork;
    more.*part *= 2;
    EXPECT_GT(predict_messages_seconds(more), predict_messages_seconds(kWork));
    EXPECT_GT(predict_messages_bytes(more), predict_messages_bytes(kWork));
  }
  DeviceWork weighted = kWork;
  weighted.weighted = true;
  EXPECT_GT(predict_messages_bytes(weighted), predict_messages_bytes(kWork));
  EXPECT_GT(predict_device_csr_bytes(weighted), predict_device_csr_bytes(kWork));
}

TEST(DeviceModel, GathersCostMoreOnceXLeavesTheCache) {
  DeviceWork wide = kWork;
  wide.num_columns = 1e9;
  EXPECT_GT(predict_device_csr_seconds(wide), 2 * predict_device_csr_seconds(kWork));
  EXPECT_EQ(predict_messages_seconds(wide), predict_messages_seconds(kWork));
}

TEST(DeviceModel, ThePlanTilesALargePowerLawAndLeavesASmallGraphAlone) {
  std::vector<std::uint64_t> lengths(1 << 20);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = 1 + 400000 / (i + 1);
  const PerfTable table = default_perf_table();
  EXPECT_EQ(choose_plan(KernelKind::automatic, lengths, lengths, kGpuLimits, table).kernel,
            KernelKind::tile_messages);
  const std::vector<std::uint64_t> small(100, 3);
  EXPECT_EQ(choose_plan(KernelKind::automatic, small, small, kGpuLimits, table).kernel, KernelKind::csr);
  const std::vector<std::uint64_t> few_long(100, 300);  // CSR needs a second launch
  EXPECT_EQ(choose_plan(KernelKind::automatic, few_long, few_long, kGpuLimits, table).kernel,
            KernelKind::tile_messages);
}

TEST(DeviceModel, PredictedMessagesAreNearThoseOfAnRmatGraph) {
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
}

}  // namespace
}  // namespace tessera
