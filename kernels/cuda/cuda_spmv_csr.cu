// The plain CSR product on a device: eight threads a row of one chunk, each one of the format's accumulators;
// a block a longer row.
#include <algorithm>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 256;
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

template <bool kWeighted, class S>
__global__ void __launch_bounds__(kThreads)
    multiply_block(CsrView<S> a, const S* __restrict__ x, double* y, unsigned num_vectors) {
  const std::uint64_t size = a.num_rows * num_vectors;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * kThreads) {
    const std::uint64_t row = i / num_vectors, q = i % num_vectors;
    const EdgeOffset begin = a.row_offsets[row];
    y[i] = thread_row_sum<kWeighted>(a.col_indices + begin, a.values + (kWeighted ? begin : 0), 1,
                                     a.row_offsets[row + 1] - begin, x + q, num_vectors);
  }
}

unsigned num_blocks(std::uint64_t num_threads) {
  return static_cast<unsigned>(std::min(ceil_div<std::uint64_t>(num_threads, kThreads), kMostBlocks));
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
    multiply_block<kWeighted><<<num_blocks(a.num_rows * num_vectors), kThreads>>>(a, x, y, num_vectors);
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
