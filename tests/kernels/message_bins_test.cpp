#include "kernels/message_bins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"

namespace tessera {
namespace {

/// Messages before each row; many rows send few, some none, some many.
std::vector<std::uint32_t> random_rows(unsigned seed, std::size_t num_rows, std::uint32_t longest) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> before(num_rows + 1, 0);
  for (std::size_t row = 0; row < num_rows; ++row)
    before[row + 1] = before[row] + (random() % 20 == 0 ? random() % (longest + 1) : random() % 3);
  return before;
}

std::uint32_t largest_bin(const std::vector<std::uint32_t>& before, const std::vector<std::uint64_t>& bins) {
  std::uint32_t largest = 0;
  for (std::size_t b = 0; b + 1 < bins.size(); ++b)
    largest = std::max(largest, before[bins[b + 1]] - before[bins[b]]);
  return largest;
}

TEST(MessageBins, HoldAllRowsInOrderWithinTheLimit) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const std::uint32_t at_once : {1u, 7u, 32u}) {
      const auto before = random_rows(seed, 100 * seed, 40);
      const auto bins = cut_bins(before, {.most_messages = 100, .at_once = at_once, .least_messages = 10});
      ASSERT_GE(bins.size(), 2u);
      EXPECT_EQ(bins.front(), 0u);
      EXPECT_EQ(bins.back(), before.size() - 1);
      EXPECT_TRUE(std::is_sorted(bins.begin(), bins.end()));
      EXPECT_LE(largest_bin(before, bins), 100u);
    }
}

/// Each the product divided, and rounded down.
TEST(MessageBins, AreJoinedOfEqualPartsOfTheMessages) {
  for (const std::uint32_t num_messages : {1u, 7u, 1000u, 99991u, 4294967294u}) {
    constexpr BinLimits kSeven{.most_messages = 60000, .at_once = 7};
    std::vector<std::uint64_t> asked;
    const FindRows find{.of_targets =
                            [&](std::span<const std::uint32_t>) {
                              ADD_FAILURE() << "no part is too large";
                              return std::vector<BinEdge>{};
                            },
                        .of_parts =
                            [&](std::uint64_t num_parts) {
                              asked.push_back(num_parts);
                              std::vector<BinEdge> edges;  // a row a message
                              for (std::uint64_t i = 0; i <= num_parts; ++i) {
                                const std::uint32_t end = end_of_part(i, num_parts, num_messages);
                                EXPECT_EQ(end, static_cast<std::uint64_t>(static_cast<unsigned __int128>(i) *
                                                                          num_messages / num_parts));
                                edges.push_back({end, end});
                              }
                              return edges;
                            }};
    const auto bins = cut_bins(num_messages, num_messages, 1, find, kSeven);
    EXPECT_EQ(asked, std::vector<std::uint64_t>{count_first_parts(num_messages, kSeven)});
    EXPECT_EQ(bins.back().messages_before, num_messages);
  }
}

TEST(MessageBins, AreCountedBeforeThereAreAny) {
  const BinLimits limits{.most_messages = 100, .at_once = 4, .least_messages = 10};
  for (const auto& [num_messages, expected] :
       {std::pair{0, 1}, {9, 1}, {25, 2}, {40, 4}, {300, 4}, {400, 4}, {401, 8}, {1001, 12}})
    EXPECT_EQ(count_bins(static_cast<std::uint64_t>(num_messages), limits),
              static_cast<std::uint64_t>(expected));
}

/// Where rows cost something, too, bins of short rows have fewer messages, if those of long rows may have
/// more.
TEST(MessageBins, AreOfEvenCost) {
  std::vector<std::uint32_t> before(1, 0);
  for (int row = 0; row < 20000; ++row) before.push_back(before.back() + (row < 2000 ? 40 : row % 2));
  before.insert(before.end(), 5000, before.back());  // idle rows behind all others are nobody's
  const auto bins =
      cut_bins(before, {.most_messages = 10000, .at_once = 20, .least_messages = 100, .row_messages = 4});
  ASSERT_EQ(bins.size() - 1, 20u);
  std::vector<std::uint64_t> costs;
  for (std::size_t b = 0; b + 1 < bins.size(); ++b)
    costs.push_back(before[bins[b + 1]] - before[bins[b]] +
                    4 * (std::min<std::uint64_t>(bins[b + 1], 20000) - bins[b]));
  EXPECT_LT(*std::max_element(costs.begin(), costs.end()), 10000u);  // 8,450 in the mean
  EXPECT_GT(*std::min_element(costs.begin(), costs.end()), 6000u);
  EXPECT_GT(largest_bin(before, bins), 6000u);  // 4,450 in the mean
}

/// The least that the costliest of num_parts runs of these costs, tried run by run.
std::uint64_t least_largest_part(const std::vector<std::uint64_t>& costs, std::uint64_t num_parts) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::vector<std::uint64_t> best(costs.size() + 1, kNone);  // of the costs before i
  best[0] = 0;
  for (std::uint64_t part = 0; part < num_parts; ++part) {
    std::vector<std::uint64_t> next = best;
    for (std::size_t begin = 0; begin < costs.size(); ++begin)
      for (std::size_t end = begin, sum = 0; best[begin] != kNone && end < costs.size(); ++end) {
        sum += costs[end];
        next[end + 1] = std::min(next[end + 1], std::max<std::uint64_t>(best[begin], sum));
      }
    best = std::move(next);
  }
  return best.back();
}

