// The plain CSR product on a device. One vector: eight threads a row of one chunk, each one of the format's
// accumulators; a warp or a block a longer row. Several: a thread a vector, its accumulators in registers.
#include <algorithm>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 256, kWarp = 32;
constexpr unsigned kBlockThreads = 512;  // with several vectors
constexpr std::uint64_t kMostBlocks = 1u << 20;

/// Blocks whose warps take a long row each.
__host__ __device__ inline unsigned warp_row_blocks(const LongRows& rows) {
  return static_cast<unsigned>((rows.count - rows.over_warp + kThreads / kWarp - 1) / (kThreads / kWarp));
}

/// Rows of up to kSumChunk elements, by the blocks from `first_block` on.
template <bool kWeighted, class S>
__device__ void multiply_short_rows(const CsrView<S>& a, unsigned first_block, const S* x, double* y) {
  constexpr unsigned kGroups = kThreads / kSumLanes;
  const unsigned member = threadIdx.x % kSumLanes;
  const std::uint64_t step = std::uint64_t{gridDim.x - first_block} * kGroups;
  // Whole warps stay together: `first` is the same for the four rows of a warp.
  const unsigned group = threadIdx.x / kSumLanes, in_warp = group % (kWarp / kSumLanes);
  for (std::uint64_t first = std::uint64_t{blockIdx.x - first_block} * kGroups + group - in_warp;
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

/// One vector, in one launch: the first blocks take a row of more than kMostOfWarp each, the next one long
/// row a warp, the others the short rows.
template <bool kWeighted, class S>
__global__ void __launch_bounds__(kThreads)
    multiply(CsrView<S> a, LongRows long_rows, const S* __restrict__ x, double* y) {
  __shared__ double parts[kThreads / kSumLanes];
  const unsigned blocks_of_warps = warp_row_blocks(long_rows);
  const auto num_block_rows = static_cast<unsigned>(long_rows.over_warp);
  if (blockIdx.x >= num_block_rows + blocks_of_warps)
    return multiply_short_rows<kWeighted>(a, num_block_rows + blocks_of_warps, x, y);
  const bool by_block = blockIdx.x < num_block_rows;
  const std::uint64_t i =
      by_block ? blockIdx.x
               : num_block_rows + (blockIdx.x - num_block_rows) * (kThreads / kWarp) + threadIdx.x / kWarp;
  if (i >= long_rows.count) return;
  const VertexId row = long_rows.rows[i];
  const EdgeOffset begin = a.row_offsets[row], length = a.row_offsets[row + 1] - begin;
  const VertexId* columns = a.col_indices + begin;
  const S* values = a.values + (kWeighted ? begin : 0);
  const double sum = by_block ? block_row_sum<kWeighted>(columns, values, length, x, parts)
                              : warp_row_sum<kWeighted>(columns, values, length, x, threadIdx.x % kWarp);
  if (threadIdx.x % (by_block ? kThreads : kWarp) == 0) y[row] = sum;
}

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
  constexpr unsigned kGroups = kBlockThreads / kLanes;
  __shared__ double parts[kBlockThreads];
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

/// The first num_long blocks take a row each, the others all rows of up to kMostOfWarpInBlock elements.
template <bool kWeighted, unsigned kLanes, class S>
__global__ void __launch_bounds__(kBlockThreads)
    multiply_block(CsrView<S> a, const VertexId* long_rows, unsigned num_long, const S* __restrict__ x,
                   double* y, unsigned num_vectors) {
  if (blockIdx.x < num_long)
    return multiply_long_row<kWeighted, kLanes>(a, long_rows[blockIdx.x], x, y, num_vectors);
  constexpr unsigned kGroups = kBlockThreads / kLanes;
  const std::uint64_t step = std::uint64_t{gridDim.x - num_long} * kGroups;
  for (std::uint64_t row = std::uint64_t{blockIdx.x - num_long} * kGroups + threadIdx.x / kLanes;
       row < a.num_rows; row += step) {
    const EdgeOffset begin = a.row_offsets[row], end = a.row_offsets[row + 1];
    if (end == begin || end - begin > kMostOfWarpInBlock) continue;
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
void launch_block(const CsrView<S>& a, const LongRows& long_rows, const S* x, double* y,
                  unsigned num_vectors) {
  // The longest first: the rest fills up beside them.
  const auto num_long = static_cast<unsigned>(long_rows.over_warp_in_block);
  const auto others = std::min(ceil_div<std::uint64_t>(a.num_rows, kBlockThreads / kLanes), kMostBlocks);
  multiply_block<kWeighted, kLanes><<<num_long + static_cast<unsigned>(others), kBlockThreads>>>(
      a, long_rows.rows, num_long, x, y, num_vectors);
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const LongRows& long_rows, const S* x, double* y, unsigned num_vectors) {
  if (num_vectors == 1) {
    const auto num_long = static_cast<unsigned>(long_rows.over_warp) + warp_row_blocks(long_rows);
    const auto others = std::min(ceil_div<std::uint64_t>(a.num_rows, kThreads / kSumLanes), kMostBlocks);
    multiply<kWeighted><<<num_long + static_cast<unsigned>(others), kThreads>>>(a, long_rows, x, y);
  } else if (num_vectors <= 8) {
    launch_block<kWeighted, 8>(a, long_rows, x, y, num_vectors);
  } else if (num_vectors <= 16) {
    launch_block<kWeighted, 16>(a, long_rows, x, y, num_vectors);
  } else {
    launch_block<kWeighted, 32>(a, long_rows, x, y, num_vectors);
  }
  TESSERA_CUDA_CALL(cudaGetLastError());
}

}  // namespace

template <class S>
void spmv(const CsrView<S>& a, const LongRows& long_rows, const S* x, double* y, unsigned num_vectors) {
  if (a.num_rows == 0) return;
  if (a.values != nullptr)
    launch<true>(a, long_rows, x, y, num_vectors);
  else
    launch<false>(a, long_rows, x, y, num_vectors);
}

template void spmv(const CsrView<float>&, const LongRows&, const float*, double*, unsigned);
template void spmv(const CsrView<double>&, const LongRows&, const double*, double*, unsigned);

}  // namespace tessera::cuda
