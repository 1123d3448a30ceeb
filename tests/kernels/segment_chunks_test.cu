// Chunks of all of an array, which need no list.
#include "kernels/cuda/segment_chunks.cuh"

#include <gtest/gtest.h>

namespace tessera::cuda {
namespace {

TEST(SegmentChunks, OfAWholeArrayAreCountedWithoutAList) {
  constexpr std::uint32_t kSize = 32768;
  const auto count = [](std::uint64_t size) {
    return SegmentChunks{Segments::whole(size), nullptr, kSize}.count();
  };
  EXPECT_EQ(count(0), 0u);
  EXPECT_EQ(count(1), 1u);
  EXPECT_EQ(count(kSize), 1u);
  EXPECT_EQ(count(kSize + 1), 2u);
  EXPECT_EQ(count(0xffffffff), 131072u);
  EXPECT_TRUE(list_chunks(Segments::whole(70000), kSize).empty());
}

}  // namespace
}  // namespace tessera::cuda
