// How the rows of a CSR matrix are dealt to blocks; no device is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "kernels/cuda/cuda_row_blocks.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kMultiprocessors = 132;

std::vector<EdgeOffset> offsets_of(const std::vector<std::uint64_t>& lengths) {
  std::vector<EdgeOffset> offsets = {0};
  for (const std::uint64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

/// Pieces of the row of blocks[b]; gives the block behind them.
std::size_t expect_pieces(const std::vector<EdgeOffset>& offsets, const RowDeal& deal, std::size_t b,
                          std::uint64_t& num_sums) {
  const VertexId row = deal.blocks[b].first_row;
  const std::uint32_t which = deal.blocks[b].cut_row;
  EXPECT_LT(which, deal.cut_rows.size());
  const CutRow& cut = deal.cut_rows[which];
  EXPECT_GT(offsets[row + 1] - offsets[row], deal.num_staged);
  EXPECT_EQ(cut.first_sum, num_sums);
  EXPECT_EQ(cut.num_sums, (offsets[row + 1] - offsets[row] + kSumChunk - 1) / kSumChunk);
  if (cut.num_pieces < 2) throw std::logic_error("a row cut into less than two pieces");
  EdgeOffset at = offsets[row];
  for (std::uint32_t piece = 0; piece < cut.num_pieces; ++piece, ++b) {
    const RowBlock& block = deal.blocks[b];
    EXPECT_EQ(block.sums, RowSums::of_piece);
    EXPECT_EQ(block.first_row, row);
    EXPECT_EQ(block.cut_row, which);
    EXPECT_EQ(block.first_element, at);
    EXPECT_EQ(block.first_sum, cut.first_sum + (at - offsets[row]) / kSumChunk);
    at = std::min<EdgeOffset>(at + deal.num_staged, offsets[row + 1]);
  }
  EXPECT_EQ(at, offsets[row + 1]);
  num_sums += cut.num_sums;
  return b;
}

/// Every element is in one block, and every block is what a kernel can take.
void expect_blocks(const std::vector<EdgeOffset>& offsets, const RowDeal& deal, std::uint32_t most_rows) {
  const std::vector<RowBlock>& blocks = deal.blocks;
  ASSERT_FALSE(blocks.empty());
  EXPECT_EQ(blocks.back().first_row, offsets.size() - 1);
  EXPECT_EQ(blocks.back().first_element, offsets.back());
  VertexId next_row = 0;
  std::uint64_t num_sums = 0;
  for (std::size_t b = 0; b + 1 < blocks.size();) {
    const RowBlock& block = blocks[b];
    ASSERT_EQ(block.first_row, next_row);
    ASSERT_EQ(block.first_element, offsets[next_row]);
    if (block.sums == RowSums::of_piece) {
      b = expect_pieces(offsets, deal, b, num_sums);
      ++next_row;
      continue;
    }
    const VertexId end = blocks[++b].first_row;
    ASSERT_LT(next_row, end);
    EXPECT_LE(end - next_row, most_rows);
    EXPECT_LE(offsets[end] - offsets[next_row], deal.num_staged);
    std::uint64_t longest = 0;
    for (; next_row < end; ++next_row) {
      longest = std::max(longest, offsets[next_row + 1] - offsets[next_row]);
      EXPECT_EQ(deal.row_begins[next_row], offsets[next_row] - block.first_element);
    }
    EXPECT_EQ(block.longest, longest);
  }
  EXPECT_EQ(next_row, offsets.size() - 1);
  BlockSizes most;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    most.elements = std::max<std::uint32_t>(
        most.elements, static_cast<std::uint32_t>(blocks[i].first_element - blocks[i - 1].first_element));
    most.rows = std::max(most.rows, blocks[i].first_row - blocks[i - 1].first_row);
  }
  EXPECT_EQ(deal.most.elements, most.elements);
  EXPECT_EQ(deal.most.rows, most.rows);
  EXPECT_EQ(deal.num_sums, num_sums);
  EXPECT_EQ(deal.row_begins.size(), offsets.size() - 1);
  std::size_t num_cut = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
    num_cut += offsets[row + 1] - offsets[row] > deal.num_staged;
  EXPECT_EQ(deal.cut_rows.size(), num_cut);
}
/// Of products and of runs of ranks.
void expect_blocks(const std::vector<EdgeOffset>& offsets, unsigned num_multiprocessors = kMultiprocessors) {
  const RowDeal deal = deal_rows(offsets, num_multiprocessors);
  expect_blocks(offsets, deal, most_rows_of(deal.num_staged));
  const RowDeal of_run = deal_rank_run_rows(offsets, num_multiprocessors);
  EXPECT_EQ(of_run.num_staged, kRankRunStaged);
  expect_blocks(offsets, of_run, kRankRunRows);
}

TEST(RowBlocks, CoverRowsOfAllLengths) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> lengths(1 + random() % 5000);
    for (std::uint64_t& length : lengths) length = random() % (std::uint64_t{1} << random() % 14);
    expect_blocks(offsets_of(lengths));
  }
}

