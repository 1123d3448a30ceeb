// The plain CSR product of several vectors on a device: a thread a vector, its accumulators in registers.
#include <algorithm>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 512;
constexpr std::uint64_t kMostBlocks = 1u << 20;

/// thread_chunk_sum with a stride of 1, which reads the next indices while inputs are on their way.
template <bool kWeighted, class S>
__device__ inline double chunk_sum_ahead(const VertexId* __restrict__ indices, const S* __restrict__ values,
                                         std::uint32_t width, const S* x, unsigned num_vectors) {
  double lanes[kSumLanes] = {};
  VertexId next[kSumLanes];
#pragma unroll
  for (unsigned j = 0; j < kSumLanes; ++j) next[j] = j < width ? indices[j] : 0;
  std::uint32_t k = 0;
  for (; k + kSumLanes <= width; k += kSumLanes) {
    S inputs[kSumLanes];
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) inputs[j] = x[EdgeOffset{next[j]} * num_vectors];
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j)
      next[j] = k + kSumLanes + j < width ? indices[k + kSumLanes + j] : 0;
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) lanes[j] += product<kWeighted>(values, k + j, inputs[j]);
  }
#pragma unroll
  for (unsigned j = 0; j < kSumLanes - 1; ++j)
    if (k + j < width) lanes[j] += product<kWeighted>(values, k + j, x[EdgeOffset{next[j]} * num_vectors]);
  return add_lanes(lanes);
}

/// Several vectors: kLanes neighbouring threads take a row, each some of the vectors, whose inputs lie side
/// by side. Here a block takes a row: kLanes threads a chunk each time, and the first of them add the chunks.
template <bool kWeighted, unsigned kLanes, class S>
__device__ void multiply_long_row(const CsrView<S>& a, std::uint64_t row, const S* x, double* y,
                                  unsigned num_vectors) {
  constexpr unsigned kGroups = kThreads / kLanes;
  __shared__ double parts[kThreads];
  const unsigned lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const EdgeOffset begin = a.row_offsets[row], end = a.row_offsets[row + 1];
  for (unsigned q = lane; q - lane < num_vectors; q += kLanes) {
    double sum = 0;
    for (EdgeOffset first = begin; first < end; first += kGroups * kSumChunk) {
      const EdgeOffset mine = first + group * kSumChunk;
      if (mine < end && q < num_vectors)
        parts[threadIdx.x] = chunk_sum_ahead<kWeighted>(
            a.col_indices + mine, a.values + (kWeighted ? mine : 0),
            static_cast<std::uint32_t>(min(end - mine, EdgeOffset{kSumChunk})), x + q, num_vectors);
      __syncthreads();
      if (group == 0 && q < num_vectors)
        for (unsigned g = 0; g < kGroups && first + g * kSumChunk < end; ++g) sum += parts[g * kLanes + lane];
      __syncthreads();
    }
    if (group == 0 && q < num_vectors) __stcs(y + row * num_vectors + q, sum);
  }
}

/// The first num_long blocks take a row each, the others all rows of up to kMostOfWarp elements.
template <bool kWeighted, unsigned kLanes, class S>
__global__ void __launch_bounds__(kThreads)
    multiply_block(CsrView<S> a, const VertexId* long_rows, unsigned num_long, const S* __restrict__ x,
                   double* y, unsigned num_vectors) {
  if (blockIdx.x < num_long)
    return multiply_long_row<kWeighted, kLanes>(a, long_rows[blockIdx.x], x, y, num_vectors);
  constexpr unsigned kGroups = kThreads / kLanes;
  const std::uint64_t step = std::uint64_t{gridDim.x - num_long} * kGroups;
  for (std::uint64_t row = std::uint64_t{blockIdx.x - num_long} * kGroups + threadIdx.x / kLanes;
       row < a.num_rows; row += step) {
    const EdgeOffset begin = a.row_offsets[row], end = a.row_offsets[row + 1];
    if (end == begin || end - begin > kMostOfWarp) continue;
    for (unsigned q = threadIdx.x % kLanes; q < num_vectors; q += kLanes) {
      double sum = 0;
      for (EdgeOffset mine = begin; mine < end; mine += kSumChunk)
        sum += chunk_sum_ahead<kWeighted>(a.col_indices + mine, a.values + (kWeighted ? mine : 0),
                                          static_cast<std::uint32_t>(min(end - mine, EdgeOffset{kSumChunk})),
                                          x + q, num_vectors);
      __stcs(y + row * num_vectors + q, sum);
    }
  }
}

template <bool kWeighted, unsigned kLanes, class S>
void launch_block(const CsrView<S>& a, const CsrDeal& deal, const S* x, double* y, unsigned num_vectors) {
  // The longest first: the rest fills up beside them.
  const auto others = std::min(ceil_div<std::uint64_t>(a.num_rows, kThreads / kLanes), kMostBlocks);
  multiply_block<kWeighted, kLanes><<<deal.num_long + static_cast<unsigned>(others), kThreads>>>(
      a, deal.long_rows, deal.num_long, x, y, num_vectors);
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const CsrDeal& deal, const S* x, double* y, unsigned num_vectors) {
  if (num_vectors <= 8) {
    launch_block<kWeighted, 8>(a, deal, x, y, num_vectors);
  } else if (num_vectors <= 16) {
    launch_block<kWeighted, 16>(a, deal, x, y, num_vectors);
  } else {
    launch_block<kWeighted, 32>(a, deal, x, y, num_vectors);
  }
  TESSERA_CUDA_CALL(cudaGetLastError());
}

}  // namespace

template <class S>
void spmv_block(const CsrView<S>& a, const CsrDeal& deal, const S* x, double* y, unsigned num_vectors) {
  if (a.num_rows == 0) return;
  if (a.values != nullptr)
    launch<true>(a, deal, x, y, num_vectors);
  else
    launch<false>(a, deal, x, y, num_vectors);
}

template void spmv_block(const CsrView<float>&, const CsrDeal&, const float*, double*, unsigned);
template void spmv_block(const CsrView<double>&, const CsrDeal&, const double*, double*, unsigned);

}  // namespace tessera::cuda
