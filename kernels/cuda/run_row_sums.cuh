// Sums of the rows of a block of threads in runs of steps, as the format has them (kernels/csr_view.hpp):
// rows of a few elements are a thread's, chunks of others a group's of kSumLanes threads. What they add lies
// in shared memory.
#pragma once
#include "kernels/cuda/csr_row_blocks.cuh"
#include "kernels/cuda/run_windows.hpp"

namespace tessera::cuda {

/// Chunks of longer rows that a block has at most.
inline constexpr std::uint32_t kMostChunks =
    kRankRunStaged / (kMostOfThread + 1) + kRankRunStaged / kSumChunk;

/// The chunks of a block's longer rows, in shared memory.
struct RunChunks {
  struct Chunk {
    std::uint16_t begin, size;
  } chunks[kMostChunks];
  std::uint32_t num_chunks;

  /// Of a row's elements [begin, end); gives which are its chunks.
  __device__ std::uint32_t add(std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t count = ceil_div(end - begin, kSumChunk), first = atomicAdd(&num_chunks, count);
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t from = begin + k * kSumChunk;
      chunks[first + k] = {static_cast<std::uint16_t>(from),
                           static_cast<std::uint16_t>(min(kSumChunk, end - from))};
    }
    return first;
  }
};

/// Where what a row adds lies: its elements, or its chunks.
struct RunRow {
  std::uint16_t first = 0, count = 1;
  bool in_chunks = true;  ///< as the sum of a row that is cut is in the first of them

  __device__ RunRow() {}
  /// Of the elements [begin, end) of a block.
  __device__ RunRow(std::uint32_t begin, std::uint32_t end, RunChunks& chunks)
      : first(static_cast<std::uint16_t>(begin)),
        count(static_cast<std::uint16_t>(end - begin)),
        in_chunks(end - begin > kMostOfThread) {
    if (!in_chunks) return;
    count = static_cast<std::uint16_t>(ceil_div(end - begin, kSumChunk));
    first = static_cast<std::uint16_t>(chunks.add(begin, end));
  }
  /// Behind a barrier after the chunks were added up.
  __device__ double sum(const double* chunk_sums) const {
    double sum = 0;
#pragma unroll 1
    for (std::uint32_t k = 0; k < count; ++k) sum += chunk_sums[first + k];
    return sum;
  }
};

/// group_sum(), with several loads under way: where there is no element 0 is added, which changes no sum that
/// begins with 0. Whole warps call.
/// term(k): what element k adds.
template <class Term>
__device__ double chunk_sum(const Term& term, std::uint32_t size, unsigned lane) {
  constexpr unsigned kAtOnce = 8;
  double sum = 0;
#pragma unroll 1
  for (std::uint32_t first = lane; first < round_up(size, kSumLanes); first += kAtOnce * kSumLanes) {
    double read[kAtOnce];
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j)
      read[j] = first + j * kSumLanes < size ? term(first + j * kSumLanes) : 0;
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j) sum += read[j];
  }
  __syncwarp();
#pragma unroll
  for (unsigned distance = 1; distance < kSumLanes; distance *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

/// thread_sum() of up to kMostOfThread elements, in the same way.
template <class Term>
__device__ double short_row_sum(const Term& term, std::uint32_t size) {
  static_assert(kMostOfThread == 2 * kSumLanes);
  double lanes[kSumLanes];
#pragma unroll
  for (unsigned j = 0; j < kSumLanes; ++j) lanes[j] = 0.0 + (j < size ? term(j) : 0.0);
  if (size > kSumLanes)
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) lanes[j] += j + kSumLanes < size ? term(j + kSumLanes) : 0.0;
  return add_lanes(lanes);
}

/// sums[c]: of chunk c. By all threads of a block of kRankRunThreads.
__device__ inline void add_run_chunks(const double* terms, const RunChunks& chunks, double* sums) {
  // The last threads first, as the first ones have rows.
  constexpr unsigned kGroups = kRankRunThreads / kSumLanes;
  const unsigned group = kGroups - 1 - threadIdx.x / kSumLanes, lane = threadIdx.x % kSumLanes;
  for (std::uint32_t first = 0; first < chunks.num_chunks; first += kGroups) {
    const bool is_there = first + group < chunks.num_chunks;
    const auto chunk = is_there ? chunks.chunks[first + group] : RunChunks::Chunk{0, 0};
    const double sum = chunk_sum([&](std::uint32_t k) { return terms[chunk.begin + k]; }, chunk.size, lane);
    if (lane == 0 && is_there) sums[first + group] = sum;
  }
}

}  // namespace tessera::cuda
