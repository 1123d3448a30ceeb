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
      ASSERT_LE(digits.num_second_bins(), 1024u) << bits << ", " << edge_bits;
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

}  // namespace
}  // namespace tessera::cuda
