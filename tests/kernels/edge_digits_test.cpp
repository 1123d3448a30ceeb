// What digits edges are sorted by: what every choice keeps to, for all sizes that are sorted so.
#include "kernels/cuda/edge_digits.hpp"

#include <gtest/gtest.h>

namespace tessera::cuda {
namespace {

constexpr unsigned kMostIdBits = 26;

TEST(EdgeDigits, FitsUpTo2To26Vertices) {
  EXPECT_TRUE(EdgeDigits::fit(0));
  EXPECT_TRUE(EdgeDigits::fit(std::uint64_t{1} << kMostIdBits));
  EXPECT_FALSE(EdgeDigits::fit((std::uint64_t{1} << kMostIdBits) + 1));
}

TEST(EdgeDigits, KeepsToWhatKernelsTake) {
  for (unsigned bits = 0; bits <= kMostIdBits; ++bits)
    for (unsigned edge_bits = 0; edge_bits <= 32; ++edge_bits) {
      const std::uint64_t num_edges = edge_bits == 32 ? 0xfffffffeu : std::uint64_t{1} << edge_bits;
      const EdgeDigits digits = EdgeDigits::of(std::uint64_t{1} << bits, num_edges);
      ASSERT_EQ(digits.id_bits, bits);
      ASSERT_EQ(digits.first_bits + digits.second_bits + digits.low_bits, bits) << edge_bits;
      ASSERT_LE(digits.key_bits(), 32u) << bits << ", " << edge_bits;
      ASSERT_LE(digits.low_bits, EdgeDigits::kMostLowBits) << bits << ", " << edge_bits;
      ASSERT_LE(digits.num_first_bins(), 1024u) << bits << ", " << edge_bits;
      ASSERT_LE(digits.num_second_bins(), digits.in_one_step() ? 4096u : 1024u) << bits << ", " << edge_bits;
    }
}

TEST(EdgeDigits, KnowsTheBitsOfTheLastVertex) {
  EXPECT_EQ(EdgeDigits::of(1, 10).id_bits, 0u);
  EXPECT_EQ(EdgeDigits::of(2, 10).id_bits, 1u);
  EXPECT_EQ(EdgeDigits::of(3, 10).id_bits, 2u);
  EXPECT_EQ(EdgeDigits::of(4, 10).id_bits, 2u);
  EXPECT_EQ(EdgeDigits::of(5, 10).id_bits, 3u);
}

/// 16 edges a vertex at scale 24: 2^16 buckets of 4,096 edges, few bins first.
TEST(EdgeDigits, MakesBucketsOfSomeThousandEdges) {
  const EdgeDigits digits = EdgeDigits::of(std::uint64_t{1} << 24, std::uint64_t{1} << 28);
  EXPECT_EQ(digits.first_bits, 7u);
  EXPECT_EQ(digits.second_bits, 9u);
  EXPECT_EQ(digits.low_bits, 8u);
  // The second step takes a tenth bit before the first takes an eighth.
  const EdgeDigits some_more = EdgeDigits::of(std::uint64_t{1} << 24, (std::uint64_t{1} << 28) + 1);
  EXPECT_EQ(some_more.first_bits, 7u);
  EXPECT_EQ(some_more.second_bits, 10u);
  const EdgeDigits more = EdgeDigits::of(std::uint64_t{1} << 25, std::uint64_t{1} << 29);
  EXPECT_EQ(more.first_bits, 8u);
  EXPECT_EQ(more.second_bits, 10u);
  const EdgeDigits few = EdgeDigits::of(std::uint64_t{1} << 24, 1000);
  EXPECT_EQ(few.low_bits, 8u);  // a key has no room for more
  EXPECT_EQ(EdgeDigits::of(1000, 5000).num_buckets(), 2u);
}

/// Up to 16 edges a vertex at scale 20, and many to few buckets; in two steps where a device has less room.
TEST(EdgeDigits, DealsFewEdgesInOneStep) {
  const EdgeDigits digits = EdgeDigits::of(std::uint64_t{1} << 20, std::uint64_t{1} << 24);
  EXPECT_TRUE(digits.in_one_step());
  EXPECT_EQ(digits.num_buckets(), 4096u);
  EXPECT_EQ(digits.low_bits, 8u);
  EXPECT_TRUE(EdgeDigits::of(1, 1).in_one_step());
  EXPECT_TRUE(EdgeDigits::of(std::uint64_t{1} << 12, EdgeDigits::kFewEdges).in_one_step());
  EXPECT_FALSE(EdgeDigits::of(std::uint64_t{1} << 12, EdgeDigits::kFewEdges + 1).in_one_step());
  EXPECT_FALSE(EdgeDigits::of(std::uint64_t{1} << 20, (std::uint64_t{1} << 24) + 1).in_one_step());
  EXPECT_FALSE(EdgeDigits::of(std::uint64_t{1} << 22, std::uint64_t{1} << 26).in_one_step());
  EXPECT_TRUE(EdgeDigits::of(512, std::uint64_t{1} << 31).in_one_step());
  const EdgeDigits two_steps = EdgeDigits::of(std::uint64_t{1} << 20, std::uint64_t{1} << 24, 0);
  EXPECT_EQ(two_steps.first_bits, 3u);
  EXPECT_EQ(two_steps.second_bits, 9u);
}

/// A key is what the bucket leaves of a row, above the column.
TEST(EdgeDigits, MakesKeysOfWhatIsLeft) {
  const EdgeDigits digits{.id_bits = 10, .first_bits = 2, .second_bits = 3, .low_bits = 5};
  EXPECT_EQ(digits.key_bits(), 15u);
  EXPECT_EQ(digits.key(0b1101110011, 0b1000000001), 0b100111000000001u);
  EXPECT_EQ(digits.key(0b0010110011, 0b1000000001), 0b100111000000001u);
}

}  // namespace
}  // namespace tessera::cuda
