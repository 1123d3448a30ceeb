// What both passes of tile-messages do on a device (cuda_spmv_messages.cu, cuda_end_update.cu): a block keeps
// a window in shared memory while each of its warps goes through a run of slices, whose words stream through
// a ring of its own.
#pragma once
#include "kernels/cuda/cache_policy.cuh"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/warp_work.cuh"

namespace tessera::cuda {

TESSERA_HD constexpr unsigned ring_bytes(unsigned threads) { return threads / kWarp * kRingBytes; }

template <class S>
struct PassArgs {
  SlicePassView<S> pass;
  const WindowShare* shares;
  const std::uint32_t* first_of_block;
  const S* in;
};

template <unsigned kThreads, bool kOnce, class S>
__device__ inline void start_part(const S* from, std::uint32_t size, S* shared) {
  constexpr unsigned kVector = 16 / sizeof(S);
  const bool aligned = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  const std::uint32_t vectors = aligned ? size / kVector : 0;
  const SharedAddress to = shared_address(shared);
  for (std::uint32_t i = threadIdx.x; i < vectors; i += kThreads)
    start_copy<kOnce>(to + 16 * i, from + i * kVector);
  for (std::uint32_t i = vectors * kVector + threadIdx.x; i < size; i += kThreads)
    __pipeline_memcpy_async(shared + i, from + i, sizeof(S));
}

/// Starts the copy of a share's window into shared memory, with the zero behind it. kOnce: few other blocks
/// read it, or none.
template <unsigned kThreads, bool kOnce, class S>
__device__ void start_window(const PassArgs<S>& args, const WindowShare& share, S* shared) {
  const SlicePassView<S>& pass = args.pass;
  if (pass.parts == nullptr) {
    start_part<kThreads, kOnce>(args.in + share.first_in, share.size, shared);
  } else {
    S* to = shared;
    for (std::uint32_t i = 0; i < pass.num_parts; ++i) {
      const WindowPart& part = pass.parts[std::uint64_t{share.window} * pass.num_parts + i];
      start_part<kThreads, kOnce>(args.in + part.first_in, part.size, to);
      to += aligned_part_size(part.size);
    }
  }
  if (threadIdx.x == 0) shared[share.size] = 0;
  __pipeline_commit();
}

__device__ inline void prefetch(const void* address) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(address));
}

/// The slice of each lane, of those from `base` on.
__device__ inline Slice load_slice(const Slice* slices, const WarpSlices& own, std::uint64_t base,
                                   unsigned lane) {
  Slice mine{};
  const std::uint64_t i = base + lane;
  if (i < own.end) mine = slices[i];
  if (lane % 8 == 0 && i + kWarp < own.end) prefetch(slices + i + kWarp);
  return own.part_of(mine, i);
}

__device__ inline Slice slice_of_lane(const Slice& mine, unsigned lane) {
  Slice s;
  s.first_word = 0;
  s.first_out = __shfl_sync(0xffffffffu, mine.first_out, lane);
  const std::uint32_t shape =
      __shfl_sync(0xffffffffu, mine.num_words | std::uint32_t{mine.num_rows} << 16, lane);
  s.num_words = static_cast<std::uint16_t>(shape);
  s.num_rows = static_cast<std::uint16_t>(shape >> 16);
  return s;
}

/// first_word: where the stream begins. `mine`: this lane's of the first 32.
template <class Work>
__device__ void add_slices(Work& work, const Slice* slices, const WarpSlices& own, std::uint64_t first_word,
                           unsigned lane, Slice mine) {
  for (std::uint64_t base = own.first; base < own.end; base += kWarp) {
    if (base > own.first) mine = load_slice(slices, own, base, lane);
    const auto count = static_cast<unsigned>(min(std::uint64_t{kWarp}, own.end - base));
    const auto position = static_cast<std::uint32_t>(mine.first_word - first_word);
    for (unsigned j = 0; j < count; ++j)
      work.add(slice_of_lane(mine, j), __shfl_sync(0xffffffffu, position, j));
  }
  work.finish();
}

static_assert(window_elements<float>() * sizeof(float) + sizeof(float) + ring_bytes(1024) + kRingBytes ==
              kWindowBlockBytes);
/// Shared memory of a block of kKernel, which calls run_share: a ring a warp, from a multiple of kRingBytes
/// on, and the window.
template <auto kKernel, unsigned kThreads, class S>
std::size_t shared_bytes(std::uint32_t largest_window) {
  static const std::size_t before = [] {  // all GPUs of a process are taken to be alike
    int device = 0, reserved = 0;
    cudaFuncAttributes kernel{};
    TESSERA_CUDA_CALL(cudaGetDevice(&device));
    TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
    TESSERA_CUDA_CALL(cudaFuncGetAttributes(&kernel, kKernel));
    return static_cast<std::size_t>(reserved) + kernel.sharedSizeBytes;
  }();
  // The driver puts this memory right behind what it reserves and the kernel's static memory; were it not so,
  // the window would end past the block's memory, which the hardware does not allow.
  const std::size_t padding = ceil_div<std::size_t>(before, kRingBytes) * kRingBytes - before;
  return padding + ring_bytes(kThreads) + (largest_window + std::size_t{1}) * sizeof(S);
}
/// In a block's shared memory.
__device__ inline unsigned char* first_ring(unsigned char* shared) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  return shared + ((0u - address) & (kRingBytes - 1));
}
template <unsigned kThreads, class S>
__device__ inline S* shared_window(unsigned char* shared) {
  return reinterpret_cast<S*>(first_ring(shared) + ring_bytes(kThreads));
}

/// Share i of the shares [first_share, end_share) of a block, by all of its threads.
template <bool kWeighted, unsigned kThreads, class S, class Store>
__device__ void run_share(const PassArgs<S>& args, std::uint32_t i, std::uint32_t first_share,
                          std::uint32_t end_share, unsigned char* shared, const Store& store) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  S* window = shared_window<kThreads, S>(shared);
  const SlicePassView<S>& pass = args.pass;
  const WindowShare& share = args.shares[i];
  // What is this warp's own starts before it waits for the others.
  const WarpSlices own(share, warp);
  using Work = WarpWork<kWeighted, S, Store>;
  // At a line of the cache, as all words begin.
  const std::uint64_t first_word = own.first_word / kLineWords * kLineWords;
  typename Work::Stream stream(pass.words + first_word, pass.words + share.first_word[warp + 1],
                               shared_address(first_ring(shared) + warp * kRingBytes), lane);
  const Slice mine = load_slice(pass.slices, own, own.first, lane);
  if (warp == 0 && i + 1 < end_share && lane * 128 < sizeof(WindowShare))
    prefetch(reinterpret_cast<const char*>(args.shares + i + 1) + lane * 128);
  if (i == first_share) wait_for_kernels_before();
  __syncthreads();  // the window before is no longer read
  start_window<kThreads, Store::kReadsMessages && Store::kCacheUse != CacheUse::as_usual>(args, share,
                                                                                          window);
  __pipeline_wait_prior(0);
  __syncthreads();
  Work work(stream, kWeighted ? pass.values + 2 * first_word : nullptr, shared_address(window), lane, store);
  add_slices(work, pass.slices, own, first_word, lane, mine);
}

}  // namespace tessera::cuda
