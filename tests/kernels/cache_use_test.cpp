// Which products keep their messages in the cache between their passes.
#include "kernels/cuda/cache_use.hpp"

#include <gtest/gtest.h>

namespace tessera::cuda {
namespace {

CacheUse of_megabytes(std::uint64_t words, std::uint64_t messages) {
  return cache_use(words * 1'000'000, messages * 1'000'000);
}

TEST(CacheUse, SmallMatricesStayWithoutHelp) {
  EXPECT_EQ(of_megabytes(10, 2), CacheUse::as_usual);
  EXPECT_EQ(of_megabytes(23, 100), CacheUse::as_usual);
}

TEST(CacheUse, WordsMakeRoomWhereMessagesFit) {
  EXPECT_EQ(of_megabytes(38, 6), CacheUse::only_messages_stay);    // R-MAT 20, f32
  EXPECT_EQ(of_megabytes(160, 36), CacheUse::only_messages_stay);  // 22
  EXPECT_EQ(of_megabytes(24, 40), CacheUse::only_messages_stay);
  EXPECT_EQ(of_megabytes(190, 40), CacheUse::only_messages_stay);
}

TEST(CacheUse, ElsewhereMessagesStayAsFarAsTheyCan) {
  EXPECT_EQ(of_megabytes(160, 73), CacheUse::messages_stay);   // 22, f64
  EXPECT_EQ(of_megabytes(680, 208), CacheUse::messages_stay);  // 24, f32
  EXPECT_EQ(of_megabytes(190, 41), CacheUse::messages_stay);
  EXPECT_EQ(of_megabytes(191, 40), CacheUse::messages_stay);
}

}  // namespace
}  // namespace tessera::cuda
