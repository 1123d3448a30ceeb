// Products of several vectors, whose rows are dealt in runs (cuda_row_runs.hpp): what all of them share, and
// the product kernel of those that do not go by fours (rows_in_fours.cuh).
#pragma once
#include "kernels/cuda/arrivals.cuh"
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {

inline constexpr unsigned kSumThreads = 256, kSumWarpThreads = 32;
inline constexpr unsigned kBlocksEach = 4;  // a step of RWR on R-MAT 18 takes 1 to 16 % longer with 3 or 5

/// Groups of kLanes threads do a run at a time.
struct GroupThread {
  unsigned group, lane;
};
template <unsigned kLanes>
__device__ inline GroupThread group_thread() {
  return {blockIdx.x * (kSumThreads / kLanes) + threadIdx.x / kLanes, threadIdx.x % kLanes};
}

/// A column of the matrix; the rest of its 256 bytes comes to L2 with it, before it is asked for.
__device__ inline VertexId read_column(const VertexId* from) {
  VertexId column;
  asm volatile("ld.global.L2::256B.u32 %0, [%1];" : "=r"(column) : "l"(from));
  return column;
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
  __device__ std::uint32_t end() const { return end_; }  ///< of the row
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

/// The threads of this one's group, as a mask of its warp.
template <unsigned kLanes>
__device__ inline unsigned group_mask() {
  return (~0u >> (kSumWarpThreads - kLanes)) << (threadIdx.x % kSumWarpThreads / kLanes * kLanes);
}
/// What the group's first thread has. All of them call together.
template <unsigned kLanes>
__device__ inline unsigned first_of_group(unsigned value) {
  return __shfl_sync(group_mask<kLanes>(), value,
                     static_cast<int>(threadIdx.x % kSumWarpThreads / kLanes * kLanes));
}

/// Whether this group is the last of those of a row, all of whose sums can be read then. The group's threads
/// call together.
template <unsigned kLanes>
__device__ bool is_last_chunk(unsigned* chunks_done, unsigned num_chunks) {
  __syncwarp(group_mask<kLanes>());
  unsigned before = 0;
  if (threadIdx.x % kLanes == 0) {
    before = arrive(chunks_done, num_chunks - 1);
    if (before == num_chunks - 1) see_arrived();
  }
  const bool is_last = first_of_group<kLanes>(before) == num_chunks - 1;
  __syncwarp(group_mask<kLanes>());
  return is_last;
}

__device__ inline double sum_of_chunks(const double* sums, std::uint32_t num_sums, unsigned num_vectors) {
  double sum = 0;
#pragma unroll 16
  for (std::uint32_t c = 0; c < num_sums; ++c) sum += __ldcg(sums + std::uint64_t{c} * num_vectors);
  return sum;
}

/// A run as its group of threads works on it, of a product with num_vectors vectors.
class GroupWork {
 public:
  __device__ GroupWork(const RunView& deal, unsigned which_run, unsigned num_vectors)
      : run(deal.runs[which_run]), num_vectors_(num_vectors) {
    if (is_cut()) cut_ = deal.cut_rows[run.cut_row];
    chunk_sums_ = deal.chunk_sums + std::uint64_t{cut_.first} * num_vectors;
  }
  /// Whether the run is a chunk, whose sums go to chunk_sums().
  __device__ bool is_cut() const { return run.cut_row != kNotCut; }
  __device__ double* chunk_sums() const { return chunk_sums_ + std::uint64_t{run.chunk} * num_vectors_; }
  /// Behind a chunk, by all kLanes threads: whether this group is the last of its row's.
  template <unsigned kLanes>
  __device__ bool ends_row(unsigned* chunks_done) const {
    return is_last_chunk<kLanes>(chunks_done + run.cut_row, cut_.count);
  }
  /// Of the row's chunks, for vector q, where ends_row().
  __device__ double row_sum(unsigned q) const {
    return sum_of_chunks(chunk_sums_ + q, cut_.count, num_vectors_);
  }

  const RowRun run;

 private:
  ChunkSums cut_;
  double* chunk_sums_;
  unsigned num_vectors_;
};

/// The product, a run a group. Runs: how kLanes threads sum the rows of one, each for vector first + lane,
/// behind the kernels before where they are to wait for them (cuda_spmv_csr_block.cu).
template <class Runs, bool kWeighted, class S>
__global__ void __launch_bounds__(kSumThreads, kBlocksEach)
    multiply_runs(CsrView<S> a, RunView deal, const S* x, double* y, unsigned num_vectors) {
  constexpr unsigned kLanes = Runs::kLanes;
  let_next_kernel_begin();
  const auto [group, lane] = group_thread<kLanes>();
  if (group >= deal.num_runs) return wait_for_kernels_before();
  const GroupWork work(deal, group, num_vectors);
  for (unsigned first = 0; first < num_vectors; first += kLanes) {
    const unsigned q = first + lane;
    Runs::template sum<kWeighted>(
        a, work.run, x, num_vectors, first, lane, true, [&](VertexId row, double sum) {
          double* const sums = work.is_cut() ? work.chunk_sums() : y + std::uint64_t{row} * num_vectors;
          if (q < num_vectors) __stcg(sums + q, sum);
        });
  }
  if (!work.is_cut() || !work.template ends_row<kLanes>(deal.chunks_done)) return;
  for (unsigned q = lane; q < num_vectors; q += kLanes)
    y[std::uint64_t{work.run.first_row} * num_vectors + q] = work.row_sum(q);
}

}  // namespace tessera::cuda
