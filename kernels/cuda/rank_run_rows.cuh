// The rows of a block of threads in runs of steps of small graphs: what no step changes stays in registers
// and shared memory.
#pragma once
#include "kernels/cuda/rank_run_sums.cuh"
#include "kernels/cuda/row_update.cuh"
#include "kernels/cuda/run_row_sums.cuh"

namespace tessera::cuda {

/// By all threads of a block of kRankRunThreads; between the parts of a step is a barrier, as they say. A
/// thread has up to so many elements and rows. kOfPair: of one of two sides.
template <bool kWeighted, bool kOfPair, class S, unsigned kElementsEach, unsigned kRowsEach>
class RankRunRows {
 public:
  /// Of a step, for the rows of all sides of a run.
  struct Scratch {
    static constexpr unsigned kThreads = kRankRunThreads;
    double terms[kRankRunStaged];
    double parts[kThreads];
    double chunk_sums[kMostChunks];
  };
  using Kept = RunChunks;  ///< of these rows
  /// What a block has of shared memory besides: none is needed.
  struct Room {
    template <class How>
    __device__ Room(const How&, void*) {}
  };

  /// Ends before a barrier.
  __device__ RankRunRows(const RunSide<S>& side, Kept& kept, Scratch& scratch, Room&)
      // A block more than the deal has none of its rows.
      : deal_(side.deal),
        v_(side.vectors),
        block_(deal_.blocks[min(blockIdx.x, deal_.num_blocks)]),
        kept_(kept),
        scratch_(scratch) {
    const CsrView<S>& a = side.a;
    const RankVectors<S>& v = v_;
    const RowBlock next = deal_.blocks[min(blockIdx.x + 1, deal_.num_blocks)];
    num_elements_ = static_cast<std::uint32_t>(next.first_element - block_.first_element);
    const VertexId all_rows = is_piece() ? 1 : next.first_row - block_.first_row,
                   end = static_cast<VertexId>(v.num_rows);
    num_rows_ = block_.first_row < end ? min(all_rows, end - block_.first_row) : 0;
    if (threadIdx.x == 0) kept.num_chunks = 0;
    __syncthreads();
    each_element([&](unsigned j, std::uint32_t k) {
      columns_[j] = a.col_indices[block_.first_element + k];
      if constexpr (kWeighted) values_[j] = a.values[block_.first_element + k];
    });
    each_row([&](unsigned j, std::uint32_t row, std::uint64_t i) {
      rows_[j] = row_at(row, all_rows);
      score_[j] = v.before[i];
      scale_[j] = v.scale == nullptr ? S{1} : v.scale[i];
      if (i < v.places.count) place_[j] = v.places.place_of(i);
    });
  }
  /// Asks for the elements' inputs, which stage() waits for.
  __device__ void read(const S* x) {
    each_element([&](unsigned j, std::uint32_t) { inputs_[j] = x[columns_[j]]; });
  }
  /// Behind a barrier after finish().
  __device__ void stage(const S*) {
    each_element(
        [&](unsigned j, std::uint32_t k) { scratch_.terms[k] = product<kWeighted>(values_, j, inputs_[j]); });
  }
  /// Behind a barrier after stage(): the step of all rows. Gives how many threads, the first ones, have rows.
  template <bool kSquares>
  __device__ unsigned finish(const RankUpdate& update, const ExactScale& bound, bool is_first_step, const S*,
                             S* next_x, RunPieces<kSquares>& pieces) {
    const bool ends_rows = add();
    __syncthreads();
    if (!ends_rows) return 0;
    each_row([&](unsigned j, std::uint32_t, std::uint64_t i) {
      // Any block of a row that is cut may have ended it in the step before.
      if (is_piece() && !is_first_step) score_[j] = __ldcg(v_.score + i);
      const S now = new_rank(update, v_, i, sum_of(j));
      if (i < v_.places.count) next_x[place_[j]] = input_of(v_, now, scale_[j]);
      if (is_piece()) v_.score[i] = now;
      pieces.template add_row<kOfPair>(bound, static_cast<double>(now) - static_cast<double>(score_[j]),
                                       static_cast<double>(now), scale_[j], v_.are_masses);
      score_[j] = now;
    });
    return min(num_rows_, kRankRunThreads);
  }
  /// Leaves the scores in memory, where steps have left those of rows that are cut.
  __device__ void leave(bool is_updated) const {
    if (is_piece() && is_updated) return;
    each_row([&](unsigned j, std::uint32_t, std::uint64_t i) { v_.score[i] = score_[j]; });
  }

 private:
  __device__ bool is_piece() const { return block_.sums == RowSums::of_piece; }
  template <class Use>
  __device__ void each_element(const Use& use) const {
#pragma unroll
    for (unsigned j = 0; j < kElementsEach; ++j)
      if (const std::uint32_t k = j * kRankRunThreads + threadIdx.x; k < num_elements_) use(j, k);
  }
  template <class Use>
  __device__ void each_row(const Use& use) const {
#pragma unroll
    for (unsigned j = 0; j < kRowsEach; ++j) {
      const std::uint32_t row = j * kRankRunThreads + threadIdx.x;
      const std::uint64_t i = std::uint64_t{block_.first_row} + row;
      if (row < num_rows_) use(j, row, i);
    }
  }
  /// num_rows: of the block, scores or not.
  __device__ RunRow row_at(std::uint32_t row, std::uint32_t num_rows) {
    if (is_piece()) return {};
    const VertexId at = block_.first_row + row;
    return {deal_.row_begins[at], row + 1 < num_rows ? deal_.row_begins[at + 1] : num_elements_, kept_};
  }
  /// Whether this block ends its rows: of a row that is cut only the last one does.
  __device__ bool add() {
    if (is_piece()) return add_piece(scratch_, num_elements_, block_, deal_, scratch_.chunk_sums);
    add_run_chunks(scratch_.terms, kept_, scratch_.chunk_sums);
    each_row([&](unsigned j, std::uint32_t, std::uint64_t) {
      const double* terms = scratch_.terms + rows_[j].first;
      if (!rows_[j].in_chunks)
        sum_[j] = short_row_sum([&](std::uint32_t k) { return terms[k]; }, rows_[j].count);
    });
    return true;
  }
  __device__ double sum_of(unsigned j) const {
    return rows_[j].in_chunks ? rows_[j].sum(scratch_.chunk_sums) : sum_[j];
  }

  const CsrDeal& deal_;
  const RankVectors<S>& v_;
  const RowBlock block_;
  Kept& kept_;
  Scratch& scratch_;
  std::uint32_t num_elements_, num_rows_;
  VertexId columns_[kElementsEach];
  S values_[kWeighted ? kElementsEach : 1], inputs_[kElementsEach];
  RunRow rows_[kRowsEach];
  double sum_[kRowsEach];  // of elements
  S score_[kRowsEach], scale_[kRowsEach];
  VertexId place_[kRowsEach];
};

}  // namespace tessera::cuda
