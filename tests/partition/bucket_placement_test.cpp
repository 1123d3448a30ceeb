#include "partition/bucket_placement.hpp"

#include <gtest/gtest.h>
#include <omp.h>

namespace tessera {
namespace {

TEST(BucketPlacement, KeepsNumbersOfABucketInOrder) {
  std::vector<std::uint64_t> placed(7, 99);
  const auto firsts = place_in_buckets(
      7, 4, [](std::uint64_t i) { return i % 3; },
      [&](std::uint64_t at, std::uint64_t i) { placed[at] = i; });
  EXPECT_EQ(placed, (std::vector<std::uint64_t>{0, 3, 6, 1, 4, 2, 5}));
  EXPECT_EQ(firsts, (std::vector<std::uint64_t>{0, 3, 5, 7, 7}));
}

TEST(BucketPlacement, OfNothingHasEmptyBuckets) {
  const auto firsts = place_in_buckets(
      0, 2, [](std::uint64_t) { return 0; }, [](std::uint64_t, std::uint64_t) { ADD_FAILURE(); });
  EXPECT_EQ(firsts, (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST(BucketPlacement, IsTheSameWithManyThreads) {
  constexpr std::uint64_t kCount = 100'003, kBuckets = 17;
  const int threads = omp_get_max_threads();
  omp_set_num_threads(5);
  std::vector<std::uint64_t> placed(kCount, 0);
  const auto bucket_of = [](std::uint64_t i) { return i * i % kBuckets; };
  const auto firsts = place_in_buckets(kCount, kBuckets, bucket_of,
                                       [&](std::uint64_t at, std::uint64_t i) { placed[at] = i; });
  omp_set_num_threads(threads);
  std::uint64_t at = 0;
  for (std::uint64_t bucket = 0; bucket < kBuckets; ++bucket) {
    EXPECT_EQ(firsts[bucket], at);
    for (std::uint64_t i = 0; i < kCount; ++i)
      if (bucket_of(i) == bucket) {
        ASSERT_EQ(placed[at++], i) << bucket;
      }
  }
  EXPECT_EQ(at, kCount);
}

}  // namespace
}  // namespace tessera
