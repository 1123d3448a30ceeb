// How the long rows of a CSR matrix are cut for products of several vectors; no device is needed.
#include <gtest/gtest.h>

#include "kernels/cuda/cuda_row_pieces.hpp"

namespace tessera::cuda {
namespace {

PieceDeal deal_of(const std::vector<std::uint64_t>& lengths) {
  std::vector<EdgeOffset> offsets = {7};  // need not begin at 0
  for (const std::uint64_t length : lengths) offsets.push_back(offsets.back() + length);
  return cut_long_rows(offsets);
}

TEST(RowPieces, CoverEveryChunkOfEveryLongRowOnce) {
  const std::vector<std::uint64_t> lengths = {512, 513, 0, 2048, 2049, 3, 100000, 256, 2047, 4096};
  const PieceDeal deal = deal_of(lengths);
  std::uint64_t num_sums = 0, longest_before = ~std::uint64_t{0};
  std::size_t p = 0;
  for (std::uint32_t which = 0; which < deal.cut_rows.size(); ++which) {
    const CutRow& cut = deal.cut_rows[which];
    ASSERT_LT(p, deal.pieces.size());
    const VertexId row = deal.pieces[p].row;
    EXPECT_GT(lengths[row], 512u);
    EXPECT_LE(lengths[row], longest_before);
    longest_before = lengths[row];
    std::uint64_t chunks = 0;
    for (std::uint32_t piece = 0; piece < cut.num_pieces; ++piece, ++p) {
      EXPECT_EQ(deal.pieces[p].row, row);
      EXPECT_EQ(deal.pieces[p].cut_row, which);
      EXPECT_EQ(deal.pieces[p].first_chunk, chunks);
      chunks += 8;
    }
    EXPECT_GE(chunks * 256, lengths[row]);
    EXPECT_LT((chunks - 8) * 256, lengths[row]);
    EXPECT_EQ(cut.num_sums, cut.num_pieces > 1 ? (lengths[row] + 255) / 256 : 0);
    if (cut.num_sums > 0) {
      EXPECT_EQ(cut.first_sum, num_sums);
    }
    num_sums += cut.num_sums;
  }
  EXPECT_EQ(deal.cut_rows.size(), 6u);
  EXPECT_EQ(p, deal.pieces.size());
  EXPECT_EQ(deal.num_sums, num_sums);
}

TEST(RowPieces, AreNoneWhereNoRowIsLong) {
  EXPECT_TRUE(deal_of({}).pieces.empty());
  EXPECT_TRUE(cut_long_rows({}).pieces.empty());
  EXPECT_TRUE(deal_of({1, 512, 0}).pieces.empty());
}

}  // namespace
}  // namespace tessera::cuda
