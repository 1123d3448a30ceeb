// The plain CSR product of several vectors on a device. A group of kLanes neighbouring threads goes through
// rows, each thread with some of the vectors, whose inputs lie side by side; its accumulators are registers.
// The inputs of the next elements, of the next row, too, are on their way while those before are added.
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 256;

/// Up to kSumLanes elements of a row, from element `first` of the run on.
struct Step {
  std::uint32_t first = 0;
  std::uint32_t count = 0;  ///< 0: there are no more
  VertexId row = 0;
  bool ends_chunk = false, ends_row = false;
};

/// Goes through the elements of a run; positions count from its first one.
class RunCursor {
 public:
  __device__ RunCursor(const EdgeOffset* row_offsets, const RowRun& run)
      : row_offsets_(row_offsets + run.first_row + 1),
        begin_(row_offsets[run.first_row]),
        row_(run.first_row) {
    rows_left_ = run.end_row - run.first_row;
    EdgeOffset end = *row_offsets_;
    if (run.cut_row != kNotCut) {
      begin_ += EdgeOffset{run.chunk} * kSumChunk;
      end = min(begin_ + kSumChunk, end);
    }
    left_in_row_ = static_cast<std::uint32_t>(end - begin_);
    read_next_end();
  }
  __device__ EdgeOffset begin() const { return begin_; }
  __device__ Step next() {
    while (left_in_row_ == 0) {
      if (--rows_left_ == 0) return rows_left_ = 1, Step{};
      ++row_;
      left_in_row_ = next_end_ - at_;
      left_in_chunk_ = kSumChunk;
      read_next_end();
    }
    Step step{.first = at_, .count = min(left_in_row_, kSumLanes), .row = row_};
    at_ += step.count;
    left_in_row_ -= step.count;
    left_in_chunk_ -= kSumLanes;
    step.ends_row = left_in_row_ == 0;
    step.ends_chunk = step.ends_row || left_in_chunk_ == 0;
    if (left_in_chunk_ == 0) left_in_chunk_ = kSumChunk;
    return step;
  }

 private:
  /// While a row is worked on.
  __device__ void read_next_end() {
    if (rows_left_ > 1) next_end_ = static_cast<std::uint32_t>(*++row_offsets_ - begin_);
  }

  const EdgeOffset* row_offsets_;
  EdgeOffset begin_;
  VertexId row_, rows_left_;
  std::uint32_t at_ = 0, left_in_row_, left_in_chunk_ = kSumChunk, next_end_ = 0;
};

/// use(j) for the elements of a step, of which most are full.
template <class Use>
__device__ inline void for_each(const Step& step, const Use& use) {
  if (step.count == kSumLanes) {
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) use(j);
  } else {
#pragma unroll
    for (unsigned j = 0; j < kSumLanes - 1; ++j)
      if (j < step.count) use(j);
  }
}

/// What a thread adds up of a run, for one vector.
template <bool kWeighted, class S>
class RunSums {
 public:
  __device__ RunSums(const CsrView<S>& a, const RowRun& run, const S* x, unsigned num_vectors)
      : cursor_(a.row_offsets, run),
        indices_(a.col_indices + cursor_.begin()),
        values_(a.values + (kWeighted ? cursor_.begin() : 0)),
        x_(reinterpret_cast<const char*>(x)),
        x_stride_(num_vectors * sizeof(S)) {}

  /// use(row, sum) for every row of the run, or for the chunk.
  template <class Use>
  __device__ void add_up(const Use& use) {
    Step even = cursor_.next();
    read_indices(even);
    wait_for_kernels_before();
    S of_even[kSumLanes], of_odd[kSumLanes];
    read_inputs(even, of_even);
    Step odd = cursor_.next();
    read_indices(odd);
    while (true) {
      read_inputs(odd, of_odd);
      add(even, of_even, use);
      even = cursor_.next();
      read_indices(even);
      if (odd.count == 0) return;
      read_inputs(even, of_even);
      add(odd, of_odd, use);
      odd = cursor_.next();
      read_indices(odd);
      if (even.count == 0) return;
    }
  }

