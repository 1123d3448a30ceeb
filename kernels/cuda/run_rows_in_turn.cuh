// The rows of a block of threads in runs of steps of graphs that registers do not hold: several blocks of the
// deal, which it goes through in turn. While it adds up one the inputs of the next are on their way; scores
// and what no step changes come from memory, as a rule from L2.
#pragma once
#include "kernels/cuda/rank_run_sums.cuh"
#include "kernels/cuda/row_update.cuh"
#include "kernels/cuda/run_row_sums.cuh"

namespace tessera::cuda {

/// By all threads of a block of kRankRunThreads, as RankRunRows.
template <bool kWeighted, class S>
class RunRowsInTurn {
 public:
  /// Of a step, for the rows of all sides of a run.
  struct Scratch {
    struct Staged {
      static constexpr unsigned kThreads = kRankRunThreads;
      double terms[kRankRunStaged];
      double parts[kThreads];
      double chunk_sums[kMostChunks];
    } staged[2];  ///< in this turn and in the next
  };
  /// Of these rows.
  struct Kept {
    RowBlock blocks[kMostRunTurns + 1];
    RunChunks chunks[3];  ///< in this turn, in the next, and of the one after that, which are none yet
  };

  __device__ RunRowsInTurn(const RunSide<S>& side, Kept& kept, Scratch& scratch)
      : a_(side.a), deal_(side.deal), v_(side.vectors), kept_(kept), scratch_(scratch) {
    const std::uint32_t first = first_block_of(blockIdx.x);
    num_blocks_ = first_block_of(blockIdx.x + 1) - first;
    if (threadIdx.x <= num_blocks_) kept.blocks[threadIdx.x] = deal_.blocks[first + threadIdx.x];
    if (threadIdx.x < 3) kept.chunks[threadIdx.x].num_chunks = 0;
    __syncthreads();
    load_columns(0);
  }
  /// Asks for the inputs of the first block, which stage() waits for.
  __device__ void read(const S* x) { read(x, 0); }
  __device__ void stage() { stage(0, turn_); }
  /// Behind a barrier after stage(): the step of all rows. Gives how many threads may have rows.
  template <bool kSquares>
  __device__ unsigned finish(const RankUpdate& update, const ExactScale& bound, bool is_first_step,
                             const S* x, S* next_x, RunPieces<kSquares>& pieces) {
    for (std::uint32_t b = 0; b < num_blocks_; ++b, ++turn_) {
      const bool has_next = b + 1 < num_blocks_;
      if (has_next) read(x, b + 1);
      Before before[kRowsEach];
      each_row(b, [&](unsigned j, std::uint32_t, std::uint64_t i) {
        before[j] = {
            __ldcg((is_first_step ? v_.before : v_.score) + i),
            v_.scale == nullptr ? S{1} : __ldcg(v_.scale + i),
            v_.slots == nullptr || i >= v_.num_out ? static_cast<VertexId>(i) : __ldcg(v_.slots + i)};
      });
      RunRow rows[kRowsEach];
      double sums[kRowsEach];
      const bool ends_rows = add(b, rows, sums);
      if (has_next) stage(b + 1, turn_ + 1);
      if (threadIdx.x == 0) kept_.chunks[(turn_ + 2) % 3].num_chunks = 0;
      __syncthreads();
      if (!ends_rows) continue;
      const double* chunk_sums = scratch_.staged[turn_ % 2].chunk_sums;
      each_row(b, [&](unsigned j, std::uint32_t, std::uint64_t i) {
        const S now = new_rank(update, v_, i, rows[j].in_chunks ? rows[j].sum(chunk_sums) : sums[j]);
        if (i < v_.num_out) next_x[before[j].place] = input_of(v_, now, before[j].scale);
        v_.score[i] = now;
        pieces.add_row(bound, static_cast<double>(now) - static_cast<double>(before[j].score),
                       static_cast<double>(now), before[j].scale, v_.are_masses);
      });
    }
    return num_blocks_ > 0 ? kRankRunThreads : 0;
  }
  /// Leaves the scores in memory, where each step has done so.
  __device__ void leave(bool is_updated) const {
    if (is_updated) return;
    for (std::uint32_t b = 0; b < num_blocks_; ++b)
      each_row(b, [&](unsigned, std::uint32_t, std::uint64_t i) { v_.score[i] = v_.before[i]; });
  }

 private:
  static constexpr unsigned kElementsEach = kRankRunStaged / kRankRunThreads,
                            kRowsEach = kRankRunRows / kRankRunThreads;
  struct Before {
    S score, scale;
    VertexId place;
  };

