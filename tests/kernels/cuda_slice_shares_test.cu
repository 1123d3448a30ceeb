// How the slices of a pass are dealt to blocks and warps; no device is needed.
#include <gtest/gtest.h>

#include <algorithm>
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

/// Blocks of rows, one after the other, as warps take them: (slice, block).
using Blocks = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

/// What warp `warp` of a share does, by the rule that the kernels go by.
Blocks blocks_of_warp(const Pass& pass, const WindowShare& share, unsigned warp) {
  Blocks result;
  const WarpSlices own(share, warp);
  std::uint64_t next_word = own.first_word;
  for (std::uint64_t i = own.first; i < own.end; ++i) {
    const Slice &whole = pass.slices[i], part = own.part_of(whole, i);
    EXPECT_GE(part.first_word, next_word);
    next_word = part.first_word + words_of(part);
    const std::uint32_t first = i == own.first ? own.first_block : 0;
    EXPECT_EQ(part.first_out, whole.first_out + first * rows_of_block(whole));
    for (std::uint32_t block = 0; block < blocks_of(part); ++block) result.emplace_back(i, first + block);
  }
  EXPECT_LE(next_word, share.first_word[warp + 1]);
  return result;
}

TEST(SliceShares, EveryBlockOfRowsGoesToOneWarpWithItsWords) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const unsigned warps : {16u, 32u}) {
      const Pass pass = random_pass(seed, 1 + seed * 3);
      const std::uint64_t first = seed % 2, end = pass.windows.size() - 1;
      const BlockShares dealt = share_slices(pass.outline(first, end), 10, warps, 4);
      Blocks expected, done;
      for (std::uint64_t i = pass.windows[first].first_slice; i < pass.windows[end].first_slice; ++i)
        for (std::uint32_t block = 0; block < blocks_of(pass.slices[i]); ++block)
          expected.emplace_back(i, block);
      for (const WindowShare& share : dealt.shares) {
        const Window& window = pass.windows[share.window];
        EXPECT_EQ(share.first_in, window.first_in);
        EXPECT_EQ(share.size, window.size);
        EXPECT_GE(share.first_slice[0], window.first_slice);
        EXPECT_LE(share.first_slice[warps], pass.windows[share.window + 1].first_slice);
        EXPECT_LT(share.first_slice[0], share.first_slice[warps]);
        EXPECT_EQ(share.first_block[0], 0);
        EXPECT_EQ(share.first_block[warps], 0);
        for (unsigned warp = 0; warp < warps; ++warp) {
          const Blocks own = blocks_of_warp(pass, share, warp);
          if (!own.empty()) {
            const Slice& slice = pass.slices[own[0].first];
            EXPECT_EQ(share.first_word[warp], slice.first_word + own[0].second * words_of_block(slice));
          }
          EXPECT_LE(share.first_word[warp], share.first_word[warp + 1]);
          done.insert(done.end(), own.begin(), own.end());
        }
      }
      EXPECT_EQ(done, expected);
      ASSERT_FALSE(dealt.first_of_block.empty());
      EXPECT_EQ(dealt.first_of_block.front(), 0u);
      EXPECT_EQ(dealt.first_of_block.back(), dealt.shares.size());
      EXPECT_TRUE(std::is_sorted(dealt.first_of_block.begin(), dealt.first_of_block.end()));
    }
}

/// Windows of so many equal slices each.
Pass equal_pass(std::uint64_t num_windows, int slices_of_window) {
  Pass pass;
  for (std::uint64_t w = 0; w < num_windows; ++w) {
    pass.windows.push_back({.first_in = w, .first_slice = pass.slices.size(), .size = 1000});
    for (int i = 0; i < slices_of_window; ++i, pass.num_words += 256)
      pass.slices.push_back({.first_word = pass.num_words, .num_words = 1, .num_rows = 256});
  }
  pass.windows.push_back({.first_slice = pass.slices.size()});
  return pass;
}