 private:
  __device__ void read_indices(const Step& step) {
    const VertexId* indices = indices_ + step.first;
    for_each(step, [&](unsigned j) { next_[j] = indices[j]; });
  }
  __device__ void read_inputs(const Step& step, S (&inputs)[kSumLanes]) const {
    for_each(step, [&](unsigned j) {
      inputs[j] = *reinterpret_cast<const S*>(x_ + std::uint64_t{next_[j]} * x_stride_);
    });
  }
  template <class Use>
  __device__ void add(const Step& step, const S (&inputs)[kSumLanes], const Use& use) {
    const S* values = values_ + step.first;
    for_each(step, [&](unsigned j) { lanes_[j] += product<kWeighted>(values, j, inputs[j]); });
    if (!step.ends_chunk) return;
    sum_ += add_lanes(lanes_);
#pragma unroll
    for (double& lane : lanes_) lane = 0;
    if (!step.ends_row) return;
    use(step.row, sum_);
    sum_ = 0;
  }

  RunCursor cursor_;
  const VertexId* indices_;
  const S* values_;
  const char* x_;
  unsigned x_stride_;  // bytes
  VertexId next_[kSumLanes];
  double lanes_[kSumLanes] = {}, sum_ = 0;
};

/// Whether this group is the last of those of a row, all of whose sums can be read then. The group's threads
/// call together.
template <unsigned kLanes>
__device__ bool is_last_chunk(unsigned* chunks_done, unsigned num_chunks) {
  const unsigned first = threadIdx.x % 32 / kLanes * kLanes, mask = (~0u >> (32 - kLanes)) << first;
  __threadfence();
  __syncwarp(mask);
  unsigned before = 0;
  if (threadIdx.x % kLanes == 0) {
    before = atomicAdd(chunks_done, 1u);
    if (before + 1 == num_chunks) *chunks_done = 0;  // for the next product
  }
  const bool is_last = __shfl_sync(mask, before, static_cast<int>(first)) + 1 == num_chunks;
  if (is_last) __threadfence();
  return is_last;
}

__device__ inline double sum_of_chunks(const double* sums, std::uint32_t num_sums, unsigned num_vectors) {
  double sum = 0;
#pragma unroll 16
  for (std::uint32_t c = 0; c < num_sums; ++c) sum += __ldcg(sums + std::uint64_t{c} * num_vectors);
  return sum;
}

template <bool kWeighted, unsigned kLanes, class S>
__global__ void __launch_bounds__(kThreads)
    multiply_block(CsrView<S> a, RunView deal, const S* x, double* y, unsigned num_vectors) {
  let_next_kernel_begin();
  const unsigned group = (blockIdx.x * kThreads + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  if (group >= deal.num_runs) return wait_for_kernels_before();
  const RowRun run = deal.runs[group];
  const bool is_cut = run.cut_row != kNotCut;
  const CutRow cut = is_cut ? deal.cut_rows[run.cut_row] : CutRow{};
  double* chunk_sums = deal.chunk_sums + std::uint64_t{cut.first_sum} * num_vectors;
  for (unsigned q = lane; q < num_vectors; q += kLanes)
    RunSums<kWeighted, S>(a, run, x + q, num_vectors).add_up([&](VertexId row, double sum) {
      double* sums =
          is_cut ? chunk_sums + std::uint64_t{run.chunk} * num_vectors : y + std::uint64_t{row} * num_vectors;
      __stcg(sums + q, sum);
    });
  if (!is_cut || !is_last_chunk<kLanes>(deal.chunks_done + run.cut_row, cut.num_sums)) return;
  for (unsigned q = lane; q < num_vectors; q += kLanes)
    y[std::uint64_t{run.first_row} * num_vectors + q] =
        sum_of_chunks(chunk_sums + q, cut.num_sums, num_vectors);
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
