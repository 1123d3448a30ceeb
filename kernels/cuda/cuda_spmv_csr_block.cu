// The plain CSR product of several vectors on a device. A group of kLanes neighbouring threads goes through
// rows, each thread with some of the vectors, whose inputs lie side by side; its accumulators are registers.
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocksEach = 4;  // a step of RWR on R-MAT 18 takes 13 to 16 % longer with 3 or 5

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
    if (rows_left_ > 1) next_end_ = static_cast<std::uint32_t>(*++ends_ - begin_);
  }

  const EdgeOffset* ends_;
  EdgeOffset begin_;
  VertexId row_, rows_left_;
  std::uint32_t end_, next_end_ = 0;
};

/// The number at so many bytes behind x, asked for here: the compiler would put the load of the last of eight
/// behind the branch that needs it, where it is waited for.
__device__ inline float read_now(const float* x, std::uint64_t offset) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(reinterpret_cast<const char*>(x) + offset));
  return value;
}
__device__ inline double read_now(const double* x, std::uint64_t offset) {
  double value;
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(reinterpret_cast<const char*>(x) + offset));
  return value;
}

__device__ inline void read_columns(const VertexId* from, VertexId (&columns)[kSumLanes]) {
#pragma unroll
  for (unsigned j = 0; j < kSumLanes; ++j) columns[j] = from[j];
}

/// The first `count` elements, each to its accumulator.
template <bool kWeighted, class S>
__device__ inline void add_elements(std::uint32_t count, const S* values, const S (&inputs)[kSumLanes],
                                    double (&lanes)[kSumLanes]) {
  if (count == kSumLanes) {
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) lanes[j] += product<kWeighted>(values, j, inputs[j]);
  } else {
#pragma unroll
    for (unsigned j = 0; j < kSumLanes - 1; ++j)
      if (j < count) lanes[j] += product<kWeighted>(values, j, inputs[j]);
  }
}

/// Sums of the rows of a run, for the vector whose inputs are x[0], x[num_vectors], ...: use(row, sum).
/// kSumLanes elements at a time: those behind the end of a row are of the next one (or of the padding behind
/// the matrix), whose inputs are brought nearer, but not added.
template <bool kWeighted, class S, class Use>
__device__ void sum_run(const CsrView<S>& a, const RowRun& run, const S* x, unsigned num_vectors,
                        const Use& use) {
  RunRows rows(a.row_offsets, run);
  const VertexId* columns = a.col_indices + rows.begin();
  const S* values = a.values + (kWeighted ? rows.begin() : 0);
  const auto stride = static_cast<unsigned>(num_vectors * sizeof(S));
  VertexId next[kSumLanes];
  read_columns(columns, next);
  double lanes[kSumLanes] = {}, sum = 0;
  std::uint32_t at = 0, chunk_end = min(rows.end(), kSumChunk);
  wait_for_kernels_before();
  while (true) {
    S inputs[kSumLanes];
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) inputs[j] = read_now(x, std::uint64_t{next[j]} * stride);
    const std::uint32_t count = min(chunk_end - at, kSumLanes);
    columns += count;
    read_columns(columns, next);
    add_elements<kWeighted>(count, values, inputs, lanes);
    if (kWeighted) values += count;
    at += count;
    if (at < chunk_end) continue;
    sum += add_lanes(lanes);
#pragma unroll
    for (double& lane : lanes) lane = 0;
    if (at == rows.end()) {
      use(rows.row(), sum);
      sum = 0;
      if (!rows.advance()) return;
    }
    chunk_end = min(rows.end(), at + kSumChunk);
  }
}

/// Whether this group is the last of those of a row, all of whose sums can be read then. The group's threads
/// call together.
template <unsigned kLanes>
__device__ bool is_last_chunk(unsigned* chunks_done, unsigned num_chunks) {
  const unsigned first = threadIdx.x % 32 / kLanes * kLanes, mask = (~0u >> (32 - kLanes)) << first;
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

template <bool kWeighted, unsigned kLanes, class S>
__global__ void __launch_bounds__(kThreads, kBlocksEach)
    multiply_block(CsrView<S> a, RunView deal, const S* x, double* y, unsigned num_vectors) {
  let_next_kernel_begin();
  const unsigned group = blockIdx.x * (kThreads / kLanes) + threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  if (group >= deal.num_runs) return wait_for_kernels_before();
  const RowRun run = deal.runs[group];
  const bool is_cut = run.cut_row != kNotCut;
  const ChunkSums cut = is_cut ? deal.cut_rows[run.cut_row] : ChunkSums{};
  double* chunk_sums = deal.chunk_sums + std::uint64_t{cut.first} * num_vectors;
  for (unsigned q = lane; q < num_vectors; q += kLanes)
    sum_run<kWeighted>(a, run, x + q, num_vectors, [&](VertexId row, double sum) {
      double* sums =
          is_cut ? chunk_sums + std::uint64_t{run.chunk} * num_vectors : y + std::uint64_t{row} * num_vectors;
      __stcg(sums + q, sum);
    });
  if (!is_cut || !is_last_chunk<kLanes>(deal.chunks_done + run.cut_row, cut.count)) return;
  for (unsigned q = lane; q < num_vectors; q += kLanes)
    y[std::uint64_t{run.first_row} * num_vectors + q] = sum_of_chunks(chunk_sums + q, cut.count, num_vectors);
}

template <bool kWeighted, unsigned kLanes, class S>
void launch_block(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  launch_early(multiply_block<kWeighted, kLanes, S>, ceil_div(deal.num_runs, kThreads / kLanes), kThreads, 0,
               a, deal, x, y, num_vectors);
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  if (num_vectors <= 8) {
    launch_block<kWeighted, 8>(a, deal, x, y, num_vectors);
  } else if (num_vectors <= 16) {
    launch_block<kWeighted, 16>(a, deal, x, y, num_vectors);
  } else {
    launch_block<kWeighted, 32>(a, deal, x, y, num_vectors);
  }
}

}  // namespace

template <class S>
void spmv_block(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  if (deal.num_runs == 0) return;
  if (a.values != nullptr)
    launch<true>(a, deal, x, y, num_vectors);
  else
    launch<false>(a, deal, x, y, num_vectors);
}

template void spmv_block(const CsrView<float>&, const RunView&, const float*, double*, unsigned);
template void spmv_block(const CsrView<double>&, const RunView&, const double*, double*, unsigned);

}  // namespace tessera::cuda
