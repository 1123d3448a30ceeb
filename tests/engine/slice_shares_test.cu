// How the slices of a pass are dealt to blocks and warps; no device is needed.
#include <gtest/gtest.h>

#include <random>

#include "kernels/cuda/cuda_slice_shares.hpp"
#include "kernels/slice_builder.hpp"

namespace tessera::cuda {
namespace {

struct Pass {
  std::vector<Window> windows;
  std::vector<Slice> slices;
  std::uint64_t num_words = 0;
  PassOutline outline(std::uint64_t first, std::uint64_t end) const {
    return {windows.data(), first, end, slices.data(), slices.size(), num_words};
  }
};

/// Windows of very different work, some without any.
Pass random_pass(unsigned seed, std::uint64_t num_windows) {
  std::mt19937_64 random(seed);
  Pass pass;
  for (std::uint64_t w = 0; w < num_windows; ++w) {
    pass.windows.push_back({.first_in = 1000 * w,
                            .first_slice = pass.slices.size(),
                            .size = static_cast<std::uint32_t>(100 + w)});
    for (std::uint64_t left = random() % 4 == 0 ? 0 : random() % (4000 / (1 + w)); left > 0; --left) {
      Slice slice{.first_word = pass.num_words,
                  .num_words = static_cast<std::uint16_t>(random() % 9),
                  .num_rows = static_cast<std::uint16_t>(random() % 300)};
      if (is_joint(slice)) slice.num_words = 20;
      pass.num_words += aligned_words(slice);
      pass.slices.push_back(slice);
    }
  }
  pass.windows.push_back({.first_slice = pass.slices.size()});
  return pass;
}

TEST(SliceShares, EverySliceGoesToOneWarpWithItsWords) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const unsigned warps : {16u, 32u}) {
      const Pass pass = random_pass(seed, 1 + seed * 3);
      const std::uint64_t first = seed % 2, end = pass.windows.size() - 1;
      const BlockShares dealt = share_slices(pass.outline(first, end), 10, warps, 4);
      std::uint64_t next = pass.windows[first].first_slice;
      for (const WindowShare& share : dealt.shares) {
        const Window& window = pass.windows[share.window];
        EXPECT_EQ(share.first_in, window.first_in);
        EXPECT_EQ(share.size, window.size);
        EXPECT_GE(share.first_slice[0], window.first_slice);
        EXPECT_LE(share.first_slice[warps], pass.windows[share.window + 1].first_slice);
        EXPECT_EQ(share.first_slice[0], next);
        EXPECT_LT(share.first_slice[0], share.first_slice[warps]);
        for (unsigned warp = 0; warp <= warps; ++warp) {
          const std::uint64_t slice = share.first_slice[warp];
          if (warp > 0) EXPECT_GE(slice, share.first_slice[warp - 1]);
          EXPECT_EQ(share.first_word[warp],
                    slice < pass.slices.size() ? pass.slices[slice].first_word : pass.num_words);
        }
        next = share.first_slice[warps];
      }
      EXPECT_EQ(next, pass.windows[end].first_slice);
      ASSERT_FALSE(dealt.first_of_block.empty());
      EXPECT_EQ(dealt.first_of_block.front(), 0u);
      EXPECT_EQ(dealt.first_of_block.back(), dealt.shares.size());
      EXPECT_TRUE(std::is_sorted(dealt.first_of_block.begin(), dealt.first_of_block.end()));
    }
}

TEST(SliceShares, ManyEqualWindowsStayWhole) {
  Pass pass;
  for (std::uint64_t w = 0; w < 200; ++w) {
    pass.windows.push_back({.first_in = w, .first_slice = pass.slices.size(), .size = 1000});
    for (int i = 0; i < 50; ++i, pass.num_words += 256)
      pass.slices.push_back({.first_word = pass.num_words, .num_words = 1, .num_rows = 256});
  }
  pass.windows.push_back({.first_slice = pass.slices.size()});
  const BlockShares dealt = share_slices(pass.outline(0, 200), 10, 32, 4);
  EXPECT_EQ(dealt.shares.size(), 200u);
  EXPECT_GE(dealt.num_blocks(), 10u);
}

TEST(SliceShares, OneLargeWindowGoesToAllMultiprocessors) {
  Pass pass;
  pass.windows.push_back({.size = 1000});
  for (int i = 0; i < 5000; ++i, pass.num_words += 256)
    pass.slices.push_back({.first_word = pass.num_words, .num_words = 1, .num_rows = 256});
  pass.windows.push_back({.first_slice = pass.slices.size()});
  const BlockShares dealt = share_slices(pass.outline(0, 1), 10, 32, 4);
  EXPECT_GE(dealt.num_blocks(), 10u);
  EXPECT_EQ(dealt.num_blocks() % 10, 0u);
}

