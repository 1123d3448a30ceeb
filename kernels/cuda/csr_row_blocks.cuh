// The plain CSR product of one vector on a device, as its blocks of threads make it: a block stages in shared
// memory what the elements of its rows add (cuda_row_blocks.hpp). So the elements are read side by side, many
// at a time, and no thread waits for a row of its own.
#pragma once
#include <type_traits>

#include "kernels/cuda/arrivals.cuh"
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {

inline constexpr unsigned kRowBlockGroups = kRowBlockThreads / kSumLanes, kRowBlockWarp = 32;
static_assert(kSumChunk * kRowBlockGroups >= kManyStaged, "a chunk a group");

/// What an element adds to its row: an entry of x, or a product in double.
template <bool kWeighted, class S>
using Term = std::conditional_t<kWeighted, double, S>;

/// What a block has in shared memory: its terms, and where each row's begin.
template <class T, std::uint32_t kSize>
struct StagedTerms {
  static constexpr unsigned kThreads = kRowBlockThreads;
  T terms[kSize];
  std::uint16_t begin[most_rows_of(kSize) + 1];
  double parts[kThreads];
};

template <bool kWeighted, std::uint32_t kSize, class S>
__device__ void stage(const CsrView<S>& a, EdgeOffset begin, std::uint32_t size, const S* x,
                      Term<kWeighted, S>* terms) {
  constexpr unsigned kEach = kSize / kRowBlockThreads;
  const VertexId* columns = a.col_indices + begin;
  const S* values = a.values + (kWeighted ? begin : 0);
  VertexId mine[kEach];
#pragma unroll
  for (unsigned j = 0; j < kEach; ++j)
    if (const std::uint32_t k = j * kRowBlockThreads + threadIdx.x; k < size) mine[j] = __ldcs(columns + k);
#pragma unroll
  for (unsigned j = 0; j < kEach; ++j)
    if (const std::uint32_t k = j * kRowBlockThreads + threadIdx.x; k < size) {
      if constexpr (kWeighted)
        terms[k] = product<true>(values, k, x[mine[j]]);
      else
        terms[k] = x[mine[j]];
    }
}

/// Of the matrix, asked for here: the compiler would wait for the first column of a thread before it asks for
/// the third, to save registers.
__device__ inline VertexId read_now(const VertexId* from) {
  VertexId value;
  asm volatile("ld.global.cs.u32 %0, [%1];" : "=r"(value) : "l"(from));
  return value;
}
__device__ inline float read_now(const float* from) {
  float value;
  asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}
__device__ inline double read_now(const double* from) {
  double value;
  asm volatile("ld.global.cs.f64 %0, [%1];" : "=d"(value) : "l"(from));
  return value;
}

/// stage() with values for kSize elements, of which the last kRowBlockThreads may be others': without
/// branches, so that a thread's loads are under way together; those of values and inputs half at a time, as
/// more registers would be kept in memory.
template <std::uint32_t kSize, class S>
__device__ void stage_all(const CsrView<S>& a, EdgeOffset begin, const S* x, double* terms) {
  constexpr unsigned kEach = kSize / kRowBlockThreads, kAtOnce = kEach / 2;
  static_assert(kEach % kAtOnce == 0 && kReadAhead >= kRowBlockThreads);
  const VertexId* columns = a.col_indices + (begin + threadIdx.x);
  const S* values = a.values + (begin + threadIdx.x);
  terms += threadIdx.x;
  VertexId mine[kEach];
#pragma unroll
  for (unsigned j = 0; j < kEach; ++j) mine[j] = read_now(columns + j * kRowBlockThreads);
#pragma unroll
  for (unsigned first = 0; first < kEach; first += kAtOnce) {
    S own[kAtOnce], inputs[kAtOnce];
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j) own[j] = read_now(values + (first + j) * kRowBlockThreads);
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j) inputs[j] = x[mine[first + j]];
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j)
      terms[(first + j) * kRowBlockThreads] = product<true>(own, j, inputs[j]);
  }
}

