// The kernels behind the loops of build_memory.cuh.
#pragma once
#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/ascending_search.cuh"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {

template <class F>
__global__ void __launch_bounds__(256) each_kernel(std::uint64_t count, F body) {
  wait_for_kernels_before();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) body(i);
}

/// The i-th of num_threads() stores sixteen bytes, or one where bytes do not begin or end at a multiple of
/// sixteen.
struct FillBytes {
  unsigned char* begin;
  std::uint64_t head, num_words, tail;  ///< bytes, words of sixteen bytes, bytes
  unsigned char byte;

  FillBytes(void* to, std::uint64_t num_bytes, unsigned char with)
      : begin(static_cast<unsigned char*>(to)), byte(with) {
    head = -reinterpret_cast<std::uintptr_t>(to) % sizeof(uint4);
    if (head > num_bytes) head = num_bytes;
    num_words = (num_bytes - head) / sizeof(uint4);
    tail = (num_bytes - head) % sizeof(uint4);
  }
  __host__ __device__ std::uint64_t num_threads() const { return num_words + head + tail; }
  __device__ void operator()(std::uint64_t i) const {
    const unsigned word = byte * 0x01010101u;
    if (i < num_words)
      reinterpret_cast<uint4*>(begin + head)[i] = {word, word, word, word};
    else if (const std::uint64_t rest = i - num_words; rest < head)
      begin[rest] = byte;
    else
      begin[rest + num_words * sizeof(uint4)] = byte;
  }
};

struct FillBoth {
  FillBytes first, second;

  std::uint64_t num_threads() const { return first.num_threads() + second.num_threads(); }
  __device__ void operator()(std::uint64_t i) const {
    if (i < first.num_threads())
      first(i);
    else
      second(i - first.num_threads());
  }
};

/// Words that a kernel is launched with, and stores: a copy from the host takes both it and a device longer,
/// and what follows does not begin before it ends.
struct SentWords {
  static constexpr std::size_t kMost = 896;
  std::uint32_t words[kMost];

  /// Whether they can be so many bytes, stored there.
  static bool take(const void* to, std::size_t num_bytes) {
    return num_bytes <= sizeof words && num_bytes % sizeof(std::uint32_t) == 0 &&
           reinterpret_cast<std::uintptr_t>(to) % sizeof(std::uint32_t) == 0;
  }
};
inline constexpr unsigned kSentThreads = 256;
inline __global__ void __launch_bounds__(kSentThreads)
    store_words_kernel(const __grid_constant__ SentWords sent, std::uint32_t count, std::uint32_t* to) {
  wait_for_kernels_before();
  for (std::uint32_t i = threadIdx.x; i < count; i += kSentThreads) to[i] = sent.words[i];
}

inline constexpr unsigned kRowThreads = 256, kRowElements = 2048;  // of a block
/// Blocks of 256 threads of which a multiprocessor has registers for so many have room beside a block of
/// list_places_kernel (message_places.cuh); others would wait for it.
inline constexpr unsigned kBlocksBesideOthers = 4;

/// Elements kRowElements * b on belong to block b, of starts[num_rows] in all. A thread's loads come before
/// its stores, so that they wait together.
template <class Compute, class Store>
__global__ void __launch_bounds__(kRowThreads, kBlocksBesideOthers)
    each_in_rows_kernel(const std::uint64_t* starts, std::uint64_t num_rows, Compute compute, Store store) {
  wait_for_kernels_before();
  using Scan = cub::BlockScan<unsigned, kRowThreads>;
  constexpr unsigned kItems = kRowElements / kRowThreads;
  __shared__ unsigned row_of[kRowElements];  // less the first row
  __shared__ typename Scan::TempStorage scratch;
  __shared__ std::uint32_t ends[2];  // rows of the first element, and of the one behind the last
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kRowElements, count = starts[num_rows];
  if (first >= count) return;
  if (threadIdx.x < 64) {
    const std::uint64_t element = min(first + threadIdx.x / 32 * kRowElements, count - 1);
    ends[threadIdx.x / 32] = static_cast<std::uint32_t>(
        first_not_below_by_warp(0, num_rows, [=](std::uint64_t row) { return starts[row + 1] <= element; }));
  }
  for (unsigned i = threadIdx.x; i < kRowElements; i += kRowThreads) row_of[i] = 0;
  __syncthreads();
  const std::uint32_t first_row = ends[0], last_row = ends[1];
  for (std::uint64_t row = std::uint64_t{first_row} + 1 + threadIdx.x; row <= last_row; row += kRowThreads) {
    const std::uint64_t at = starts[row] - first;
    if (at < kRowElements && starts[row + 1] > starts[row])
      row_of[at] = static_cast<unsigned>(row - first_row);
  }
  __syncthreads();
  unsigned items[kItems];
  for (unsigned i = 0; i < kItems; ++i) items[i] = row_of[threadIdx.x * kItems + i];
  Scan(scratch).InclusiveScan(items, items, [](unsigned a, unsigned b) { return a < b ? b : a; });
  for (unsigned i = 0; i < kItems; ++i) row_of[threadIdx.x * kItems + i] = items[i];
  __syncthreads();
  decltype(compute(first, first)) results[kItems];
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned at = i * kRowThreads + threadIdx.x;
    if (first + at < count) results[i] = compute(std::uint64_t{first_row} + row_of[at], first + at);
  }
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    const unsigned at = i * kRowThreads + threadIdx.x;
    if (first + at < count) store(first + at, results[i]);
  }
}

}  // namespace tessera::cuda
