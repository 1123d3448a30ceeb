// How rows are dealt to the windows of runs of steps; no device is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/cuda/run_windows.hpp"

namespace tessera::cuda {
namespace {

std::vector<EdgeOffset> offsets_of(const std::vector<std::uint64_t>& lengths) {
  std::vector<EdgeOffset> offsets(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

/// Every row is in one window, in order, and each has some.
void expect_all_rows(const std::vector<EdgeOffset>& offsets, const std::vector<RunWindow>& windows,
                     unsigned most) {
  ASSERT_GE(windows.size(), 2u);
  EXPECT_LE(windows.size() - 1, most);
  EXPECT_EQ(windows.front().first_row, 0u);
  EXPECT_EQ(windows.back().first_row, offsets.size() - 1);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    EXPECT_EQ(windows[w].first_element, offsets.at(windows[w].first_row));
    if (w > 0) {
      EXPECT_GT(windows[w].first_row, windows[w - 1].first_row);
    }
  }
}

TEST(RunWindows, HaveAllRowsOnce) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> lengths(1 + random() % 3000);
    for (std::uint64_t& length : lengths) length = random() % (std::uint64_t{1} << random() % 10);
    lengths[random() % lengths.size()] = 20000;
    const auto offsets = offsets_of(lengths);
    std::vector<RunWindow> windows = deal_windows(offsets, 132, 16, {});
    expect_all_rows(offsets, windows, 132);
    for (RunWindow& window : windows) window.num_inputs = static_cast<std::uint32_t>(random() % 2000);
    expect_all_rows(offsets, deal_windows(offsets, 132, 16, windows), 132);
  }
  expect_all_rows({0, 7}, deal_windows(std::vector<EdgeOffset>{0, 7}, 132, 16, {}), 1);
}

TEST(RunWindows, OfEvenRowsAreEven) {
  const auto windows = deal_windows(offsets_of(std::vector<std::uint64_t>(1000, 12)), 10, 16, {});
  ASSERT_EQ(windows.size(), 11u);
  for (unsigned w = 0; w < 10; ++w) EXPECT_EQ(windows[w].first_row, 100 * w);
  const WindowSizes most = most_of(windows);
  EXPECT_EQ(most.rows, 100u);
  EXPECT_EQ(most.elements, 1200u);
}

/// The first half of the elements each have an input of their own.
TEST(RunWindows, OfMoreInputsHaveFewerRows) {
  const auto offsets = offsets_of(std::vector<std::uint64_t>(1000, 12));
  std::vector<RunWindow> windows = deal_windows(offsets, 10, 16, {});
  for (unsigned w = 0; w < 5; ++w) windows[w].num_inputs = 1200;
  windows = deal_windows(offsets, 10, 16, windows);
  expect_all_rows(offsets, windows, 10);
  const auto rows = [&](unsigned w) { return windows[w + 1].first_row - windows[w].first_row; };
  EXPECT_LT(rows(0), 90u);
  EXPECT_GT(rows(9), 120u);
}

/// A dense part beside many short rows: the less a row costs, the more even are the elements.
TEST(RunWindows, OfCheapRowsHaveEvenElements) {
  std::vector<std::uint64_t> lengths(350000, 1);
  std::fill(lengths.end() - 700, lengths.end(), 700);
  const auto offsets = offsets_of(lengths);
  const auto most = [&](double row_cost) {
    return most_of(deal_windows(offsets, 132, row_cost, {})).elements;
  };
  EXPECT_GT(most(16), 40000u);
  EXPECT_LT(most(1), 10000u);
}

TEST(RunWindows, OfOneLongRowAtTheEndHaveAllRowsOnce) {
  std::vector<std::uint64_t> lengths(500, 2);
  lengths.back() = 100000;
  expect_all_rows(offsets_of(lengths), deal_windows(offsets_of(lengths), 132, 16, {}), 132);
}

TEST(RunWindows, KnowWhereTheirChunksBegin) {
  std::vector<RunWindow> windows(4);
  windows[0].num_chunks = 3;
  windows[2].num_chunks = 4;
  place_chunks(windows);
  EXPECT_EQ(windows[0].first_chunk, 0u);
  EXPECT_EQ(windows[1].first_chunk, 3u);
  EXPECT_EQ(windows[2].first_chunk, 3u);
  EXPECT_EQ(windows[3].first_chunk, 7u);
  EXPECT_EQ(most_of(windows).chunks, 4u);
}

TEST(RunWindows, FitWhereABlockHasRoomForAllSides) {
  const WindowSizes sizes{.rows = 10, .elements = 1000, .inputs = 100, .chunks = 8};
  const std::size_t window = 8 * 8 + 100 * 4, side = 8 * 8 + 1000 * 2;
  ASSERT_EQ(window_bytes<float>(sizes), window);
  ASSERT_EQ(side_bytes(sizes), side);
  EXPECT_TRUE(windows_fit<float>(sizes, window + side));
  EXPECT_FALSE(windows_fit<float>(sizes, window + side - 1));
  EXPECT_FALSE(windows_fit<double>(sizes, window + side));
  EXPECT_TRUE(windows_fit<float>(sizes, sizes, window + 2 * side));
  EXPECT_FALSE(windows_fit<float>(sizes, sizes, window + 2 * side - 1));
  const WindowSizes wide{.rows = 10, .elements = 10, .inputs = 200, .chunks = 0};
  EXPECT_EQ(largest(sizes, wide).inputs, 200u);
  EXPECT_EQ(largest(wide, sizes).chunks, 8u);
  WindowSizes full = sizes;
  full.rows = kMostRowsOfThread * kRankRunThreads + 1;
  EXPECT_FALSE(windows_fit<float>(full, window + side));
}

}  // namespace
}  // namespace tessera::cuda
