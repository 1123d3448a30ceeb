#include "engine/vertex_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include "engine/spmv_plan.hpp"

namespace tessera {
namespace {

/// Every vertex has one rank, which has its vertices by slot.
void expect_in_slot_order(const std::vector<std::uint64_t>& rows, const ColumnOrder& order, int num_ranks) {
  SCOPED_TRACE(to_string(order.kind));
  const VertexDistribution d = distribute_vertices(rows, order, num_ranks);
  std::vector<VertexId> all(d.vertices.begin(), d.vertices.end());
  std::sort(all.begin(), all.end());
  std::vector<VertexId> expected(500);
  std::iota(expected.begin(), expected.end(), VertexId{0});
  EXPECT_EQ(all, expected);
  for (int r = 0; r < num_ranks; ++r) {
    const auto mine = d.of_rank(r);
    const auto place = [&](VertexId v) {
      const VertexId slot = order.slot_of_column[v];
      return std::tuple(slot, slot == kNoVertex && rows[v] == 0, v);
    };
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end(),
                               [&](VertexId a, VertexId b) { return place(a) < place(b); }));
    const auto connected = std::count_if(mine.begin(), mine.end(), [&](VertexId v) {
      return order.slot_of_column[v] != kNoVertex || rows[v] > 0;
    });
    EXPECT_EQ(static_cast<std::uint64_t>(connected), d.connected[r]);
    const auto slots = std::count_if(mine.begin(), mine.end(),
                                     [&](VertexId v) { return order.slot_of_column[v] != kNoVertex; });
    EXPECT_EQ(static_cast<std::uint64_t>(slots), d.with_slot[r]);
  }
  // Where all are one rank's, slots follow from the local order alone.
  for (std::uint64_t i = 0; num_ranks == 1 && i < d.with_slot[0]; ++i)
    EXPECT_EQ(order.slots().slot_of(static_cast<VertexId>(i)), order.slot_of_column[d.vertices[i]]);
}

class VertexDistributionRanks : public testing::TestWithParam<int> {};

TEST_P(VertexDistributionRanks, GivesEveryVertexToOneRankInSlotOrder) {
  std::mt19937 engine(7);
  std::vector<std::uint64_t> rows(500), columns(500);
  for (auto& length : rows) length = engine() % 40;
  for (auto& length : columns) length = engine() % 8;
  const ColumnOrder orders[] = {order_columns_by_length(columns, 32), order_columns_by_length(columns, 32, 2),
                                order_columns_as_given(columns, 32), original_column_order(500)};
  for (const ColumnOrder& order : orders) expect_in_slot_order(rows, order, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Ranks, VertexDistributionRanks, testing::Values(1, 2, 3, 7, 600));

}  // namespace
}  // namespace tessera
