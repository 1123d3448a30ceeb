// Where the inputs of all ranks land: each slot once, chunk by chunk, and what is ready after each chunk.
#include "engine/exchange_plan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/random_matrix.hpp"

namespace tessera {
namespace {

using test::random_matrix;

constexpr double kWhole[] = {1};
constexpr double kThree[] = {0.1, 0.5, 1};

class ExchangePlanTest : public testing::TestWithParam<int> {};

TEST_P(ExchangePlanTest, EverySlotArrivesOnceAndReadySlotsHaveArrived) {
  const int num_ranks = GetParam();
  for (const std::uint64_t size : {3u, 400u}) {
    const auto a = random_matrix(3, size, size, 2, false);
    const auto lengths = a.column_lengths();
    const ColumnOrder columns = order_columns_by_length(lengths, 50, ~0u, Remainder::narrow);
    const VertexDistribution inputs = distribute_vertices(lengths, columns, num_ranks);
    for (const std::span<const double> shares :
         {std::span<const double>(kWhole), std::span<const double>(kThree)}) {
      const ExchangePlan plan = plan_exchange(inputs, columns, 0, shares);
      ASSERT_EQ(plan.slots.size(), plan.count * static_cast<std::uint64_t>(num_ranks));
      ASSERT_EQ(plan.chunk_ends.back(), plan.count);
      std::set<VertexId> arrived;
      for (std::size_t c = 0; c < shares.size(); ++c) {
        const std::uint64_t begin = plan.begin_of(c), width = plan.chunk_ends[c] - begin;
        for (int r = 0; r < num_ranks; ++r)
          for (std::uint64_t i = 0; i < width; ++i) {
            const VertexId slot = plan.slots[begin * num_ranks + r * width + i];
            const std::uint64_t position = begin + i;
            if (position >= inputs.with_slot[r]) {
              EXPECT_EQ(slot, columns.num_slots);
              continue;
            }
            EXPECT_EQ(slot, columns.slot_of_column[inputs.of_rank(r)[position]]);
            EXPECT_TRUE(arrived.insert(slot).second);
          }
        for (const VertexId slot : columns.slot_of_column) {
          const bool is_ready = slot != kNoVertex && slot < plan.ready_slots[c];
          EXPECT_TRUE(!is_ready || arrived.contains(slot)) << slot;
        }
      }
      EXPECT_EQ(plan.ready_slots.back(), columns.num_slots);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExchangePlanTest, testing::Values(1, 2, 3, 7));

}  // namespace
}  // namespace tessera
