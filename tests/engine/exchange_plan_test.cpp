// Where the inputs of all ranks land: each in its slot, or in the part of x where its tile is looked for.
#include "engine/exchange_plan.hpp"

#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera {
namespace {

using test::random_matrix;

struct Inputs {
  ColumnOrder columns;
  VertexDistribution distribution;
};
Inputs inputs_of(std::uint64_t size, int num_ranks) {
  const auto lengths = random_matrix(3, size, size, 2, false).column_lengths();
  Inputs inputs{order_columns_by_length(lengths, 50, ~0u, Remainder::narrow), {}};
  inputs.distribution = distribute_vertices(lengths, inputs.columns, num_ranks);
  return inputs;
}

class ExchangePlanTest : public testing::TestWithParam<int> {};

TEST_P(ExchangePlanTest, EveryValueGoesToItsSlotAndLeftoversBehindX) {
  for (const std::uint64_t size : {3u, 400u}) {
    const auto [columns, distribution] = inputs_of(size, GetParam());
    const ExchangePlan plan = plan_exchange(distribution, columns, 0);
    ASSERT_EQ(plan.slots.size(), plan.num_received());
    for (int r = 0; r < plan.num_ranks; ++r)
      for (std::uint64_t i = 0; i < plan.count; ++i) {
        const VertexId expected = i < distribution.with_slot[r]
                                      ? columns.slot_of_column[distribution.of_rank(r)[i]]
                                      : static_cast<VertexId>(columns.num_slots);
        EXPECT_EQ(plan.slots[r * plan.count + i], expected);
      }
    for (int r = 0; r < plan.num_ranks; ++r) {
      const ExchangePlan its = plan_exchange(distribution, columns, r);
      for (std::uint64_t i = 0; i < its.num_mine; ++i)
        EXPECT_EQ(its.place_in_x(i), columns.slot_of_column[distribution.of_rank(r)[i]]);
    }
  }
}

/// What arrives when every rank sends the ids of its inputs; kNoVertex where nothing was put.
std::vector<VertexId> arrived(const Inputs& inputs, std::span<const double> chunk_shares, int num_ranks) {
  std::vector<VertexId> x;
  for (int r = 0; r < num_ranks; ++r) {
    const ExchangePlan plan = plan_tile_exchange(inputs.distribution, inputs.columns, r, chunk_shares).plan;
    x.resize(plan.num_received(), kNoVertex);
    std::vector<VertexId> sent(plan.count, kNoVertex);
    for (std::uint64_t i = 0; i < plan.num_mine; ++i)
      sent.at(plan.positions.at(i)) = inputs.distribution.of_rank(r)[i];
    for (std::size_t c = 0; c < plan.chunk_ends.size(); ++c) {
      const std::uint64_t begin = plan.begin_of(c), length = plan.chunk_ends[c] - begin;
      for (std::uint64_t i = 0; i < length; ++i) x.at(begin * num_ranks + r * length + i) = sent[begin + i];
    }
    for (std::uint64_t i = 0; i < plan.num_mine; ++i)
      EXPECT_EQ(x.at(plan.place_in_x(i)), inputs.distribution.of_rank(r)[i]);
  }
  return x;
}

TEST_P(ExchangePlanTest, TilesFindTheirColumnsInWhatArrives) {
  constexpr double kWhole[] = {1}, kThree[] = {0.1, 0.5, 1};
  const int num_ranks = GetParam();
  for (const std::uint64_t size : {3u, 400u})
    for (const std::span<const double> shares :
         {std::span<const double>(kWhole), std::span<const double>(kThree)}) {
      const Inputs inputs = inputs_of(size, num_ranks);
      const std::vector<VertexId> x = arrived(inputs, shares, num_ranks);
      const TileExchange found = plan_tile_exchange(inputs.distribution, inputs.columns, 0, shares);
      std::vector<Window> windows;
      for (const Tile& tile : found.columns.tiles)
        windows.push_back({.size = static_cast<std::uint32_t>(tile.num_columns)});
      const SlicePassView<float> pass{.windows = windows.data(),
                                      .parts = found.parts.data(),
                                      .num_parts = static_cast<std::uint32_t>(num_ranks)};
      for (VertexId v = 0; v < size; ++v) {
        const VertexId slot = found.columns.slot_of_column[v], old_slot = inputs.columns.slot_of_column[v];
        ASSERT_EQ(slot == kNoVertex, old_slot == kNoVertex);
        if (slot == kNoVertex) continue;
        std::size_t tile = 0;
        while (slot >= found.columns.tiles[tile].first_slot + found.columns.tiles[tile].num_columns) ++tile;
        const Tile& old_tile = inputs.columns.tiles[tile];
        EXPECT_TRUE(old_slot >= old_tile.first_slot && old_slot < old_tile.first_slot + old_tile.num_columns);
        const std::uint64_t at =
            input_index(pass, tile, static_cast<std::uint32_t>(slot - found.columns.tiles[tile].first_slot));
        EXPECT_EQ(x.at(at), v);
        for (std::size_t c = 0; c < shares.size(); ++c)
          EXPECT_TRUE(tile >= found.plan.tile_ends[c] || at < found.plan.chunk_ends[c] * num_ranks);
      }
      EXPECT_EQ(found.plan.tile_ends.back(), found.columns.tiles.size());
    }
}

/// Tiles as wide as they may be: each rank's part of one begins at a multiple of 4.
TEST(ExchangePlan, WholeTilesHaveRoomForHundredsOfRanks) {
  const std::vector<std::uint64_t> lengths(2 * kMostMessageColumns + 5, 1);
  const ColumnOrder columns = order_columns_by_length(lengths, 65535, ~0u, Remainder::narrow);
  ASSERT_EQ(columns.tiles.size(), 3u);
  const auto plan = [&](int num_ranks) {
    return plan_tile_exchange(distribute_vertices(lengths, columns, num_ranks), columns, 0,
                              std::vector<double>{1});
  };
  for (const int num_ranks : {2, 3, 8, 341})
    for (const Tile& tile : plan(num_ranks).columns.tiles) EXPECT_LE(tile.num_columns, 65535u) << num_ranks;
  EXPECT_THROW((void)plan(1000), ResourceError);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExchangePlanTest, testing::Values(1, 2, 3, 7));

}  // namespace
}  // namespace tessera
