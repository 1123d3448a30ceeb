// Plans of buckets: coverage, limits, and positions beyond 32 bits without the memory for them.
#include "engine/edge_buckets.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(BucketPlan, CoversAllRowsAndEdgesOnce) {
  const std::vector<EdgeOffset> bins = {30000, 30000, 0, 100000, 5, 7};
  const BucketPlan plan = plan_buckets(bins, 4, 90);
  EXPECT_EQ(plan.first_row.front(), 0u);
  EXPECT_EQ(plan.first_row.back(), 90u);
  EXPECT_EQ(plan.first_edge.back(), 160012u);
  ASSERT_EQ(plan.bucket_of_bin.size(), bins.size());
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    const std::uint64_t bucket = plan.bucket_of_bin[bin];
    EXPECT_LE(plan.first_row[bucket], bin << 4);
    EXPECT_GE(plan.first_row[bucket + 1], std::min<std::uint64_t>(90, (bin + 1) << 4));
  }
  EXPECT_GT(plan.num_buckets(), 2u);
  EXPECT_EQ(plan.largest(), 100000u);
}

TEST(BucketPlan, PositionsBeyond32BitsAreExact) {
  constexpr EdgeOffset kHuge = (EdgeOffset{1} << 33) + 3;
  const BucketPlan plan = plan_buckets(std::vector<EdgeOffset>{kHuge, kHuge, 1}, 10, 3000);
  EXPECT_EQ(plan.first_edge.back(), 2 * kHuge + 1);
  EXPECT_EQ(plan.first_edge[1], kHuge);
  EXPECT_EQ(plan.largest() >= kHuge, true);
  // The address of an entry is computed in 64 bits, too.
  EdgeBuckets<false> buckets;
  buckets.plan = plan;
  buckets.memory = std::make_unique<PageMemory>(64);
  const auto base = reinterpret_cast<std::uintptr_t>(buckets.entries(0));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buckets.entries(1)) - base, kHuge * sizeof(PackedEdge));
}

TEST(BucketPlan, RowsOfABucketFit16Bits) {
  const std::uint64_t rows = std::uint64_t{1} << 32;
  const int shift = choose_bin_shift(rows, 100);
  const BucketPlan plan = plan_buckets(std::vector<EdgeOffset>(((rows - 1) >> shift) + 1, 0), shift, rows);
  for (std::uint64_t b = 0; b < plan.num_buckets(); ++b)
    ASSERT_LE(plan.first_row[b + 1] - plan.first_row[b], kMaxRowsPerBucket);
  EXPECT_EQ(plan.first_row.back(), rows);
}

TEST(BlockBoundaries, AreEvenForTheLargestGraph) {
  const auto boundaries = block_boundaries(kMaxVertices, 7);
  EXPECT_EQ(boundaries.front(), 0u);
  EXPECT_EQ(boundaries.back(), kMaxVertices);
  for (int r = 0; r < 7; ++r) {
    const std::uint64_t size = boundaries[r + 1] - boundaries[r];
    EXPECT_LE(size - kMaxVertices / 7, 1u);
  }
}

TEST(BlockBoundaries, MoreRanksThanVerticesGiveEmptyBlocks) {
  EXPECT_EQ(block_boundaries(2, 4), (std::vector<std::uint64_t>{0, 0, 1, 1, 2}));
}

}  // namespace
}  // namespace tessera
