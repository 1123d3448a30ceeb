// How the rows of a CSR matrix are dealt to blocks; no device is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

/// Every row is in one block, and every block is what a kernel can take.
void expect_blocks(const std::vector<EdgeOffset>& offsets) {
  const std::vector<RowBlock> blocks = deal_rows(offsets, kMultiprocessors);
  ASSERT_FALSE(blocks.empty());
  EXPECT_EQ(blocks.front().first_row, 0u);
  EXPECT_EQ(blocks.back().first_row, offsets.size() - 1);
  EXPECT_EQ(blocks.back().first_element, offsets.back());
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
    const RowBlock& block = blocks[b];
    const VertexId end = blocks[b + 1].first_row;
    ASSERT_LT(block.first_row, end);
    EXPECT_EQ(block.first_element, offsets[block.first_row]);
    EXPECT_LE(end - block.first_row, kStagedRows);
    std::uint64_t longest = 0;
    for (VertexId row = block.first_row; row < end; ++row)
      longest = std::max(longest, offsets[row + 1] - offsets[row]);
    const std::uint64_t size = offsets[end] - offsets[block.first_row];
    if (block.sums == RowSums::by_threads || block.sums == RowSums::by_groups) {
      EXPECT_LE(longest, kSumChunk);
      EXPECT_LE(size, kStagedElements);
    } else {
      EXPECT_EQ(end - block.first_row, 1u);
      EXPECT_GT(size, kSumChunk);
      EXPECT_EQ(block.sums == RowSums::unstaged, size > kStagedElements);
    }
  }
}

TEST(RowBlocks, CoverRowsOfAllLengths) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> lengths(1 + random() % 5000);
    for (std::uint64_t& length : lengths) length = random() % (std::uint64_t{1} << random() % 13);
    expect_blocks(offsets_of(lengths));
  }
}

TEST(RowBlocks, StandOnBothSidesOfEachLimit) {
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kSumChunk}, std::uint64_t{kSumChunk + 1},
        std::uint64_t{kStagedElements}, std::uint64_t{kStagedElements + 1}})
    for (const std::size_t count : {1u, 2u, 3000u})
      expect_blocks(offsets_of(std::vector<std::uint64_t>(count, length)));
}

TEST(RowBlocks, OfAnEmptyMatrixAreNone) {
  EXPECT_EQ(deal_rows(std::vector<EdgeOffset>{0}, kMultiprocessors).size(), 1u);
  EXPECT_EQ(deal_rows({}, kMultiprocessors).size(), 1u);
}

TEST(RowBlocks, OfASmallMatrixReachEveryMultiprocessor) {
  const auto offsets = offsets_of(std::vector<std::uint64_t>(20000, 5));
  EXPECT_GT(deal_rows(offsets, kMultiprocessors).size(), 2 * kMultiprocessors);
}

TEST(RowBlocks, OfEvenShortRowsAreSummedByThreadsAndOfLongerOnesByGroups) {
  EXPECT_EQ(deal_rows(offsets_of(std::vector<std::uint64_t>(100000, 3)), 1).front().sums,
            RowSums::by_threads);
  EXPECT_EQ(deal_rows(offsets_of(std::vector<std::uint64_t>(100000, 200)), 1).front().sums,
            RowSums::by_groups);
}

}  // namespace
}  // namespace tessera::cuda