double steps_of_block(const Pass& pass, const BlockShares& dealt, std::uint32_t block) {
  double steps = 0;
  for (std::uint32_t i = dealt.first_of_block[block]; i < dealt.first_of_block[block + 1]; ++i)
    for (unsigned warp = 0; warp < 32; ++warp)
      steps += static_cast<double>(blocks_of_warp(pass, dealt.shares[i], warp).size());
  return steps;
}

TEST(SliceShares, LittleWorkIsOneRoundOfEvenBlocks) {
  const Pass pass = equal_pass(7, 300);  // 2,100 steps and more a multiprocessor
  const BlockShares dealt = share_slices(pass.outline(0, 7), 10, 32, 4);
  ASSERT_EQ(dealt.num_blocks(), 10u);
  for (std::uint32_t b = 0; b + 1 < 10; ++b) EXPECT_NEAR(steps_of_block(pass, dealt, b), 1680, 1680 * 0.05);
}

TEST(SliceShares, ManyWindowsComeInTwoRounds) {
  const Pass few = equal_pass(39, 50), many = equal_pass(40, 50);
  EXPECT_EQ(share_slices(few.outline(0, 39), 10, 32, 4).num_blocks(), 10u);
  const BlockShares dealt = share_slices(many.outline(0, 40), 10, 32, 4);
  ASSERT_GT(dealt.num_blocks(), 10u);
  EXPECT_LE(dealt.num_blocks(), 20u);
  EXPECT_LT(3 * steps_of_block(many, dealt, 10), steps_of_block(many, dealt, 0));
}

TEST(SliceShares, MuchWorkComesInRoundsOfLessAndLess) {
  const struct {
    int slices;
    std::uint32_t input_bytes, rounds;
  } cases[] = {{8000, 4, 1}, {9000, 4, 2}, {4500, 8, 2}, {21000, 4, 3}, {50000, 4, 4}, {400000, 4, 4}};
  for (const auto& c : cases) {
    const Pass pass = equal_pass(3, c.slices);
    PassOutline outline = pass.outline(0, 3);
    outline.costs = {};  // a step a block of rows
    const BlockShares dealt = share_slices(outline, 10, 32, c.input_bytes);
    ASSERT_GT(dealt.num_blocks(), 10 * (c.rounds - 1)) << c.slices;
    EXPECT_LE(dealt.num_blocks(), 10 * c.rounds) << c.slices;
    for (std::uint32_t round = 1; round < c.rounds; ++round)
      EXPECT_LT(2 * steps_of_block(pass, dealt, 10 * round), steps_of_block(pass, dealt, 10 * (round - 1)));
  }
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
  EXPECT_EQ(slices_of_half({}), 115u);            // 100 + 15 * 5 = 35 * 5
  EXPECT_EQ(slices_of_half({.slice = 3, .word = 0.25, .lanes = 0.75}), 100u);
  for (std::size_t i = 0; i < 100; ++i) pass.slices[i].num_rows = 8;
  EXPECT_EQ(slices_of_half({}), 115u);                           // a word, whatever its rows
  EXPECT_EQ(slices_of_half({.word = 0.5, .lanes = 0.5}), 119u);  // 62.5 + 19 * 5 = 31 * 5 + 2.5
  for (std::size_t i = 0; i < 100; ++i)
    pass.slices[i] = {.first_word = pass.slices[i].first_word, .num_words = 0, .num_rows = 64};
  EXPECT_TRUE(is_single(pass.slices[0]));
  EXPECT_EQ(slices_of_half({.single_rows = 1.5}), 100u);  // 100 * 2.5 = 50 * 5
  for (std::size_t i = 0; i < 100; ++i)
    pass.slices[i] = {.first_word = pass.slices[i].first_word, .num_words = 1, .num_rows = 0};
  EXPECT_TRUE(is_joint(pass.slices[0]));
  EXPECT_EQ(slices_of_half({.joint_row = 1.5}), 100u);
}