TEST(SliceShares, WarpsGetEvenPartsOfTheCosts) {
  Pass pass;
  pass.windows.push_back({.size = 1000});
  for (int i = 0; i < 150; ++i, pass.num_words += 256)
    pass.slices.push_back({.first_word = pass.num_words,
                           .num_words = static_cast<std::uint16_t>(i < 100 ? 1 : 5),
                           .num_rows = 32});
  pass.windows.push_back({.first_slice = pass.slices.size()});
  const auto slices_of_half = [&](const SliceCosts& costs) {
    PassOutline outline = pass.outline(0, 1);
    outline.costs = costs;
    return share_slices(outline, 1, 32, 4).shares.at(0).first_slice[16];
  };
  EXPECT_EQ(slices_of_half({.slice = 3}), 100u);  // 100 * 4 = 50 * 8
  EXPECT_EQ(slices_of_half({.rows = 3}), 100u);   // the same: 32 rows each
  EXPECT_EQ(slices_of_half({}), 115u);            // 100 + 15 * 5 = 35 * 5
  EXPECT_EQ(slices_of_half({.slice = 1, .rows = 2}), 100u);
  for (int i = 0; i < 100; ++i)
    pass.slices[static_cast<std::size_t>(i)] = {
        .first_word = pass.slices[static_cast<std::size_t>(i)].first_word,
        .num_words = 0,
        .num_rows = 100};  // of one element: twice 64 at most
  EXPECT_TRUE(is_single(pass.slices[0]));
  EXPECT_EQ(slices_of_half({.single_rows = 1.25}), 100u);  // 100 * 2.5 = 50 * 5
  EXPECT_EQ(slices_of_half({.single_rows = 1.875}), 83u);  // half of 375 + 250, by 3.75
}

TEST(SliceShares, WholeWindowsGoToTheBlockWithLeastToDo) {
  for (const std::uint32_t row_bytes : {0u, 22u}) {
    const std::uint64_t begin = row_bytes == 0 ? 0 : 7;  // a part of the windows will do
    Pass pass;
    std::vector<std::uint32_t> first_rows{0};
    std::vector<double> costs;  // bytes of words and rows: windows have none here
    for (std::uint64_t w = 0; w < 60; ++w) {
      const std::uint32_t rows = w % 5 == 0 ? 0 : static_cast<std::uint32_t>(40 * w);
      pass.windows.push_back({.first_in = w, .first_slice = pass.slices.size(), .size = 0});
      for (std::uint32_t i = 0; i < rows / 40; ++i, pass.num_words += 256)
        pass.slices.push_back({.first_word = pass.num_words, .num_words = 1, .num_rows = 256});
      first_rows.push_back(first_rows.back() + rows);
      costs.push_back(rows / 40 * 17.0 * 128 + rows * row_bytes);
    }
    pass.windows.push_back({.first_slice = pass.slices.size()});
    const BlockShares dealt =
        share_whole_windows(pass.outline(begin, 60), 5, 16, 4, first_rows.data(), row_bytes);
    ASSERT_EQ(dealt.num_blocks(), 10u);
    std::vector<int> times(60, 0);
    std::vector<double> of_block;
    for (std::uint32_t b = 0; b < dealt.num_blocks(); ++b) {
      of_block.push_back(0);
      for (std::uint32_t i = dealt.first_of_block[b]; i < dealt.first_of_block[b + 1]; ++i) {
        const WindowShare& share = dealt.shares[i];
        ++times[share.window];
        of_block.back() += costs[share.window];
        EXPECT_EQ(share.first_slice[0], pass.windows[share.window].first_slice);
        EXPECT_EQ(share.first_slice[16], pass.windows[share.window + 1].first_slice);
      }
    }
    for (std::size_t w = 0; w < 60; ++w) EXPECT_EQ(times[w], w < begin || w % 5 == 0 ? 0 : 1) << w;
    // Before its last window no block had more than another has in the end.
    const double least = *std::min_element(of_block.begin(), of_block.end());
    for (std::uint32_t b = 0; b < dealt.num_blocks(); ++b)
      EXPECT_LE(of_block[b] - costs[dealt.shares[dealt.first_of_block[b + 1] - 1].window], least);
  }
}

TEST(SliceShares, FewWholeWindowsHaveABlockEach) {
  Pass pass;
  pass.windows = {Window{.size = 10}, Window{.first_slice = 1}};
  pass.slices = {Slice{.num_words = 1, .num_rows = 32}};
  pass.num_words = 32;
  const std::uint32_t first_rows[] = {0, 32};
  EXPECT_EQ(share_whole_windows(pass.outline(0, 1), 5, 32, 4, first_rows, 22).num_blocks(), 1u);
}

TEST(SliceShares, NothingToDealGivesNoBlocks) {
  Pass pass;
  pass.windows = {Window{.size = 10}, Window{}};
  EXPECT_EQ(share_slices(pass.outline(0, 1), 10, 32, 4).num_blocks(), 0u);
  EXPECT_EQ(share_slices(pass.outline(0, 0), 10, 32, 4).num_blocks(), 0u);
}

}  // namespace
}  // namespace tessera::cuda
