#include "engine/vertex_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

namespace tessera {
namespace {

class VertexDistributionRanks : public testing::TestWithParam<int> {};

TEST_P(VertexDistributionRanks, GivesEveryVertexToOneRankInSlotOrder) {
  std::mt19937 engine(7);
  std::vector<std::uint64_t> rows(500), columns(500);
  for (auto& length : rows) length = engine() % 40;
  for (auto& length : columns) length = engine() % 8;
  const ColumnOrder order = order_columns_by_length(columns, 32);

  const VertexDistribution d = distribute_vertices(rows, order, GetParam());

  std::vector<VertexId> all(d.vertices.begin(), d.vertices.end());
  std::sort(all.begin(), all.end());
  std::vector<VertexId> expected(500);
  std::iota(expected.begin(), expected.end(), VertexId{0});
  EXPECT_EQ(all, expected);
  for (int r = 0; r < GetParam(); ++r) {
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
}

INSTANTIATE_TEST_SUITE_P(Ranks, VertexDistributionRanks, testing::Values(1, 2, 3, 7, 600));

}  // namespace
}  // namespace tessera
