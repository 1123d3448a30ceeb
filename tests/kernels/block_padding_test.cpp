#include "kernels/block_padding.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(PaddedVectors, ManyOfSinglePrecisionFillSectors) {
  for (const std::uint64_t few : {0u, 1u, 5u, 16u}) EXPECT_EQ(padded_vectors(few, 4), few);
  EXPECT_EQ(padded_vectors(17, 4), 24u);
  EXPECT_EQ(padded_vectors(24, 4), 24u);
  EXPECT_EQ(padded_vectors(25, 4), 32u);
  EXPECT_EQ(padded_vectors(33, 4), 40u);
  for (const std::uint64_t any : {1u, 2u, 25u, 33u}) EXPECT_EQ(padded_vectors(any, 8), any);
}

}  // namespace
}  // namespace tessera
