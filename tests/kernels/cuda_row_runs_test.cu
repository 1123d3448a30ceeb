// How the rows of a CSR matrix are dealt for products of several vectors; no device is needed.
#include <gtest/gtest.h>

#include <span>

#include "kernels/block_padding.hpp"
#include "kernels/cuda/cuda_row_runs.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kMultiprocessors = 132;

std::vector<EdgeOffset> offsets_of(const std::vector<std::uint64_t>& lengths) {
  std::vector<EdgeOffset> offsets = {7};  // need not begin at 0
  for (const std::uint64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

/// What runs of whole rows keep to.
struct WholeRows {
  std::uint64_t most_of_row, most_of_run;  ///< elements
  VertexId at_once;                        ///< rows: a run has some times as many, or, before others, fewer
};

/// seen: gets the lengths of the rows in `runs`, which are those that are left.
void expect_whole_rows(std::span<const RowRun> runs, const std::vector<std::uint64_t>& lengths,
                       const WholeRows& how, std::vector<std::uint64_t>& seen) {
  VertexId next = 0;
  for (const RowRun& run : runs) {
    EXPECT_EQ(run.cut_row, kNotCut);
    EXPECT_GE(run.first_row, next);
    ASSERT_GT(run.end_row, run.first_row);
    const VertexId num_rows = run.end_row - run.first_row;
    EXPECT_LE(num_rows, 32u);
    EXPECT_TRUE(num_rows % how.at_once == 0 || num_rows < how.at_once) << num_rows;
    std::uint64_t elements = 0;
    for (VertexId row = run.first_row; row < run.end_row; ++row) {
      EXPECT_GT(lengths[row], 0u);
      EXPECT_LE(lengths[row], how.most_of_row);
      seen[row] += lengths[row];
      elements += lengths[row];
    }
    EXPECT_TRUE(elements <= how.most_of_run || num_rows <= how.at_once) << elements;
    next = run.end_row;
  }
}

/// Every element is in one run: rows of up to 512 whole, longer ones by chunks of 256, the longest first.
void expect_runs(const std::vector<std::uint64_t>& lengths) {
  const RunDeal deal = deal_runs(offsets_of(lengths), kMultiprocessors);
  std::vector<std::uint64_t> seen(lengths.size(), 0);
  std::uint64_t num_sums = 0, longest_before = ~std::uint64_t{0};
  std::size_t r = 0;
  for (std::uint32_t which = 0; which < deal.cut_rows.size(); ++which) {
    const ChunkSums& cut = deal.cut_rows[which];
    ASSERT_LE(r + cut.count, deal.runs.size());
    const VertexId row = deal.runs[r].first_row;
    EXPECT_GT(lengths[row], 512u);
    EXPECT_LE(lengths[row], longest_before);
    longest_before = lengths[row];
    EXPECT_EQ(cut.count, (lengths[row] + 255) / 256);
    EXPECT_EQ(cut.first, num_sums);
    num_sums += cut.count;
    for (std::uint32_t chunk = 0; chunk < cut.count; ++chunk, ++r) {
      EXPECT_EQ(deal.runs[r].first_row, row);
      EXPECT_EQ(deal.runs[r].end_row, row + 1);
      EXPECT_EQ(deal.runs[r].chunk, chunk);
      EXPECT_EQ(deal.runs[r].cut_row, which);
    }
    seen[row] = lengths[row];
  }
  EXPECT_EQ(deal.num_sums, num_sums);
  expect_whole_rows(std::span(deal.runs).subspan(r), lengths, {512, 256, 1}, seen);
  EXPECT_EQ(seen, lengths);
}

TEST(RowRuns, HaveEveryElementOnce) {
  expect_runs({512, 513, 0, 0, 2048, 2049, 3, 100000, 256, 2047, 4096, 1});
  expect_runs({1, 512, 0});
  expect_runs({0, 0, 0});
  std::vector<std::uint64_t> mixed;
  for (std::uint64_t row = 0; row < 100000; ++row) mixed.push_back(row % 1000 == 7 ? row : row * row % 37);
  expect_runs(mixed);
}

TEST(RowRuns, AreManyWhereThereAreFewElements) {
  EXPECT_GT(deal_runs(offsets_of(std::vector<std::uint64_t>(20000, 10)), kMultiprocessors).runs.size(),
            5000u);
}

TEST(RowRuns, AreFullWhereThereAreManyElements) {
  const RunDeal deal = deal_runs(offsets_of(std::vector<std::uint64_t>(300000, 10)), kMultiprocessors);
  EXPECT_EQ(deal.runs.size(), 300000u / 25);  // 250 of 256 elements
  const RunDeal short_rows = deal_runs(offsets_of(std::vector<std::uint64_t>(320000, 1)), kMultiprocessors);
  EXPECT_EQ(short_rows.runs.size(), 320000u / 32);
}

/// Every element is in one run: rows of up to `most` whole, longer ones in runs of four pieces, the longest
/// first.
void expect_runs_in_fours(const std::vector<std::uint64_t>& lengths, std::uint32_t most) {
  const RunDeal deal = deal_runs_in_fours(offsets_of(lengths), most, kMultiprocessors);
  std::vector<std::uint64_t> seen(lengths.size(), 0);
  std::uint64_t num_sums = 0, longest_before = ~std::uint64_t{0};
  std::size_t r = 0;
  for (; r < deal.runs.size() && lengths[deal.runs[r].first_row] > most; ++r) {
    const RowRun& run = deal.runs[r];
    const std::uint64_t length = lengths[run.first_row], num_runs = (length + 4 * most - 1) / (4 * most);
    EXPECT_LE(length, longest_before);
    EXPECT_EQ(run.end_row, run.first_row + 1);
    longest_before = length;
    seen[run.first_row] = length;
    if (num_runs == 1) {
      EXPECT_EQ(run.cut_row, kNotCut);
      continue;
    }
    ASSERT_LT(run.cut_row, deal.cut_rows.size());
    EXPECT_EQ(deal.cut_rows[run.cut_row].count, num_runs);
    EXPECT_EQ(deal.cut_rows[run.cut_row].first, num_sums - run.chunk);
    EXPECT_LT(run.chunk, num_runs);
    ++num_sums;
  }
  EXPECT_EQ(deal.num_sums, num_sums);
  expect_whole_rows(std::span(deal.runs).subspan(r), lengths, {most, 512, 4}, seen);
  EXPECT_EQ(seen, lengths);
}

TEST(RowRuns, InFoursHaveEveryElementOnce) {
  for (const std::uint32_t most : {kMostOfFewColumns, kMostOfPiece}) {
    expect_runs_in_fours({512, 513, 0, 0, 2048, 2049, 3, 100000, 256, 257, 1024, 1025, 1}, most);
    expect_runs_in_fours({1, 512, 0}, most);
    expect_runs_in_fours({0, 0, 0}, most);
    std::vector<std::uint64_t> mixed;
    for (std::uint64_t row = 0; row < 100000; ++row) mixed.push_back(row % 1000 == 7 ? row : row * row % 37);
    expect_runs_in_fours(mixed, most);
    expect_runs_in_fours(std::vector<std::uint64_t>(100000, 200), most);
  }
}

/// Pieces of a row cover it, are alike, and have as many elements as they may at most.
TEST(RowRuns, PiecesInFoursCoverARow) {
  for (const std::uint32_t most : {kMostOfFewColumns, kMostOfPiece})
    for (std::uint64_t length = 1; length < 70000; length += length < 3000 ? 1 : 97) {
      const PiecesInFours cut = pieces_in_fours(length, most);
      EXPECT_EQ(cut.length % 4, 0u);
      EXPECT_LE(cut.length, most);
      EXPECT_EQ(cut.num_runs, (length + 4 * most - 1) / (4 * most));
      EXPECT_GE(4 * std::uint64_t{cut.num_runs} * cut.length, length);
      if (length > most) {
        EXPECT_LT((4 * cut.num_runs) * (std::uint64_t{cut.length} - 4), length);
      }
    }
  EXPECT_EQ(pieces_in_fours(std::uint64_t{1} << 40, 256).num_runs, 1u << 30);
}

TEST(RowRuns, OfNothingAreNone) {
  EXPECT_TRUE(deal_runs_in_fours({}, 256, kMultiprocessors).runs.empty());
  EXPECT_TRUE(deal_runs_in_fours(offsets_of({}), 256, kMultiprocessors).runs.empty());
  EXPECT_TRUE(deal_runs({}, kMultiprocessors).runs.empty());
  EXPECT_TRUE(deal_runs(offsets_of({}), kMultiprocessors).runs.empty());
}

/// What plans of memory count on, for matrices of which every multiprocessor has enough.
TEST(RowRuns, AreNoMoreThanPlansAllowFor) {
  constexpr std::size_t kRows = 1 << 16;
  for (const std::uint64_t length : {1u, 31u, 128u, 129u, 256u, 257u, 512u, 513u, 1024u, 1025u, 2049u})
    for (const std::size_t one_of : {1u, 2u, 3u}) {  // rows, the others empty
      std::vector<std::uint64_t> lengths(kRows, 0);
      for (std::size_t row = 0; row < kRows; row += one_of) lengths[row] = length;
      const auto offsets = offsets_of(lengths);
      const double elements = static_cast<double>(offsets.back() - offsets.front());
      const RunDeal deal = deal_runs(offsets, kMultiprocessors),
                    fours = deal_runs_in_fours(offsets, kMostOfFewColumns, kMultiprocessors);
      EXPECT_LE(static_cast<double>(deal.runs.size()), kRows / 2 + elements / kMostOfDeal.elements_of_run)
          << length;
      EXPECT_LE(static_cast<double>(fours.runs.size()),
                kRows / 2 + elements / kMostOfDealInFours.elements_of_run)
          << length;
      EXPECT_LE(static_cast<double>(deal.num_sums), elements * kMostOfDeal.sums_an_element) << length;
      EXPECT_LE(static_cast<double>(fours.num_sums), elements * kMostOfDealInFours.sums_an_element) << length;
    }
}

}  // namespace
}  // namespace tessera::cuda
