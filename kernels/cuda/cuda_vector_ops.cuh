// The kernels of cuda_vector_ops.cu: grid-stride loops; the reducing ones go through cuda_exact_sum.cuh.
#pragma once
#include <algorithm>

#include "kernels/backend.hpp"
#include "kernels/cuda/cuda_exact_sum.cuh"

namespace tessera::cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr unsigned kWalkVectors = 8;  ///< vectors of a block that neighbouring threads take

inline unsigned num_blocks(std::uint64_t size) {
  return static_cast<unsigned>(std::min<std::uint64_t>(ceil_div<std::uint64_t>(size, kThreads), 1u << 20));
}
/// Fewer, so that each block has something to add up before it goes to device memory.
inline unsigned num_reduce_blocks(std::uint64_t size) { return std::min(num_blocks(size), 1024u); }

__device__ inline std::uint64_t first_index() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ inline std::uint64_t index_step() { return std::uint64_t{gridDim.x} * kThreads; }

/// Sums of all threads of a block, then of all blocks.
__device__ inline void reduce(const ThreadSums& own, const ExactScale& scale, DeviceSums* all) {
  __shared__ DeviceSums block;
  if (threadIdx.x < kSumWords) reinterpret_cast<Limb*>(&block)[threadIdx.x] = 0;
  __syncthreads();
  own.add_to(scale, block);
  __syncthreads();
  add_block_sums(block, all, threadIdx.x);
}

template <class S>
__global__ void __launch_bounds__(kThreads) fill_kernel(S* vector, std::uint64_t size, S value) {
  for (std::uint64_t i = first_index(); i < size; i += index_step()) vector[i] = value;
}

template <class S>
__global__ void __launch_bounds__(kThreads)
    scatter_kernel(const S* vector, const S* scale, const VertexId* slots, std::uint64_t count,
                   unsigned num_vectors, S* out) {
  const std::uint64_t size = count * num_vectors;
  for (std::uint64_t i = first_index(); i < size; i += index_step()) {
    const std::uint64_t row = i / num_vectors, q = i % num_vectors;
    const std::uint64_t target = slots == nullptr ? row : slots[row];
    out[target * num_vectors + q] = scale == nullptr ? vector[i] : vector[i] * scale[row];
  }
}

template <class S>
__global__ void __launch_bounds__(kThreads)
    select_kernel(const S* block, unsigned num_vectors, const unsigned* kept, unsigned num_kept,
                  std::uint64_t size, S* out) {
  for (std::uint64_t i = first_index(); i < size; i += index_step())
    out[i] = block[i / num_kept * num_vectors + kept[i % num_kept]];
}

template <class S>
__global__ void __launch_bounds__(kThreads)
    rank_kernel(RankUpdate update, const double* y, const S* jump, const S* scale, ExactScale bound,
                bool squares, S* score, std::uint64_t num_rows, DeviceSums* all) {
  ThreadSums sums;
  for (std::uint64_t i = first_index(); i < num_rows; i += index_step()) {
    double value = update.link * y[i];
    if (jump != nullptr) value += update.teleport * static_cast<double>(jump[i]);
    const S stored = static_cast<S>(value + update.constant);
    sums.add_change(bound, squares, static_cast<double>(stored) - static_cast<double>(score[i]));
    sums.total.add(bound, static_cast<double>(stored));
    if (scale[i] == S{0}) sums.dangling.add(bound, static_cast<double>(stored));
    score[i] = stored;
  }
  reduce(sums, bound, all);
}

template <class S>
__global__ void __launch_bounds__(kThreads)
    scale_kernel(double factor, const double* y, ExactScale bound, bool squares, S* score,
                 std::uint64_t num_rows, DeviceSums* all) {
  ThreadSums sums;
  for (std::uint64_t i = first_index(); i < num_rows; i += index_step()) {
    const S stored = static_cast<S>(factor * y[i]);
    sums.add_change(bound, squares, static_cast<double>(stored) - static_cast<double>(score[i]));
    sums.total.add(bound, static_cast<double>(stored));
    score[i] = stored;
  }
  reduce(sums, bound, all);
}

/// Threads (x: vector, y: row); blocks (x: rows, y: groups of kWalkVectors vectors).
template <class S>
__global__ void __launch_bounds__(kThreads)
    walk_kernel(double c, double restart, const double* y, const VertexId* restart_rows, unsigned num_vectors,
                ExactScale bound, bool squares, S* walk, std::uint64_t num_rows, DeviceSums* all) {
  __shared__ DeviceSums block[kWalkVectors];
  const unsigned thread = threadIdx.y * kWalkVectors + threadIdx.x;
  for (unsigned i = thread; i < kWalkVectors * kSumWords; i += kThreads)
    reinterpret_cast<Limb*>(block)[i] = 0;
  __syncthreads();
  const unsigned q = blockIdx.y * kWalkVectors + threadIdx.x;
  if (q < num_vectors) {
    ThreadSums sums;
    const VertexId restart_row = restart_rows[q];
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.y + threadIdx.y; i < num_rows;
         i += std::uint64_t{gridDim.x} * blockDim.y) {
      const std::uint64_t at = i * num_vectors + q;
      const S stored = static_cast<S>(c * y[at] + (i == restart_row ? restart : 0.0));
      sums.add_change(bound, squares, static_cast<double>(stored) - static_cast<double>(walk[at]));
      walk[at] = stored;
    }
    sums.add_to(bound, block[threadIdx.x]);
  }
  __syncthreads();
  for (unsigned v = 0; v < kWalkVectors && blockIdx.y * kWalkVectors + v < num_vectors; ++v)
    add_block_sums(block[v], all + blockIdx.y * kWalkVectors + v, thread);
}

__global__ void __launch_bounds__(kThreads)
    max_kernel(const double* y, std::uint64_t size, ExactScale unused_bound, DeviceSums* all) {
  ThreadSums sums;
  for (std::uint64_t i = first_index(); i < size; i += index_step())
    sums.change_max = fmax(sums.change_max, fabs(y[i]));
  reduce(sums, unused_bound, all);
}

__global__ void __launch_bounds__(kThreads)
    sum_kernel(const double* y, std::uint64_t size, bool squares, ExactScale bound, DeviceSums* all) {
  ThreadSums sums;
  for (std::uint64_t i = first_index(); i < size; i += index_step())
    sums.total.add(bound, squares ? y[i] * y[i] : y[i]);
  reduce(sums, bound, all);
}

}  // namespace tessera::cuda
