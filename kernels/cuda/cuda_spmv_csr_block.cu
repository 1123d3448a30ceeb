// The plain CSR product of several vectors on a device: a thread a vector, its accumulators in registers.
#include <algorithm>

#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {
namespace {

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

/// kLanes neighbouring threads take a chunk, each some of the vectors, whose inputs lie side by side.
template <unsigned kLanes>
inline constexpr unsigned kThreads = kPieceChunks* kLanes;

/// y of a row of several pieces, once the sums of all of its chunks are there.
__device__ inline void add_chunks(const CutRow& cut, const double* chunk_sums, double* y,
                                  unsigned num_vectors) {
  for (unsigned q = threadIdx.x; q < num_vectors; q += blockDim.x) {
    const double* sums = chunk_sums + std::uint64_t{cut.first_sum} * num_vectors + q;
    double sum = 0;
#pragma unroll 16
    for (std::uint32_t c = 0; c < cut.num_sums; ++c) sum += __ldcg(sums + std::uint64_t{c} * num_vectors);
    __stcs(y + q, sum);
  }
}

/// Whether this block is the last of those of a row, all of whose sums can be read then. All threads call.
__device__ inline bool is_last_piece(unsigned* pieces_done, unsigned num_pieces) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(pieces_done, 1u) + 1 == num_pieces;
    if (is_last) *pieces_done = 0;  // for the next product
  }
  __syncthreads();
  if (is_last) __threadfence();
  return is_last;
}

/// A block, a piece of a long row.
template <bool kWeighted, unsigned kLanes, class S>
__device__ void multiply_piece(const CsrView<S>& a, const PieceView& deal, const S* x, double* y,
                               unsigned num_vectors) {
  __shared__ double parts[kThreads<kLanes>];
  const RowPiece piece = deal.pieces[blockIdx.x];
  const CutRow cut = deal.cut_rows[piece.cut_row];
  const unsigned lane = threadIdx.x % kLanes, chunk = piece.first_chunk + threadIdx.x / kLanes;
  const EdgeOffset begin = a.row_offsets[piece.row] + EdgeOffset{chunk} * kSumChunk,
                   end = a.row_offsets[piece.row + 1];
  double* sums = y + std::uint64_t{piece.row} * num_vectors;
  wait_for_kernels_before();
  for (unsigned q = lane; q - lane < num_vectors; q += kLanes) {
    double sum = 0;
    if (begin < end && q < num_vectors)
      sum = chunk_sum_ahead<kWeighted>(a.col_indices + begin, a.values + (kWeighted ? begin : 0),
                                       static_cast<std::uint32_t>(min(end - begin, EdgeOffset{kSumChunk})),
                                       x + q, num_vectors);
    if (cut.num_pieces > 1) {
      if (begin < end && q < num_vectors)
        __stcg(deal.chunk_sums + (std::uint64_t{cut.first_sum} + chunk) * num_vectors + q, sum);
      continue;
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < kLanes && q < num_vectors) {
      sum = 0;
      // Chunks past the end of the row are 0, which changes no sum.
      for (unsigned c = 0; c < kPieceChunks; ++c) sum += parts[c * kLanes + lane];
      __stcs(sums + q, sum);
    }
    __syncthreads();
  }
  if (cut.num_pieces > 1 && is_last_piece(deal.pieces_done + piece.cut_row, cut.num_pieces))
    add_chunks(cut, deal.chunk_sums, sums, num_vectors);
}

/// The first blocks take a piece each, the others all rows of up to kMostOfWarp elements.
template <bool kWeighted, unsigned kLanes, class S>
__global__ void __launch_bounds__(kThreads<kLanes>)
    multiply_block(CsrView<S> a, PieceView deal, const S* x, double* y, unsigned num_vectors) {
  let_next_kernel_begin();
  if (blockIdx.x < deal.num_pieces) return multiply_piece<kWeighted, kLanes>(a, deal, x, y, num_vectors);
  const unsigned block = blockIdx.x - deal.num_pieces;
  const std::uint64_t step = std::uint64_t{gridDim.x - deal.num_pieces} * kPieceChunks;
  bool waited = false;
  for (std::uint64_t row = std::uint64_t{block} * kPieceChunks + threadIdx.x / kLanes; row < a.num_rows;
       row += step) {
    const EdgeOffset begin = a.row_offsets[row], end = a.row_offsets[row + 1];
    if (!waited) wait_for_kernels_before();
    waited = true;
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
  if (!waited) wait_for_kernels_before();
}

template <bool kWeighted, unsigned kLanes, class S>
void launch_block(const CsrView<S>& a, const PieceView& deal, const S* x, double* y, unsigned num_vectors) {
  // The longest first: the rest fills up beside them.
  const auto others = std::min(ceil_div<std::uint64_t>(a.num_rows, kPieceChunks), kMostBlocks);
  launch_early(multiply_block<kWeighted, kLanes, S>, deal.num_pieces + static_cast<unsigned>(others),
               kThreads<kLanes>, 0, a, deal, x, y, num_vectors);
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const PieceView& deal, const S* x, double* y, unsigned num_vectors) {
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
void spmv_block(const CsrView<S>& a, const PieceView& deal, const S* x, double* y, unsigned num_vectors) {
  if (a.num_rows == 0) return;
  if (a.values != nullptr)
    launch<true>(a, deal, x, y, num_vectors);
  else
    launch<false>(a, deal, x, y, num_vectors);
}

template void spmv_block(const CsrView<float>&, const PieceView&, const float*, double*, unsigned);
template void spmv_block(const CsrView<double>&, const PieceView&, const double*, double*, unsigned);

}  // namespace tessera::cuda