  __device__ std::uint32_t first_block_of(unsigned block) const {
    return static_cast<std::uint32_t>(std::uint64_t{deal_.num_blocks} * block / gridDim.x);
  }
  __device__ const RowBlock& block(std::uint32_t b) const { return kept_.blocks[b]; }
  __device__ bool is_piece(std::uint32_t b) const { return block(b).sums == RowSums::of_piece; }
  __device__ std::uint32_t num_elements(std::uint32_t b) const {
    return static_cast<std::uint32_t>(block(b + 1).first_element - block(b).first_element);
  }
  /// Scores or not.
  __device__ VertexId num_rows(std::uint32_t b) const {
    return is_piece(b) ? 1 : block(b + 1).first_row - block(b).first_row;
  }
  template <class Use>
  __device__ void each_element(std::uint32_t b, const Use& use) const {
    const std::uint32_t size = num_elements(b);
    const EdgeOffset first = block(b).first_element;
#pragma unroll
    for (unsigned j = 0; j < kElementsEach; ++j)
      if (const std::uint32_t k = j * kRankRunThreads + threadIdx.x; k < size) use(j, k, first + k);
  }
  /// Those that have scores.
  template <class Use>
  __device__ void each_row(std::uint32_t b, const Use& use) const {
    const std::uint32_t size = num_rows(b);
#pragma unroll
    for (unsigned j = 0; j < kRowsEach; ++j) {
      const std::uint32_t row = j * kRankRunThreads + threadIdx.x;
      const std::uint64_t i = std::uint64_t{block(b).first_row} + row;
      if (row < size && i < v_.num_rows) use(j, row, i);
    }
  }

  __device__ void load_columns(std::uint32_t b) {
    if (b >= num_blocks_) b = 0;  // of the next step
    if (num_blocks_ == 0) return;
    each_element(b,
                 [&](unsigned j, std::uint32_t, EdgeOffset e) { columns_[j] = __ldcg(a_.col_indices + e); });
  }
  __device__ void read(const S* x, std::uint32_t b) {
    if (num_blocks_ == 0) return;
    each_element(b, [&](unsigned j, std::uint32_t, EdgeOffset e) {
      inputs_[j] = x[columns_[j]];
      if constexpr (kWeighted) values_[j] = __ldcg(a_.values + e);
    });
    load_columns(b + 1);
    if (is_piece(b)) return;
    each_row(b, [&](unsigned j, std::uint32_t row, std::uint64_t i) {
      begins_[j] = __ldcg(deal_.row_begins + i);
      ends_[j] = row + 1 < num_rows(b) ? __ldcg(deal_.row_begins + i + 1)
                                       : static_cast<std::uint16_t>(num_elements(b));
    });
  }
  __device__ void stage(std::uint32_t b, unsigned turn) {
    if (num_blocks_ == 0) return;
    double* terms = scratch_.staged[turn % 2].terms;
    each_element(b, [&](unsigned j, std::uint32_t k, EdgeOffset) {
      terms[k] = product<kWeighted>(values_, j, inputs_[j]);
    });
    RunChunks& chunks = kept_.chunks[turn % 3];
    each_row(b, [&](unsigned j, std::uint32_t, std::uint64_t) {
      rows_[j] = is_piece(b) ? RunRow() : RunRow(begins_[j], ends_[j], chunks);
    });
  }
  /// Whether this block of threads ends the rows of the deal's: of a row that is cut only the last one does.
  __device__ bool add(std::uint32_t b, RunRow (&rows)[kRowsEach], double (&sums)[kRowsEach]) {
    auto& staged = scratch_.staged[turn_ % 2];
    each_row(b, [&](unsigned j, std::uint32_t, std::uint64_t) { rows[j] = rows_[j]; });
    if (is_piece(b)) return add_piece(staged, num_elements(b), block(b), deal_, staged.chunk_sums);
    add_run_chunks(staged.terms, kept_.chunks[turn_ % 3], staged.chunk_sums);
    each_row(b, [&](unsigned j, std::uint32_t, std::uint64_t) {
      if (!rows[j].in_chunks) sums[j] = run_short_sum(staged.terms + rows[j].first, rows[j].count);
    });
    return true;
  }

  const CsrView<S>& a_;
  const CsrDeal& deal_;
  const RankVectors<S>& v_;
  Kept& kept_;
  Scratch& scratch_;
  std::uint32_t num_blocks_;
  unsigned turn_ = 0;                // blocks of the deal that were gone through
  VertexId columns_[kElementsEach];  // of the next block
  S values_[kWeighted ? kElementsEach : 1], inputs_[kElementsEach];
  std::uint16_t begins_[kRowsEach], ends_[kRowsEach];
  RunRow rows_[kRowsEach];
};

}  // namespace tessera::cuda
