#include "partition/length_order.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace tessera {
namespace {

std::vector<VertexId> order_of(const std::vector<std::uint64_t>& lengths) {
  const Buffer<VertexId> order = order_by_length(lengths);
  return {order.begin(), order.end()};
}

TEST(LengthOrder, PutsLongestFirstAndKeepsTiesInPosition) {
  EXPECT_EQ(order_of({2, 0, 5, 2, 5, 1}), (std::vector<VertexId>{2, 4, 0, 3, 5, 1}));
}

TEST(LengthOrder, HandlesLengthsFarLargerThanTheirNumber) {
  EXPECT_EQ(order_of({7, std::uint64_t{1} << 40, 7, (std::uint64_t{1} << 40) + 1}),
            (std::vector<VertexId>{3, 1, 0, 2}));
}

TEST(LengthOrder, OfNothingIsEmpty) { EXPECT_TRUE(order_by_length({}).empty()); }

TEST(LengthOrder, IsTheSameWithAnyNumberOfThreads) {
  std::mt19937 engine(5);
  std::vector<std::uint64_t> lengths(200'000);
  // Most are short, some on either side of where short ends, a few long.
  for (auto& length : lengths) length = engine() % 50 == 0 ? 4090 + engine() % 10 : engine() % 8;
  for (std::size_t i = 0; i < lengths.size(); i += 9973) lengths[i] = engine();
  std::vector<VertexId> expected(lengths.size());
  std::iota(expected.begin(), expected.end(), VertexId{0});
  std::stable_sort(expected.begin(), expected.end(),
                   [&](VertexId a, VertexId b) { return lengths[a] > lengths[b]; });
  const int threads = omp_get_max_threads();
  for (int count : {1, 2, 3, 8}) {
    omp_set_num_threads(count);
    EXPECT_EQ(order_of(lengths), expected) << count;
  }
  omp_set_num_threads(threads);
}

}  // namespace
}  // namespace tessera
