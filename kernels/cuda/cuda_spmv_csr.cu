// The plain CSR product on a device. One vector: eight threads a row of one chunk, each one of the format's
// accumulators; a block a longer row. Several: a thread a vector, its accumulators in registers.
#include <algorithm>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLongThreads = 1024;
constexpr std::uint64_t kMostBlocks = 1u << 20;

template <bool kWeighted, class S>
__global__ void __launch_bounds__(kThreads) multiply(CsrView<S> a, const S* __restrict__ x, double* y) {
  const unsigned member = threadIdx.x % kSumLanes;
  const std::uint64_t step = std::uint64_t{gridDim.x} * (kThreads / kSumLanes);
  // Whole warps stay together: `first` is the same for the four rows of a warp.
  const std::uint64_t group = threadIdx.x / kSumLanes, in_warp = group % (32 / kSumLanes);
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * (kThreads / kSumLanes) + group - in_warp;
       first < a.num_rows; first += step) {
    const std::uint64_t row = first + in_warp;
    const bool is_row = row < a.num_rows;
    const EdgeOffset begin = is_row ? a.row_offsets[row] : 0, end = is_row ? a.row_offsets[row + 1] : 0;
    const bool is_short = is_row && end - begin <= kSumChunk;
    const double sum =
        group_chunk_sum<kWeighted>(a.col_indices + begin, a.values + (kWeighted ? begin : 0),
                                   is_short ? static_cast<std::uint32_t>(end - begin) : 0, x, member);
    if (is_short && member == 0) y[row] = sum;
  }
}

template <bool kWeighted, class S>
__global__ void __launch_bounds__(kThreads)
    multiply_long(CsrView<S> a, const VertexId* rows, std::uint64_t num_rows, const S* __restrict__ x,
                  double* y) {
  __shared__ double parts[kThreads / kSumLanes];
  for (std::uint64_t i = blockIdx.x; i < num_rows; i += gridDim.x) {
    const EdgeOffset begin = a.row_offsets[rows[i]];
    const double sum = block_row_sum<kWeighted>(a.col_indices + begin, a.values + (kWeighted ? begin : 0),
                                                a.row_offsets[rows[i] + 1] - begin, x, parts);
    if (threadIdx.x == 0) y[rows[i]] = sum;
  }
}

/// Several vectors: kLanes neighbouring threads take a row of one chunk, each some of the vectors, whose
/// inputs lie side by side.
template <bool kWeighted, unsigned kLanes, class S>
__global__ void __launch_bounds__(kThreads)
    multiply_block(CsrView<S> a, const S* __restrict__ x, double* y, unsigned num_vectors) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * (kThreads / kLanes);
  for (std::uint64_t row = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes; row < a.num_rows;
       row += step) {
    const EdgeOffset begin = a.row_offsets[row], width = a.row_offsets[row + 1] - begin;
    if (width == 0 || width > kSumChunk) continue;
    for (unsigned q = threadIdx.x % kLanes; q < num_vectors; q += kLanes)
      y[row * num_vectors + q] =
          thread_chunk_sum<kWeighted>(a.col_indices + begin, a.values + (kWeighted ? begin : 0), 1,
                                      static_cast<std::uint32_t>(width), x + q, num_vectors);
  }
}

/// A block a longer row: each of its warps sums a chunk at a time for up to 32 vectors, and the first adds
/// the chunks in order.
template <bool kWeighted, class S>
__global__ void __launch_bounds__(kLongThreads)
    multiply_long_block(CsrView<S> a, const VertexId* rows, const S* __restrict__ x, double* y,
                        unsigned num_vectors) {
  __shared__ double parts[kLongThreads];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint64_t row = rows[blockIdx.x];
  const EdgeOffset begin = a.row_offsets[row], end = a.row_offsets[row + 1];
  for (unsigned q = lane; q - lane < num_vectors; q += 32) {
    double sum = 0;
    for (EdgeOffset first = begin; first < end; first += kLongThreads / 32 * kSumChunk) {
      const EdgeOffset mine = first + warp * kSumChunk;
      if (mine < end && q < num_vectors)
        parts[threadIdx.x] = thread_chunk_sum<kWeighted>(
            a.col_indices + mine, a.values + (kWeighted ? mine : 0), 1,
            static_cast<std::uint32_t>(min(end - mine, EdgeOffset{kSumChunk})), x + q, num_vectors);
      __syncthreads();
      if (warp == 0 && q < num_vectors)
        for (unsigned w = 0; w < kLongThreads / 32 && first + w * kSumChunk < end; ++w)
          sum += parts[w * 32 + lane];
      __syncthreads();
    }
    if (warp == 0 && q < num_vectors) y[row * num_vectors + q] = sum;
  }
}

unsigned num_blocks(std::uint64_t num_threads) {
  return static_cast<unsigned>(std::min(ceil_div<std::uint64_t>(num_threads, kThreads), kMostBlocks));
}

template <bool kWeighted, unsigned kLanes, class S>
void launch_block(const CsrView<S>& a, const S* x, double* y, unsigned num_vectors) {
  multiply_block<kWeighted, kLanes><<<num_blocks(a.num_rows * kLanes), kThreads>>>(a, x, y, num_vectors);
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const VertexId* long_rows, std::uint64_t num_long_rows, const S* x,
            double* y, unsigned num_vectors) {
  if (num_vectors == 1) {
    multiply<kWeighted><<<num_blocks(a.num_rows * kSumLanes), kThreads>>>(a, x, y);
    if (num_long_rows > 0)
      multiply_long<kWeighted>
          <<<num_blocks(num_long_rows * kThreads), kThreads>>>(a, long_rows, num_long_rows, x, y);
  } else {
    // The longest first: the rest fills up beside them.
    if (num_long_rows > 0)
      multiply_long_block<kWeighted>
          <<<static_cast<unsigned>(num_long_rows), kLongThreads>>>(a, long_rows, x, y, num_vectors);
    if (num_vectors <= 8)
      launch_block<kWeighted, 8>(a, x, y, num_vectors);
    else if (num_vectors <= 16)
      launch_block<kWeighted, 16>(a, x, y, num_vectors);
    else
      launch_block<kWeighted, 32>(a, x, y, num_vectors);
  }
  TESSERA_CUDA_CALL(cudaGetLastError());
}

}  // namespace

template <class S>
void spmv(const CsrView<S>& a, const VertexId* long_rows, std::uint64_t num_long_rows, const S* x, double* y,
          unsigned num_vectors) {
  if (a.num_rows == 0) return;
  if (a.values != nullptr)
    launch<true>(a, long_rows, num_long_rows, x, y, num_vectors);
  else
    launch<false>(a, long_rows, num_long_rows, x, y, num_vectors);
}

template void spmv(const CsrView<float>&, const VertexId*, std::uint64_t, const float*, double*, unsigned);
template void spmv(const CsrView<double>&, const VertexId*, std::uint64_t, const double*, double*, unsigned);

}  // namespace tessera::cuda
