#include "kernels/cuda/run_cluster.hpp"

#include <algorithm>
#include <bit>

#include "kernels/cuda/run_windows.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kChunksAtOnce = kWarpLanes / kSumLanes;

/// Elements of a row, or of a chunk of it.
struct Piece {
  EdgeOffset first = 0;
  std::uint32_t size = 0;
  std::uint16_t sum = 0;  ///< of the block
};
bool is_longer(const Piece& a, const Piece& b) { return a.size > b.size; }

/// The parts of one block, which go behind those of the blocks before.
class BlockDealer {
 public:
  BlockDealer(std::span<const VertexId> col_indices, std::uint32_t zero_place, ClusterDeal& deal)
      : col_indices_(col_indices), zero_place_(zero_place), deal_(deal) {
    deal.blocks.back().first_task = static_cast<std::uint32_t>(deal.tasks.size());
    deal.blocks.back().first_word = static_cast<std::uint32_t>(deal.words.size());
  }
  /// Of the matrix's elements [begin, end).
  void add_row(EdgeOffset begin, EdgeOffset end) {
    const EdgeOffset length = end - begin;
    ClusterRow row{.first_sum = static_cast<std::uint16_t>(num_sums_)};
    auto& pieces = length <= kMostOfThread ? rows_ : chunks_;
    for (EdgeOffset at = begin; at < end; at += kSumChunk, ++row.num_sums)
      pieces.push_back({at, static_cast<std::uint32_t>(std::min<EdgeOffset>(kSumChunk, end - at)),
                        static_cast<std::uint16_t>(num_sums_++)});
    deal_.rows.push_back(row);
    ++num_rows_;
  }
  void end() {
    std::stable_sort(chunks_.begin(), chunks_.end(), is_longer);
    std::stable_sort(rows_.begin(), rows_.end(), is_longer);
    for (std::size_t i = 0; i < chunks_.size(); i += kChunksAtOnce)
      add_task(std::span(chunks_).subspan(i, std::min<std::size_t>(kChunksAtOnce, chunks_.size() - i)),
               kSumLanes, round_up(ceil_div(chunks_[i].size, kSumLanes), 4u));
    for (std::size_t i = 0; i < rows_.size(); i += kWarpLanes)
      add_task(std::span(rows_).subspan(i, std::min<std::size_t>(kWarpLanes, rows_.size() - i)), 1,
               std::max(2u, std::bit_ceil(rows_[i].size)));
    const ClusterBlock& block = deal_.blocks.back();
    ClusterSizes& most = deal_.most;
    most.rows = std::max(most.rows, num_rows_);
    most.tasks = std::max(most.tasks, static_cast<std::uint32_t>(deal_.tasks.size()) - block.first_task);
    most.words = std::max(most.words, static_cast<std::uint32_t>(deal_.words.size()) - block.first_word);
    most.sums = std::max(most.sums, num_sums_);
  }

 private:
  /// Each piece takes `lanes` lanes, one element a lane in turn; num_elements: even, of the longest lane.
  void add_task(std::span<const Piece> pieces, unsigned lanes, std::uint32_t num_elements) {
    const std::size_t first_word = deal_.words.size();
    deal_.tasks.push_back(
        {.first_word = static_cast<std::uint32_t>(first_word - deal_.blocks.back().first_word),
         .num_elements = static_cast<std::uint16_t>(num_elements),
         .is_of_chunks = lanes > 1});
    deal_.words.resize(first_word + num_elements / 2 * kWarpLanes, zero_place_ << 16 | zero_place_);
    deal_.elements.resize(2 * deal_.words.size(), kNoClusterElement);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const unsigned which = lane / lanes;
      const bool has_sum = which < pieces.size() && lane % lanes == 0;
      deal_.sum_of_lane.push_back(has_sum ? pieces[which].sum : kNoClusterSum);
      if (which >= pieces.size()) continue;
      for (std::uint32_t k = lane % lanes, e = 0; k < pieces[which].size; k += lanes, ++e) {
        const std::size_t at = first_word + e / 2 * kWarpLanes + lane;
        const EdgeOffset element = pieces[which].first + k;
        const unsigned shift = e % 2 * 16;
        deal_.words[at] = (deal_.words[at] & ~(0xffffu << shift)) | col_indices_[element] << shift;
        deal_.elements[2 * at + e % 2] = static_cast<std::uint32_t>(element);
      }
    }
  }

  std::span<const VertexId> col_indices_;
  const std::uint32_t zero_place_;
  ClusterDeal& deal_;
  std::vector<Piece> chunks_, rows_;
  std::uint32_t num_sums_ = 0, num_rows_ = 0;
};

}  // namespace

ClusterDeal deal_cluster_rows(std::span<const EdgeOffset> row_offsets, std::span<const VertexId> col_indices,
                              std::uint32_t num_cols, bool weighted) {
  ClusterDeal deal;
  deal.most.cols = num_cols;
  deal.most.weighted = weighted;
  const auto num_rows = static_cast<VertexId>(row_offsets.size() - 1);
  const auto cost_before = [&](VertexId row) { return row_offsets[row] + kClusterRowCost * row; };
  VertexId row = 0;
  for (unsigned b = 0; b < kClusterBlocks; ++b) {
    deal.blocks.push_back({.first_row = row});
    BlockDealer block(col_indices, num_cols, deal);
    for (; row < num_rows && cost_before(row) * kClusterBlocks < cost_before(num_rows) * (b + 1); ++row)
      block.add_row(row_offsets[row], row_offsets[row + 1]);
    block.end();
  }
  deal.blocks.push_back({.first_row = num_rows,
                         .first_task = static_cast<std::uint32_t>(deal.tasks.size()),
                         .first_word = static_cast<std::uint32_t>(deal.words.size())});
  return deal;
}

}  // namespace tessera::cuda
