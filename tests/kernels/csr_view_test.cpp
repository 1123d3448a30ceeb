#include "kernels/csr_view.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(PaddedVectors, FillALoadThenSectors) {
  EXPECT_EQ(padded_vectors(0, 4), 0u);
  EXPECT_EQ(padded_vectors(1, 4), 1u);  // no block
  EXPECT_EQ(padded_vectors(2, 4), 4u);
  EXPECT_EQ(padded_vectors(4, 4), 4u);
  EXPECT_EQ(padded_vectors(5, 4), 8u);
  EXPECT_EQ(padded_vectors(9, 4), 16u);
  EXPECT_EQ(padded_vectors(25, 4), 32u);
  EXPECT_EQ(padded_vectors(2, 8), 2u);
  EXPECT_EQ(padded_vectors(3, 8), 4u);
  EXPECT_EQ(padded_vectors(25, 8), 28u);
}

}  // namespace
}  // namespace tessera