/// The terms of a block. Without values its loads gain nothing by being asked for together.
template <bool kWeighted, std::uint32_t kSize, class S>
__device__ void stage_block(const CsrView<S>& a, EdgeOffset begin, std::uint32_t size, const S* x,
                            Term<kWeighted, S>* terms) {
  if constexpr (kWeighted)
    if (size > kSize - kRowBlockThreads) return stage_all<kSize>(a, begin, x, terms);
  stage<kWeighted, kSize>(a, begin, size, x, terms);
}

/// A thread's sum of up to kSumChunk terms.
template <class T>
__device__ double thread_sum(const T* terms, std::uint32_t width) {
  double lanes[kSumLanes] = {};
  std::uint32_t k = 0;
  for (; k + kSumLanes <= width; k += kSumLanes) {
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) lanes[j] += static_cast<double>(terms[k + j]);
  }
#pragma unroll
  for (unsigned j = 0; j < kSumLanes - 1; ++j)
    if (k + j < width) lanes[j] += static_cast<double>(terms[k + j]);
  return add_lanes(lanes);
}

/// The same by a group; every one of its threads gets the sum. Whole warps call.
template <class T>
__device__ double group_sum(const T* terms, std::uint32_t width, unsigned lane) {
  double sum = 0;
  for (std::uint32_t k = lane; k < width; k += kSumLanes) sum += static_cast<double>(terms[k]);
  __syncwarp();
#pragma unroll
  for (unsigned distance = 1; distance < kSumLanes; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

/// Rows of up to kSumChunk elements; kAll: there are no others.
template <bool kAll, class Staged>
__device__ void add_rows_by_threads(const Staged& staged, std::uint32_t num_rows, double* y) {
  for (std::uint32_t row = threadIdx.x; row < num_rows; row += kRowBlockThreads) {
    const std::uint32_t begin = staged.begin[row], width = staged.begin[row + 1] - begin;
    if (kAll || width <= kSumChunk) y[row] = thread_sum(staged.terms + begin, width);
  }
}

template <bool kAll, class Staged>
__device__ void add_rows_by_groups(const Staged& staged, std::uint32_t num_rows, double* y) {
  const unsigned lane = threadIdx.x % kSumLanes;
  for (std::uint32_t base = 0; base < num_rows; base += kRowBlockGroups) {
    const std::uint32_t row = base + threadIdx.x / kSumLanes;
    const std::uint32_t begin = row < num_rows ? staged.begin[row] : 0;
    const std::uint32_t width = row < num_rows ? staged.begin[row + 1] - begin : 0;
    const bool is_mine = kAll || width <= kSumChunk;
    const double sum = group_sum(staged.terms + begin, is_mine ? width : 0, lane);
    if (lane == 0 && row < num_rows && is_mine) y[row] = sum;
  }
}

/// Longer rows, a warp each: its groups take a chunk each, which are added in order.
template <class Staged>
__device__ void add_long_rows(const Staged& staged, std::uint32_t num_rows, double* y) {
  constexpr unsigned kInWarp = kRowBlockWarp / kSumLanes;
  const unsigned in_warp = threadIdx.x % kRowBlockWarp / kSumLanes, lane = threadIdx.x % kSumLanes;
  for (std::uint32_t row = threadIdx.x / kRowBlockWarp; row < num_rows;
       row += kRowBlockThreads / kRowBlockWarp) {
    const std::uint32_t begin = staged.begin[row], width = staged.begin[row + 1] - begin;
    if (width <= kSumChunk) continue;
    double sum = 0;
    for (std::uint32_t first = 0; first < width; first += kInWarp * kSumChunk) {
      const std::uint32_t mine = min(first + in_warp * kSumChunk, width);
      const double part = group_sum(staged.terms + begin + mine, min(kSumChunk, width - mine), lane);
#pragma unroll
      for (unsigned g = 0; g < kInWarp; ++g) {
        const double next = __shfl_sync(0xffffffffu, part, g * kSumLanes);
        if (first + g * kSumChunk < width) sum += next;
      }
    }
    if (threadIdx.x % kRowBlockWarp == 0) y[row] = sum;
  }
}

/// The chunks of what is staged, a group each; `sums`: where they go.
template <class Staged>
__device__ void add_chunks(const Staged& staged, std::uint32_t width, double* sums) {
  const unsigned group = threadIdx.x / kSumLanes, lane = threadIdx.x % kSumLanes;
  const std::uint32_t begin = min(group * kSumChunk, width);
  const double sum = group_sum(staged.terms + begin, min(kSumChunk, width - begin), lane);
  if (lane == 0 && begin < width) sums[group] = sum;
}

/// Thread 0 adds the sums of chunks in order.
template <class Staged>
__device__ double add_in_order(Staged& staged, const double* sums, std::uint32_t num_sums) {
  double sum = 0;
  for (std::uint32_t first = 0; first < num_sums; first += Staged::kThreads) {
    const std::uint32_t count = min(Staged::kThreads, num_sums - first);
    if (threadIdx.x < count) staged.parts[threadIdx.x] = __ldcg(sums + first + threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0)
      for (std::uint32_t i = 0; i < count; ++i) sum += staged.parts[i];
    __syncthreads();
  }
  return sum;
}

/// Whether this block is the last of the row's, which writes its sum.
template <class Staged>
__device__ bool add_piece(Staged& staged, std::uint32_t width, const RowBlock& block, const CsrDeal& deal,
                          double* y) {
  __shared__ bool is_last;
  const CutRow row = deal.cut_rows[block.cut_row];
  add_chunks(staged, width, deal.chunk_sums + block.first_sum);
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = arrive(deal.pieces_done + block.cut_row, row.num_pieces - 1) == row.num_pieces - 1;
    if (is_last) see_arrived();
  }
  __syncthreads();
  if (!is_last) return false;
  const double sum = add_in_order(staged, deal.chunk_sums + row.first_sum, row.num_sums);
  if (threadIdx.x == 0) *y = sum;
  return true;
}

template <bool kAll, class Staged>
__device__ void add_short_rows(const Staged& staged, RowSums sums, std::uint32_t num_rows, double* y) {
  if (sums == RowSums::by_threads)
    add_rows_by_threads<kAll>(staged, num_rows, y);
  else
    add_rows_by_groups<kAll>(staged, num_rows, y);
}

/// The rows of a block of threads. By all of its threads, each function behind the one before.
template <bool kWeighted, std::uint32_t kSize, class S>
class BlockOfRows {
 public:
  using Staged = StagedTerms<Term<kWeighted, S>, kSize>;

  /// Reads what no kernel writes.
  __device__ BlockOfRows(const CsrDeal& deal, Staged& staged)
      : deal_(deal), staged_(staged), block_(deal.blocks[blockIdx.x]) {
    const RowBlock next = deal.blocks[blockIdx.x + 1];
    width_ = static_cast<std::uint32_t>(next.first_element - block_.first_element);
    num_rows_ = next.first_row - block_.first_row;
    for (std::uint32_t row = threadIdx.x; row < num_rows_; row += kRowBlockThreads)
      staged.begin[row] = deal.row_begins[block_.first_row + row];
    if (threadIdx.x == 0) staged.begin[num_rows_] = static_cast<std::uint16_t>(width_);
  }
  __device__ VertexId first_row() const { return block_.first_row; }
  /// At most most_rows_of(kSize).
  __device__ std::uint32_t num_rows() const { return block_.sums == RowSums::of_piece ? 1 : num_rows_; }
  /// y[0], ...: of the rows, where this block ends them; else nothing, and false. Not before the last barrier
  /// of the block can others than who wrote them read these.
  __device__ bool sum(const CsrView<S>& a, const S* x, double* y) {
    stage_block<kWeighted, kSize>(a, block_.first_element, width_, x, staged_.terms);
    __syncthreads();
    if (block_.sums == RowSums::of_piece) return add_piece(staged_, width_, block_, deal_, y);
    if (block_.longest <= kSumChunk) {
      add_short_rows<true>(staged_, block_.sums, num_rows_, y);
    } else {
      add_short_rows<false>(staged_, block_.sums, num_rows_, y);
      add_long_rows(staged_, num_rows_, y);
    }
    return true;
  }

 private:
  const CsrDeal& deal_;
  Staged& staged_;
  const RowBlock block_;
  std::uint32_t width_, num_rows_;
};

}  // namespace tessera::cuda
