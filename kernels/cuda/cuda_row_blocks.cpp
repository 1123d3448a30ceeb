#include "kernels/cuda/cuda_row_blocks.hpp"

#include <algorithm>

#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {
namespace {

/// Blocks that a multiprocessor should have, if there are elements for so many.
constexpr std::uint64_t kBlocksEach = 8;
constexpr std::uint32_t kLeastElements = 256, kLeastRows = 64;

std::uint32_t limit(std::uint64_t size, unsigned num_multiprocessors, std::uint32_t least,
                    std::uint32_t most) {
  const std::uint64_t even = ceil_div(size, kBlocksEach * num_multiprocessors);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(even, least, most));
}

/// The way that takes fewer rounds of about equal cost; a group needs some more to add its lanes.
RowSums way_of(std::uint64_t num_rows, std::uint64_t longest) {
  constexpr std::uint64_t kRoundsOfLanes = 6;
  const std::uint64_t threads = ceil_div<std::uint64_t>(num_rows, kRowBlockThreads) * longest;
  const std::uint64_t groups = ceil_div<std::uint64_t>(num_rows, kRowBlockThreads / kSumLanes) *
                               (ceil_div<std::uint64_t>(longest, kSumLanes) + kRoundsOfLanes);
  return threads <= groups ? RowSums::by_threads : RowSums::by_groups;
}

}  // namespace

std::vector<RowBlock> deal_rows(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors) {
  if (row_offsets.empty()) return {RowBlock{}};
  const auto num_rows = static_cast<VertexId>(row_offsets.size() - 1);
  const auto most_elements =
      limit(row_offsets.back() - row_offsets.front(), num_multiprocessors, kLeastElements, kStagedElements);
  const auto most_rows = limit(num_rows, num_multiprocessors, kLeastRows, kStagedRows);
  std::vector<RowBlock> blocks;
  for (VertexId row = 0; row < num_rows;) {
    RowBlock block{.first_element = row_offsets[row], .first_row = row};
    std::uint64_t longest = 0;
    for (; row < num_rows && row - block.first_row < most_rows; ++row) {
      const std::uint64_t length = row_offsets[row + 1] - row_offsets[row];
      const bool is_first = row == block.first_row;
      if (!is_first && (length > kSumChunk || row_offsets[row + 1] - block.first_element > most_elements))
        break;
      longest = std::max(longest, length);
      if (length > kSumChunk) {
        ++row;
        break;
      }
    }
    block.sums = longest > kStagedElements ? RowSums::unstaged
                 : longest > kSumChunk     ? RowSums::in_chunks
                                           : way_of(row - block.first_row, longest);
    blocks.push_back(block);
  }
  blocks.push_back({.first_element = row_offsets.back(), .first_row = num_rows});
  return blocks;
}

}  // namespace tessera::cuda