TEST(MessageBins, TheCostliestCostsNoMoreThanItMust) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round)
    for (const std::uint32_t row_messages : {0u, 3u}) {
      std::vector<std::uint32_t> before(1, 0);
      std::vector<std::uint64_t> costs;
      for (int row = 0; row < 60; ++row) {
        before.push_back(before.back() + 1 + static_cast<std::uint32_t>(random() % 6));
        costs.push_back(before[before.size() - 1] - before[before.size() - 2] + row_messages);
      }
      // With so many bins every row is a piece that bins are joined of.
      constexpr std::uint32_t kBins = 16;
      const auto bins = cut_bins(before, {.most_messages = 1000,
                                          .at_once = kBins,
                                          .least_messages = before.back() / kBins,
                                          .row_messages = row_messages});
      ASSERT_LE(bins.size() - 1, kBins);
      std::uint64_t largest = 0, all = 0;
      for (std::size_t b = 0; b + 1 < bins.size(); ++b) {
        std::uint64_t cost = 0;
        for (std::uint64_t row = bins[b]; row < bins[b + 1]; ++row) cost += costs[row];
        largest = std::max(largest, cost);
        all += cost;
      }
      EXPECT_LE(largest, std::max(least_largest_part(costs, kBins), all / kBins + 1));
    }
}

TEST(MessageBins, OfRowsBesideVeryManyIdleOnesStayEven) {
  for (const std::size_t first_idle : {0u, 5000u}) {
    std::vector<std::uint32_t> before(1, 0);
    for (std::size_t row = 0; row < 10000; ++row) {
      if (row == first_idle) before.insert(before.end(), 1000000, before.back());
      before.push_back(before.back() + 2);
    }
    const auto bins =
        cut_bins(before, {.most_messages = 10000, .at_once = 20, .least_messages = 100, .row_messages = 4});
    EXPECT_GE(bins.size() - 1, 19u);
    EXPECT_LE(largest_bin(before, bins), 1400u);  // 1,000 in the mean
  }
}

TEST(MessageBins, AreAMultipleOfWhatRunsAtOnce) {
  const auto before = random_rows(3, 50000, 20);
  const auto bins = cut_bins(before, {.most_messages = 3000, .at_once = 16, .least_messages = 100});
  const std::uint64_t num_bins = bins.size() - 1, fewest = before.back() / 3000;
  EXPECT_LE(num_bins, ceil_div<std::uint64_t>(fewest + 1, 16) * 16);
  EXPECT_GT(num_bins + 2, ceil_div<std::uint64_t>(fewest + 1, 16) * 16);
  EXPECT_LE(largest_bin(before, bins), before.back() / num_bins + 25);
}

TEST(MessageBins, OneLongRowAddsFewBins) {
  std::vector<std::uint32_t> before(1, 0);
  for (int row = 0; row < 100000; ++row) before.push_back(before.back() + (row == 40000 ? 2500 : 5));
  const auto with_hub = cut_bins(before, {.most_messages = 3000, .at_once = 16, .least_messages = 100});
  const std::uint64_t fewest = before.back() / 3000 + 1,
                      whole_rounds = ceil_div<std::uint64_t>(fewest, 16) * 16;
  EXPECT_LE(with_hub.size() - 1, whole_rounds + 2);
  EXPECT_LE(largest_bin(before, with_hub), 3000u);
}

/// All but as long as a bin, in turn with short ones: any bin of two long rows is too large.
TEST(MessageBins, RowsAsLongAsABinHaveOneEach) {
  std::vector<std::uint32_t> before(1, 0);
  for (int row = 0; row < 600; ++row) before.push_back(before.back() + (row % 2 == 0 ? 299 : 1));
  const auto bins = cut_bins(before, {.most_messages = 300, .at_once = 7, .least_messages = 1});
  EXPECT_LE(largest_bin(before, bins), 300u);
  EXPECT_TRUE(std::is_sorted(bins.begin(), bins.end()));
  EXPECT_EQ(std::adjacent_find(bins.begin(), bins.end()), bins.end());
  EXPECT_LE(bins.size() - 1, 700u);
}

TEST(MessageBins, AreNotSmallerThanTheirWorkIsWorth) {
  const auto before = random_rows(3, 1000, 20);
  const auto bins = cut_bins(before, {.most_messages = 30000, .at_once = 264, .least_messages = 500});
  EXPECT_EQ(bins.size() - 1, before.back() / 500);
}

TEST(MessageBins, FewOrNoRowsMakeOneBin) {
  using Bins = std::vector<std::uint64_t>;
  EXPECT_EQ(cut_bins(std::vector<std::uint32_t>{0}, {}), (Bins{0, 0}));
  EXPECT_EQ(cut_bins(std::vector<std::uint32_t>{0, 0, 0}, {.at_once = 5}), (Bins{0, 2}));
  EXPECT_EQ(cut_bins(std::vector<std::uint32_t>{0, 9}, {.most_messages = 9, .at_once = 5}), (Bins{0, 1}));
}

TEST(MessageBins, ARowThatNoBinHoldsIsRefused) {
  EXPECT_THROW(cut_bins(std::vector<std::uint32_t>{0, 1, 8}, {.most_messages = 6}), ResourceError);
}

}  // namespace
}  // namespace tessera
