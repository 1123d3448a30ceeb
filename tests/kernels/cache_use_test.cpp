// Which products keep their messages in the cache between their passes.
#include "kernels/cuda/cache_use.hpp"

#include <gtest/gtest.h>

namespace tessera::cuda {
namespace {

bool keeps_of_megabytes(std::uint64_t streamed, std::uint64_t messages) {
  return keeps_messages(streamed * 1'000'000, messages * 1'000'000);
}

TEST(CacheUse, MessagesStayWhereTheyFitAndTheWordsDoNot) {
  EXPECT_FALSE(keeps_of_megabytes(10, 2));    // all stays anyway
  EXPECT_TRUE(keeps_of_megabytes(38, 6));     // R-MAT 20, f32
  EXPECT_TRUE(keeps_of_megabytes(160, 36));   // 22
  EXPECT_FALSE(keeps_of_megabytes(160, 73));  // 22, f64
  EXPECT_FALSE(keeps_of_megabytes(600, 20));
  EXPECT_FALSE(keeps_of_megabytes(23, 1));
  EXPECT_TRUE(keeps_of_megabytes(24, 40));
  EXPECT_TRUE(keeps_of_megabytes(190, 40));
  EXPECT_FALSE(keeps_of_megabytes(190, 41));
  EXPECT_FALSE(keeps_of_megabytes(191, 40));
}

}  // namespace
}  // namespace tessera::cuda
