#include "kernels/cuda/cuda_row_blocks.hpp"

#include <algorithm>

#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {
namespace {

/// Blocks that a multiprocessor should have, if there are elements for so many.
constexpr std::uint64_t kBlocksEach = 8;
constexpr EdgeOffset kNoRows[] = {0};
constexpr std::uint32_t kLeastElements = 256, kLeastRows = 64;

/// What a block gets at most.
struct BlockLimits {
  std::uint32_t num_staged, elements, rows;

  /// Shares of num_blocks, if that is enough.
  static BlockLimits of(std::uint32_t num_staged, std::uint32_t most_rows,
                        std::span<const EdgeOffset> row_offsets, std::uint64_t num_blocks) {
    const auto share = [&](std::uint64_t size, std::uint32_t least, std::uint32_t most) {
      return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ceil_div(size, num_blocks), least, most));
    };
    return {num_staged, share(row_offsets.back() - row_offsets.front(), kLeastElements, num_staged),
            share(row_offsets.size() - 1, kLeastRows, most_rows)};
  }
};

/// The way that takes fewer rounds of about equal cost; a group needs some more to add its lanes.
RowSums way_of(std::uint64_t num_rows, std::uint64_t longest) {
  constexpr std::uint64_t kRoundsOfLanes = 6;
  const std::uint64_t threads = ceil_div<std::uint64_t>(num_rows, kRowBlockThreads) * longest;
  const std::uint64_t groups = ceil_div<std::uint64_t>(num_rows, kRowBlockThreads / kSumLanes) *
                               (ceil_div<std::uint64_t>(longest, kSumLanes) + kRoundsOfLanes);
  return threads <= groups ? RowSums::by_threads : RowSums::by_groups;
}

/// Pieces of one row, a block each.
void cut_row(VertexId row, EdgeOffset begin, EdgeOffset end, RowDeal& deal) {
  static_assert(
      kFewStaged % kSumChunk == 0 && kManyStaged % kSumChunk == 0 && kRankRunStaged % kSumChunk == 0,
      "pieces are whole chunks");
  CutRow cut{.first_sum = static_cast<std::uint32_t>(deal.num_sums)};
  const auto which = static_cast<std::uint32_t>(deal.cut_rows.size());
  for (EdgeOffset at = begin; at < end; at += deal.num_staged, ++cut.num_pieces)
    deal.blocks.push_back({.first_element = at,
                           .first_row = row,
                           .sums = RowSums::of_piece,
                           .cut_row = which,
                           .first_sum = cut.first_sum + cut.num_pieces * (deal.num_staged / kSumChunk)});
  cut.num_sums = static_cast<std::uint32_t>(ceil_div<std::uint64_t>(end - begin, kSumChunk));
  deal.num_sums += cut.num_sums;
  deal.cut_rows.push_back(cut);
}

BlockSizes most_of(std::span<const RowBlock> blocks) {
  BlockSizes most;
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
    const auto elements = static_cast<std::uint32_t>(blocks[b + 1].first_element - blocks[b].first_element),
               rows = static_cast<std::uint32_t>(blocks[b + 1].first_row - blocks[b].first_row);
    most = {std::max(most.elements, elements), std::max(most.rows, rows)};
  }
  return most;
}

RowDeal deal_by(std::span<const EdgeOffset> row_offsets, const BlockLimits& limits) {
  RowDeal deal;
  deal.num_staged = limits.num_staged;
  const auto num_rows = static_cast<VertexId>(row_offsets.size() - 1);
  const auto length = [&](VertexId row) { return row_offsets[row + 1] - row_offsets[row]; };
  deal.row_begins.assign(num_rows, 0);
  for (VertexId row = 0; row < num_rows;) {
    const VertexId first = row;
    const EdgeOffset begin = row_offsets[first];
    if (length(row) > deal.num_staged) {
      cut_row(row, begin, row_offsets[row + 1], deal);
      ++row;
      continue;
    }
    std::uint32_t longest = 0, longest_short = 0;
    do {
      deal.row_begins[row] = static_cast<std::uint16_t>(row_offsets[row] - begin);
      const auto size = static_cast<std::uint32_t>(length(row++));
      longest = std::max(longest, size);
      if (size <= kSumChunk) longest_short = std::max(longest_short, size);
    } while (row < num_rows && row - first < limits.rows && row_offsets[row + 1] - begin <= limits.elements);
    deal.blocks.push_back({.first_element = begin,
                           .first_row = first,
                           .sums = way_of(row - first, longest_short),
                           .longest = longest});
  }
  deal.blocks.push_back({.first_element = row_offsets.back(), .first_row = num_rows});
  deal.most = most_of(deal.blocks);
  return deal;
}

}  // namespace

RowDeal deal_rows(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors) {
  if (row_offsets.empty()) row_offsets = kNoRows;
  const std::uint32_t num_staged =
      row_offsets.back() - row_offsets.front() < kFewElements ? kFewStaged : kManyStaged;
  return deal_by(row_offsets, BlockLimits::of(num_staged, most_rows_of(num_staged), row_offsets,
                                              kBlocksEach * num_multiprocessors));
}

RowDeal deal_rank_run_rows(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors) {
  if (row_offsets.empty()) row_offsets = kNoRows;
  // Rows are no sand: limits of even shares may leave some over.
  for (unsigned shares = num_multiprocessors;; shares -= ceil_div(shares, 16u)) {
    const BlockLimits limits = BlockLimits::of(kRankRunStaged, kRankRunRows, row_offsets, shares);
    RowDeal deal = deal_by(row_offsets, limits);
    const bool is_most = limits.elements == kRankRunStaged && limits.rows == kRankRunRows;
    if (deal.blocks.size() - 1 <= num_multiprocessors || is_most || shares == 1) return deal;
  }
}

}  // namespace tessera::cuda
