// The kernels behind the loops of build_memory.cuh.
#pragma once
#include <cuda_pipeline.h>
#include <cstdint>
#include <cub/block/block_scan.cuh>

namespace tessera::cuda {

template <class F>
__global__ void __launch_bounds__(256) each_kernel(std::uint64_t count, F body) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) body(i);
}

inline constexpr unsigned kRowThreads = 256, kRowElements = 2048;  // of a block

/// Elements kRowElements * b on belong to block b; rows[b] holds the first of them. A thread's loads come
/// before its stores, so that they wait together.
template <class Compute, class Store>
__global__ void __launch_bounds__(kRowThreads)
    each_in_rows_kernel(const std::uint64_t* starts, const std::uint32_t* rows, std::uint64_t count,
                        Compute compute, Store store) {
  using Scan = cub::BlockScan<unsigned, kRowThreads>;
  constexpr unsigned kItems = kRowElements / kRowThreads;
  __shared__ unsigned row_of[kRowElements];  // less the first row
  __shared__ typename Scan::TempStorage scratch;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kRowElements;
  const std::uint32_t first_row = rows[blockIdx.x], last_row = rows[blockIdx.x + 1];
  for (unsigned i = threadIdx.x; i < kRowElements; i += kRowThreads) row_of[i] = 0;
  __syncthreads();
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

inline constexpr unsigned kStagedThreads = 64;

/// ScratchWords of a thread of each_staged_kernel in shared memory, those of all threads side by side, so
/// that threads never ask one bank for different words.
template <unsigned kWords>
struct SharedWords {
  static constexpr unsigned kSize = kWords;
  std::uint32_t* first;

  __host__ __device__ std::uint32_t load(unsigned i) const { return first[i * kStagedThreads]; }
  __host__ __device__ void store(unsigned i, std::uint32_t word) { first[i * kStagedThreads] = word; }
  /// No other thread changes the word; but an atomic operation without a result need not be waited for, as a
  /// load would.
  __host__ __device__ void set_bits(unsigned i, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
    atomicOr(first + i * kStagedThreads, bits);
#else
    first[i * kStagedThreads] |= bits;
#endif
  }
};

/// Elements of a thread's place in shared memory: odd, so that threads at the same element of theirs ask
/// different banks.
template <unsigned kMost>
inline constexpr unsigned kStagedStride = kMost | 1u;

/// A thread a piece of `data`; a warp brings the pieces of its threads to shared memory, one after the other,
/// and back.
template <unsigned kMost, class Words, class T, class Find, class Work>
__global__ void __launch_bounds__(kStagedThreads)
    each_staged_kernel(std::uint64_t count, T* data, Find find, Work work) {
  constexpr unsigned kLanes = 32, kStride = kStagedStride<kMost>;
  extern __shared__ __align__(16) unsigned char shared[];
  const unsigned lane = threadIdx.x % kLanes;
  auto* scratch = reinterpret_cast<std::uint32_t*>(shared);
  T* of_warp =
      reinterpret_cast<T*>(scratch + Words::kSize * kStagedThreads) + threadIdx.x / kLanes * kLanes * kStride;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kStagedThreads + threadIdx.x;
  decltype(find(i)) piece{};
  if (i < count) piece = find(i);
  const std::uint64_t first = i < count ? piece.first() : 0;
  const unsigned size = i < count ? piece.size() : 0;
  const auto each_element = [&](auto&& take) {
    for (unsigned owner = 0; owner < kLanes; ++owner) {
      const std::uint64_t from = __shfl_sync(0xffffffffu, first, owner);
      const unsigned of_owner = __shfl_sync(0xffffffffu, size, owner);
      for (unsigned e = lane; e < of_owner; e += kLanes) take(of_warp + owner * kStride + e, data + from + e);
    }
  };
  each_element([](T* staged, const T* element) { __pipeline_memcpy_async(staged, element, sizeof(T)); });
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  Words words{scratch + threadIdx.x};
  if (i < count) work(piece, of_warp + lane * kStride, words);
  __syncwarp();
  each_element([](const T* staged, T* element) { *element = *staged; });
}

}  // namespace tessera::cuda