TEST(SliceShares, WarpsShareTheRowsOfOneSlice) {
  Pass pass;
  pass.windows = {Window{.size = 10}, Window{.first_slice = 16}};
  for (std::uint64_t i = 0; i < 16; ++i, pass.num_words += 512)  // 8 blocks each: 250 rows of 4, 500 of one
    pass.slices.push_back(i < 8 ? Slice{.first_word = pass.num_words, .num_words = 2, .num_rows = 250}
                                : Slice{.first_word = pass.num_words, .num_rows = 500});
  PassOutline outline = pass.outline(0, 1);
  outline.costs = {};
  const BlockShares dealt = share_slices(outline, 1, 32, 4);
  ASSERT_EQ(dealt.shares.size(), 1u);
  const WindowShare& share = dealt.shares[0];  // 192 steps: 6 a warp
  EXPECT_EQ(blocks_of_warp(pass, share, 0), (Blocks{{0, 0}, {0, 1}, {0, 2}}));
  EXPECT_EQ(blocks_of_warp(pass, share, 1), (Blocks{{0, 3}, {0, 4}, {0, 5}}));
  EXPECT_EQ(blocks_of_warp(pass, share, 2), (Blocks{{0, 6}, {0, 7}, {1, 0}}));
  EXPECT_EQ(blocks_of_warp(pass, share, 21), (Blocks{{7, 7}, {8, 0}, {8, 1}, {8, 2}, {8, 3}}));
  EXPECT_EQ(blocks_of_warp(pass, share, 22), (Blocks{{8, 4}, {8, 5}, {8, 6}, {8, 7}, {9, 0}, {9, 1}}));
  EXPECT_EQ(share.first_word[1], 3 * 64u);
  EXPECT_EQ(share.first_word[22], 8 * 512 + 4 * 32u);
}

/// The elements of a part lie where the whole slice has them.
TEST(SliceShares, BlocksOfASliceAreASlice) {
  for (const Slice& whole : {Slice{.first_word = 96, .first_out = 7, .num_words = 3, .num_rows = 150},
                             Slice{.first_word = 32, .first_out = 9, .num_words = 0, .num_rows = 333}}) {
    const std::uint32_t blocks = blocks_of(whole), rows = rows_of_block(whole);
    EXPECT_EQ(blocks, (whole.num_rows + rows - 1) / rows);
    for (std::uint32_t first = 0; first < blocks; ++first)
      for (std::uint32_t end = first + 1; end <= blocks; ++end) {
        const Slice part = blocks_of_slice(whole, first, end);
        ASSERT_EQ(part.num_rows, std::min<std::uint32_t>(end * rows, whole.num_rows) - first * rows);
        EXPECT_EQ(part.first_out, whole.first_out + first * rows);
        for (std::uint32_t row = 0; row < part.num_rows; ++row)
          for (std::uint32_t k = 0; k < elements_of(whole); ++k) {
            const ElementPlace a = element_place(part, row, k),
                               b = element_place(whole, first * rows + row, k);
            ASSERT_EQ(a.word, b.word);
            ASSERT_EQ(a.half, b.half);
          }
      }
  }
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
      costs.push_back(rows / 40 * 9.05 * 128 + rows * row_bytes);
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
      EXPECT_LE(of_block[b] - costs[dealt.shares[dealt.first_of_block[b + 1] - 1].window],
                least * (1 + 1e-9));
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

TEST(TileCosts, FollowPrecisionValuesAndWords) {
  constexpr std::uint64_t kMany = 100'000'000;
  EXPECT_EQ(tile_costs(4, false, kMany - 1).slice, kTileCosts.slice);
  EXPECT_EQ(tile_costs(4, false, kMany).slice, kFarTileCosts.slice);
  EXPECT_EQ(tile_costs(8, false, kMany).slice, kWideTileCosts.slice);
  EXPECT_EQ(tile_costs(4, true, kMany).slice, kWeightedTileCosts.slice);
  EXPECT_EQ(tile_costs(8, true, 1).slice, kWideWeightedTileCosts.slice);
}

}  // namespace
}  // namespace tessera::cuda
