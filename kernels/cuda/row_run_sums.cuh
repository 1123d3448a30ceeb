// What both kernels for blocks of vectors do with the runs that rows are dealt in (cuda_row_runs.hpp).
#pragma once
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {

constexpr unsigned kBlockThreads = 256, kWarpThreads = 32;
constexpr unsigned kBlocksEach = 4;  // a step of RWR on R-MAT 18 takes 1 to 16 % longer with 3 or 5

/// Groups of kLanes threads do a run each.
struct GroupThread {
  unsigned group, lane;
};
template <unsigned kLanes>
__device__ inline GroupThread group_thread() {
  return {blockIdx.x * (kBlockThreads / kLanes) + threadIdx.x / kLanes, threadIdx.x % kLanes};
}

/// The rows of a run, or its chunk; positions count from the run's first element.
class RunRows {
 public:
  __device__ RunRows(const EdgeOffset* row_offsets, const RowRun& run)
      : ends_(row_offsets + run.first_row + 1), begin_(row_offsets[run.first_row]), row_(run.first_row) {
    rows_left_ = run.end_row - run.first_row;
    EdgeOffset end = *ends_;
    if (run.cut_row != kNotCut) {
      begin_ += EdgeOffset{run.chunk} * kSumChunk;
      end = min(begin_ + kSumChunk, end);
    }
    end_ = static_cast<std::uint32_t>(end - begin_);
    read_next_end();
  }
  __device__ EdgeOffset begin() const { return begin_; }
  __device__ VertexId row() const { return row_; }
  __device__ std::uint32_t end() const { return end_; }            ///< of the row
  __device__ std::uint32_t next_end() const { return next_end_; }  ///< of the row after it, of the last else
  /// False behind the last row.
  __device__ bool advance() {
    if (--rows_left_ == 0) return false;
    ++row_;
    end_ = next_end_;
    read_next_end();
    return true;
  }

 private:
  /// While a row is worked on.
  __device__ void read_next_end() {
    next_end_ = rows_left_ > 1 ? static_cast<std::uint32_t>(*++ends_ - begin_) : end_;
  }

  const EdgeOffset* ends_;
  EdgeOffset begin_;
  VertexId row_, rows_left_;
  std::uint32_t end_, next_end_ = 0;
};

/// Whether this group is the last of those of a row, all of whose sums can be read then. The group's threads
/// call together.
template <unsigned kLanes>
__device__ bool is_last_chunk(unsigned* chunks_done, unsigned num_chunks) {
  const unsigned first = threadIdx.x % kWarpThreads / kLanes * kLanes, mask = (~0u >> (kWarpThreads - kLanes))
                                                                              << first;
  __threadfence();
  __syncwarp(mask);
  unsigned before = 0;
  if (threadIdx.x % kLanes == 0) {
    before = atomicInc(chunks_done, num_chunks - 1);  // back to 0 with the last chunk
    __threadfence();
  }
  const bool is_last = __shfl_sync(mask, before, static_cast<int>(first)) == num_chunks - 1;
  __syncwarp(mask);
  return is_last;
}

__device__ inline double sum_of_chunks(const double* sums, std::uint32_t num_sums, unsigned num_vectors) {
  double sum = 0;
#pragma unroll 16
  for (std::uint32_t c = 0; c < num_sums; ++c) sum += __ldcg(sums + std::uint64_t{c} * num_vectors);
  return sum;
}

/// What a group of threads does of a product with num_vectors vectors: the rows of a run, or a chunk.
class GroupWork {
 public:
  __device__ GroupWork(const RunView& deal, unsigned group, double* y, unsigned num_vectors)
      : run(deal.runs[group]), y_(y), num_vectors_(num_vectors) {
    if (is_cut()) cut_ = deal.cut_rows[run.cut_row];
    chunk_sums_ = deal.chunk_sums + std::uint64_t{cut_.first} * num_vectors;
  }
  /// Where the sums of a row go, or those of the chunk.
  __device__ double* sums_of(VertexId row) const {
    return is_cut() ? chunk_sums_ + std::uint64_t{run.chunk} * num_vectors_
                    : y_ + std::uint64_t{row} * num_vectors_;
  }
  /// At the end, by all kLanes threads: the last group of a row that is cut adds its chunks' sums.
  template <unsigned kLanes>
  __device__ void finish(const RunView& deal) const {
    if (!is_cut() || !is_last_chunk<kLanes>(deal.chunks_done + run.cut_row, cut_.count)) return;
    for (unsigned q = threadIdx.x % kLanes; q < num_vectors_; q += kLanes)
      y_[std::uint64_t{run.first_row} * num_vectors_ + q] =
          sum_of_chunks(chunk_sums_ + q, cut_.count, num_vectors_);
  }

  const RowRun run;

 private:
  __device__ bool is_cut() const { return run.cut_row != kNotCut; }

  ChunkSums cut_;
  double* chunk_sums_;
  double* y_;
  unsigned num_vectors_;
};

}  // namespace tessera::cuda
