// The plain CSR product of one vector on a device: one launch, whose blocks stage what the elements of their
// rows add up in shared memory (cuda_row_blocks.hpp). So the elements are read side by side, many at a time,
// and no thread waits for a row of its own.
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = kRowBlockThreads, kGroups = kThreads / kSumLanes;
static_assert(kSumChunk * kGroups >= kStagedElements, "a chunk a group");

/// What an element adds to its row: an entry of x, or a product in double.
template <bool kWeighted, class S>
using Term = std::conditional_t<kWeighted, double, S>;

/// What a block has in shared memory: its terms, and where each row's begin.
template <class T>
struct Staged {
  T terms[kStagedElements];
  std::uint16_t begin[kStagedRows + 1];
  double parts[kGroups];
};

template <bool kWeighted, class S>
__device__ void stage(const CsrView<S>& a, EdgeOffset begin, std::uint32_t size, const S* x,
                      Term<kWeighted, S>* terms) {
  constexpr unsigned kEach = kStagedElements / kThreads;
  const VertexId* columns = a.col_indices + begin;
  const S* values = a.values + (kWeighted ? begin : 0);
  VertexId mine[kEach];
#pragma unroll
  for (unsigned j = 0; j < kEach; ++j)
    if (const std::uint32_t k = j * kThreads + threadIdx.x; k < size) mine[j] = __ldcs(columns + k);
#pragma unroll
  for (unsigned j = 0; j < kEach; ++j)
    if (const std::uint32_t k = j * kThreads + threadIdx.x; k < size) {
      if constexpr (kWeighted)
        terms[k] = product<true>(values, k, x[mine[j]]);
      else
        terms[k] = x[mine[j]];
    }
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

template <class T>
__device__ void add_rows_by_threads(const Staged<T>& staged, std::uint32_t num_rows, double* y) {
  for (std::uint32_t row = threadIdx.x; row < num_rows; row += kThreads)
    y[row] = thread_sum(staged.terms + staged.begin[row], staged.begin[row + 1] - staged.begin[row]);
}

template <class T>
__device__ void add_rows_by_groups(const Staged<T>& staged, std::uint32_t num_rows, double* y) {
  const unsigned lane = threadIdx.x % kSumLanes;
  for (std::uint32_t base = 0; base < num_rows; base += kGroups) {
    const std::uint32_t row = base + threadIdx.x / kSumLanes;
    const std::uint32_t begin = row < num_rows ? staged.begin[row] : 0;
    const std::uint32_t width = row < num_rows ? staged.begin[row + 1] - begin : 0;
    const double sum = group_sum(staged.terms + begin, width, lane);
    if (lane == 0 && row < num_rows) y[row] = sum;
  }
}

/// One row; its chunks are added in order.
template <class T>
__device__ void add_chunks(Staged<T>& staged, std::uint32_t width, double* y) {
  const unsigned group = threadIdx.x / kSumLanes, lane = threadIdx.x % kSumLanes;
  const std::uint32_t begin = min(group * kSumChunk, width);
  const double part = group_sum(staged.terms + begin, min(kSumChunk, width - begin), lane);
  if (lane == 0) staged.parts[group] = part;
  __syncthreads();
  if (threadIdx.x > 0) return;
  double sum = 0;
  for (std::uint32_t chunk = 0; chunk * kSumChunk < width; ++chunk) sum += staged.parts[chunk];
  *y = sum;
}

template <bool kWeighted, class S>
__global__ void __launch_bounds__(kThreads)
    multiply(CsrView<S> a, const RowBlock* blocks, const S* __restrict__ x, double* y) {
  __shared__ Staged<Term<kWeighted, S>> staged;
  const RowBlock block = blocks[blockIdx.x], next = blocks[blockIdx.x + 1];
  const EdgeOffset begin = block.first_element, size = next.first_element - begin;
  const std::uint32_t num_rows = next.first_row - block.first_row;
  y += block.first_row;
  if (block.sums == RowSums::unstaged) {
    const double sum = block_row_sum<kWeighted>(a.col_indices + begin, a.values + (kWeighted ? begin : 0),
                                                size, x, staged.parts);
    if (threadIdx.x == 0) *y = sum;
    return;
  }
  const auto width = static_cast<std::uint32_t>(size);
  if (block.sums != RowSums::in_chunks)
    for (std::uint32_t row = threadIdx.x; row <= num_rows; row += kThreads)
      staged.begin[row] = static_cast<std::uint16_t>(a.row_offsets[block.first_row + row] - begin);
  stage<kWeighted>(a, begin, width, x, staged.terms);
  __syncthreads();
  if (block.sums == RowSums::in_chunks)
    add_chunks(staged, width, y);
  else if (block.sums == RowSums::by_groups)
    add_rows_by_groups(staged, num_rows, y);
  else
    add_rows_by_threads(staged, num_rows, y);
}

}  // namespace

template <class S>
void spmv(const CsrView<S>& a, const CsrDeal& deal, const S* x, double* y) {
  if (deal.num_blocks == 0) return;
  if (a.values != nullptr)
    multiply<true><<<deal.num_blocks, kThreads>>>(a, deal.blocks, x, y);
  else
    multiply<false><<<deal.num_blocks, kThreads>>>(a, deal.blocks, x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template void spmv(const CsrView<float>&, const CsrDeal&, const float*, double*);
template void spmv(const CsrView<double>&, const CsrDeal&, const double*, double*);

}  // namespace tessera::cuda