TEST(RowBlocks, StandOnBothSidesOfEachLimit) {
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kSumChunk}, std::uint64_t{kSumChunk + 1},
        std::uint64_t{kFewStaged}, std::uint64_t{kFewStaged + 1}, std::uint64_t{kManyStaged + 1},
        std::uint64_t{9 * kManyStaged - 1}})
    for (const std::size_t count : {1u, 2u, 3000u})
      expect_blocks(offsets_of(std::vector<std::uint64_t>(count, length)));
}

TEST(RowBlocks, OfFewMultiprocessorsAreFull) {
  for (const std::uint64_t length : {0u, 1u, 3u}) {
    const auto offsets = offsets_of(std::vector<std::uint64_t>(400000, length));
    expect_blocks(offsets, 1);
    const RowDeal deal = deal_rows(offsets, 1);
    const std::uint32_t rows = deal.blocks[1].first_row;
    EXPECT_EQ(rows, length == 3 ? kManyStaged / 3 : most_rows_of(deal.num_staged));
  }
  // Rows of just what is staged are not cut, beside a million elements.
  std::vector<std::uint64_t> lengths(600, kManyStaged);
  lengths.push_back(kManyStaged + 1);
  expect_blocks(offsets_of(lengths), 1);
  EXPECT_EQ(deal_rows(offsets_of(lengths), 1).cut_rows.size(), 1u);
}

TEST(RowBlocks, OfALargeMatrixStageMore) {
  const auto lengths = [](std::uint64_t last) { return std::vector<std::uint64_t>{kFewElements - 1, last}; };
  EXPECT_EQ(deal_rows(offsets_of(lengths(0)), kMultiprocessors).num_staged, kFewStaged);
  EXPECT_EQ(deal_rows(offsets_of(lengths(1)), kMultiprocessors).num_staged, kManyStaged);
}

TEST(RowBlocks, OfAnEmptyMatrixAreNone) {
  EXPECT_EQ(deal_rows(std::vector<EdgeOffset>{0}, kMultiprocessors).blocks.size(), 1u);
  EXPECT_EQ(deal_rows({}, kMultiprocessors).blocks.size(), 1u);
}

TEST(RowBlocks, OfASmallMatrixReachEveryMultiprocessor) {
  const auto offsets = offsets_of(std::vector<std::uint64_t>(20000, 5));
  EXPECT_GT(deal_rows(offsets, kMultiprocessors).blocks.size(), 2 * kMultiprocessors);
}

/// Blocks of threads wait for each other, and one of a multiprocessor runs at once.
TEST(RowBlocks, OfARankRunAreAsManyAsMultiprocessors) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> lengths(1 + random() % 60000);
    for (std::uint64_t& length : lengths) length = random() % (std::uint64_t{1} << random() % 6);
    const auto offsets = offsets_of(lengths);
    const std::size_t num_blocks = deal_rank_run_rows(offsets, kMultiprocessors).blocks.size() - 1;
    EXPECT_LE(num_blocks, kMultiprocessors);
    if (offsets.back() > 300 * kMultiprocessors) {
      EXPECT_GT(num_blocks, kMultiprocessors * 3 / 4);
    }
  }
  // Full blocks, and more of them than could run.
  const auto many = offsets_of(std::vector<std::uint64_t>(2000, kRankRunStaged / 2));
  EXPECT_EQ(deal_rank_run_rows(many, kMultiprocessors).blocks.size() - 1, 1000u);
}

TEST(RowBlocks, OfEvenShortRowsAreSummedByThreadsAndOfLongerOnesByGroups) {
  EXPECT_EQ(deal_rows(offsets_of(std::vector<std::uint64_t>(100000, 3)), 1).blocks.front().sums,
            RowSums::by_threads);
  EXPECT_EQ(deal_rows(offsets_of(std::vector<std::uint64_t>(100000, 200)), 1).blocks.front().sums,
            RowSums::by_groups);
}

}  // namespace
}  // namespace tessera::cuda
