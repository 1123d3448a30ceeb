// Which products keep their messages in the cache between their passes.
#include "kernels/cuda/cache_use.hpp"

#include <gtest/gtest.h>

namespace tessera::cuda {
namespace {

ProductCaching of_megabytes(std::uint64_t streamed) { return caching_of_product(streamed * 1'000'000); }

TEST(CacheUse, MessagesThatAreKeptAreGivenUpByTheirOnlyReader) {
  for (const std::uint64_t streamed : {1, 30, 160, 600, 9000}) {
    const ProductCaching found = of_megabytes(streamed);
    EXPECT_EQ(found.bins.window == CacheUse::once, found.tiles.sums == CacheUse::keep) << streamed;
    EXPECT_EQ(found.tiles.window, CacheUse::as_usual) << streamed;  // other blocks read x again
    EXPECT_EQ(found.bins.sums, CacheUse::once) << streamed;
  }
}

TEST(CacheUse, FollowsFromWhatStreams) {
  EXPECT_EQ(of_megabytes(10).tiles.sums, CacheUse::once);  // all stays anyway
  EXPECT_EQ(of_megabytes(10).tiles.words, CacheUse::as_usual);
  EXPECT_EQ(of_megabytes(38).tiles.sums, CacheUse::keep);  // R-MAT 20
  EXPECT_EQ(of_megabytes(38).tiles.words, CacheUse::once);
  EXPECT_EQ(of_megabytes(160).bins.words, CacheUse::once);  // 22
  EXPECT_EQ(of_megabytes(600).tiles.sums, CacheUse::keep);  // 24
  EXPECT_EQ(of_megabytes(600).tiles.words, CacheUse::as_usual);
  EXPECT_EQ(of_megabytes(600).bins.words, CacheUse::as_usual);
}

}  // namespace
}  // namespace tessera::cuda
