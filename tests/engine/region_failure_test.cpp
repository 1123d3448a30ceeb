// Exceptions out of parallel regions.
#include "engine/region_failure.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace tessera {
namespace {

TEST(RegionFailure, IsQuietWhereNothingFails) {
  RegionFailure failure;
  int runs = 0;
  failure.guard([&] { ++runs; });
  failure.guard([&] { ++runs; });
  EXPECT_NO_THROW(failure.rethrow());
  EXPECT_EQ(runs, 2);
}

TEST(RegionFailure, KeepsTheFirstAndLeavesOutTheRest) {
  RegionFailure failure;
  int runs = 0;
  failure.guard([] { throw std::bad_alloc(); });
  failure.guard([&] { ++runs; });
  EXPECT_EQ(runs, 0);
  EXPECT_THROW(failure.rethrow(), std::bad_alloc);
}

TEST(RegionFailure, CarriesOneOutOfAParallelRegion) {
  RegionFailure failure;
#pragma omp parallel num_threads(4)
  failure.guard([] { throw std::runtime_error("each thread fails"); });
  EXPECT_THROW(failure.rethrow(), std::runtime_error);
}

}  // namespace
}  // namespace tessera
