// The rows of a block of threads in runs of steps: what no step changes stays in registers and shared memory.
// The sum of a row is the format's (kernels/csr_view.hpp): rows of a few elements are a thread's, chunks of
// others a group's of kSumLanes threads.
#pragma once
#include "kernels/cuda/csr_row_blocks.cuh"
#include "kernels/cuda/rank_run_sums.cuh"
#include "kernels/cuda/row_update.cuh"

namespace tessera::cuda {

/// Elements up to which a row is one thread's.
inline constexpr std::uint32_t kMostOfThread = 16;
/// Chunks of longer rows that a block has at most.
inline constexpr std::uint32_t kMostChunks =
    kRankRunStaged / (kMostOfThread + 1) + kRankRunStaged / kSumChunk;

/// By all threads of a block of kRankRunThreads; between the parts of a step is a barrier, as they say.
template <bool kWeighted, class S>
class RankRunRows {
 public:
  /// Of a step, for the rows of all sides of a run.
  struct Scratch {
    static constexpr unsigned kThreads = kRankRunThreads;
    double terms[kRankRunStaged];
    double parts[kThreads];
    double chunk_sums[kMostChunks];
  };
  /// Of these rows.
  struct Kept {
    struct Chunk {
      std::uint16_t begin, size;
    } chunks[kMostChunks];
    std::uint32_t num_chunks;
  };

  /// Ends before a barrier.
  __device__ RankRunRows(const CsrView<S>& a, const CsrDeal& deal, const RankVectors<S>& v, Kept& kept,
                         Scratch& scratch)
      // A block more than the deal has none of its rows.
      : deal_(deal), block_(deal.blocks[min(blockIdx.x, deal.num_blocks)]), kept_(kept), scratch_(scratch) {
    const RowBlock next = deal.blocks[min(blockIdx.x + 1, deal.num_blocks)];
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
      keep(j, row, all_rows);
      score_[j] = v.before[i];
      scale_[j] = v.scale == nullptr ? S{1} : v.scale[i];
      place_[j] = v.slots == nullptr || i >= v.num_out ? static_cast<VertexId>(i) : v.slots[i];
    });
  }
  /// Asks for the elements' inputs, which stage() waits for.
  __device__ void read(const S* x) {
    each_element([&](unsigned j, std::uint32_t) { inputs_[j] = x[columns_[j]]; });
  }
  /// Behind a barrier after add().
  __device__ void stage() {
    each_element(
        [&](unsigned j, std::uint32_t k) { scratch_.terms[k] = product<kWeighted>(values_, j, inputs_[j]); });
  }
  /// Behind a barrier after stage(). Whether this block ends its rows: of a row that is cut only the last one
  /// does.
  __device__ bool add() {
    if (is_piece()) return add_piece(scratch_, num_elements_, block_, deal_, scratch_.chunk_sums);
    // The last threads first, as the first ones have rows.
    constexpr unsigned kGroups = kRankRunThreads / kSumLanes;
    const unsigned group = kGroups - 1 - threadIdx.x / kSumLanes, lane = threadIdx.x % kSumLanes;
    for (std::uint32_t first = 0; first < kept_.num_chunks; first += kGroups) {
      const bool is_there = first + group < kept_.num_chunks;
      const auto chunk = is_there ? kept_.chunks[first + group] : typename Kept::Chunk{0, 0};
      const double sum = chunk_sum(scratch_.terms + chunk.begin, chunk.size, lane);
      if (lane == 0 && is_there) scratch_.chunk_sums[first + group] = sum;
    }
    each_row([&](unsigned j, std::uint32_t, std::uint64_t) {
      if (!in_chunks_[j]) sum_[j] = short_sum(scratch_.terms + first_[j], count_[j]);
    });
    return true;
  }
  /// Threads that have rows of a block which ends them: the first ones.
  __device__ unsigned num_row_threads() const { return min(num_rows_, kRankRunThreads); }
  /// Behind a barrier after add(), where that said so.
  template <bool kSquares>
  __device__ void update(const RankUpdate& update, const RankVectors<S>& v, const ExactScale& bound,
                         bool is_first_step, S* x, RunPieces<kSquares>& pieces) {
    each_row([&](unsigned j, std::uint32_t, std::uint64_t i) {
      // Any block of a row that is cut may have ended it in the step before.
      if (is_piece() && !is_first_step) score_[j] = __ldcg(v.score + i);
      const S now = new_rank(update, v, i, sum_of(j));
      if (i < v.num_out) x[place_[j]] = input_of(v, now, scale_[j]);
      if (is_piece()) v.score[i] = now;
      pieces.add_row(bound, static_cast<double>(now) - static_cast<double>(score_[j]),
                     static_cast<double>(now), scale_[j], v.are_masses);
      score_[j] = now;
    });
  }
  /// Leaves the scores in memory, where update() has left those of rows that are cut.
  __device__ void leave(const RankVectors<S>& v, bool is_updated) const {
    if (is_piece() && is_updated) return;
    each_row([&](unsigned j, std::uint32_t, std::uint64_t i) { v.score[i] = score_[j]; });
  }

 private:
  static constexpr unsigned kElementsEach = kRankRunStaged / kRankRunThreads,
                            kRowsEach = kRankRunRows / kRankRunThreads;

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
  /// Where the elements of the thread's row j lie, and its chunks; num_rows: of the block, scores or not.
  __device__ void keep(unsigned j, std::uint32_t row, std::uint32_t num_rows) {
    first_[j] = 0, count_[j] = 1, in_chunks_[j] = true;
    if (is_piece()) return;
    const VertexId at = block_.first_row + row;
    const std::uint32_t begin = deal_.row_begins[at],
                        end = row + 1 < num_rows ? deal_.row_begins[at + 1] : num_elements_;
    in_chunks_[j] = end - begin > kMostOfThread;
    if (!in_chunks_[j]) {
      first_[j] = static_cast<std::uint16_t>(begin), count_[j] = static_cast<std::uint16_t>(end - begin);
      return;
    }
    const std::uint32_t count = ceil_div(end - begin, kSumChunk), first = atomicAdd(&kept_.num_chunks, count);
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t from = begin + k * kSumChunk;
      kept_.chunks[first + k] = {static_cast<std::uint16_t>(from),
                                 static_cast<std::uint16_t>(min(kSumChunk, end - from))};
    }
    first_[j] = static_cast<std::uint16_t>(first), count_[j] = static_cast<std::uint16_t>(count);
  }
  __device__ double sum_of(unsigned j) const {
    if (!in_chunks_[j]) return sum_[j];
    double sum = 0;
#pragma unroll 1
    for (std::uint32_t k = 0; k < count_[j]; ++k) sum += scratch_.chunk_sums[first_[j] + k];
    return sum;
  }
  /// group_sum() and thread_sum(), with several loads under way: where there is no element 0 is added, which
  /// changes no sum that begins with 0.
  __device__ static double chunk_sum(const double* terms, std::uint32_t size, unsigned lane) {
    constexpr unsigned kAtOnce = 8;
    double sum = 0;
#pragma unroll 1
    for (std::uint32_t first = lane; first < round_up(size, kSumLanes); first += kAtOnce * kSumLanes) {
      double read[kAtOnce];
#pragma unroll
      for (unsigned j = 0; j < kAtOnce; ++j)
        read[j] = first + j * kSumLanes < size ? terms[first + j * kSumLanes] : 0;
#pragma unroll
      for (unsigned j = 0; j < kAtOnce; ++j) sum += read[j];
    }
    __syncwarp();
#pragma unroll
    for (unsigned distance = 1; distance < kSumLanes; distance *= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    return sum;
  }
  __device__ static double short_sum(const double* terms, std::uint32_t size) {
    static_assert(kMostOfThread == 2 * kSumLanes);
    double lanes[kSumLanes];
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) lanes[j] = 0.0 + (j < size ? terms[j] : 0.0);
    if (size > kSumLanes)
#pragma unroll
      for (unsigned j = 0; j < kSumLanes; ++j) lanes[j] += j + kSumLanes < size ? terms[j + kSumLanes] : 0.0;
    return add_lanes(lanes);
  }

  const CsrDeal& deal_;
  const RowBlock block_;
  Kept& kept_;
  Scratch& scratch_;
  std::uint32_t num_elements_, num_rows_;
  VertexId columns_[kElementsEach];
  S values_[kWeighted ? kElementsEach : 1], inputs_[kElementsEach];
  std::uint16_t first_[kRowsEach], count_[kRowsEach];  // elements, or chunks
  bool in_chunks_[kRowsEach];
  double sum_[kRowsEach];  // of elements
  S score_[kRowsEach], scale_[kRowsEach];
  VertexId place_[kRowsEach];
};

}  // namespace tessera::cuda
