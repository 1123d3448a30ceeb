// Parts of an array, and what a block has of them at a time.
#pragma once
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/build_memory.cuh"

namespace tessera::cuda {

inline constexpr unsigned kChunkListThreads = 512;

/// The elements first to end of an array.
struct Segment {
  std::uint32_t first, end;
};

/// The one of an array of `count` < 2^32 elements.
inline BuildVector<DeviceMemory, Segment> whole_segment(std::uint64_t count) {
  BuildVector<DeviceMemory, Segment> whole(1);
  Segment* only = whole.data();
  const auto end = static_cast<std::uint32_t>(count);
  DeviceMemory::each(1, [=] __device__(std::uint64_t) { *only = {0, end}; });
  return whole;
}

/// Those that end there, each where the next begins.
inline BuildVector<DeviceMemory, Segment> segments_until(
    const BuildVector<DeviceMemory, std::uint32_t>& ends) {
  BuildVector<DeviceMemory, Segment> segments(ends.size());
  Segment* segment = segments.data();
  const std::uint32_t* end = ends.data();
  DeviceMemory::each(ends.size(), [=] __device__(std::uint64_t s) {
    segment[s] = {s == 0 ? 0 : end[s - 1], end[s]};
  });
  return segments;
}

/// Segments, cut into chunks of `size` elements, the last of each maybe of fewer: a block's. Those of segment
/// s are before[s] to before[s + 1].
struct SegmentChunks {
  const Segment* segments;
  const std::uint32_t* before;
  std::uint32_t num_segments, size;

  __device__ bool has(std::uint32_t chunk) const { return chunk < before[num_segments]; }
  __device__ std::uint32_t segment_of(std::uint32_t chunk) const {
    return static_cast<std::uint32_t>(last_not_above(before, num_segments, chunk));
  }
  __device__ Segment elements_of(std::uint32_t chunk, std::uint32_t segment) const {
    const Segment all = segments[segment];
    const std::uint32_t first = all.first + (chunk - before[segment]) * size;
    return {first, static_cast<std::uint32_t>(min(std::uint64_t{first} + size, std::uint64_t{all.end}))};
  }
};

/// before[s]: chunks of all segments before s, and behind the last of all. One block: segments are few.
inline __global__ void __launch_bounds__(kChunkListThreads)
    list_chunks_kernel(const Segment* segments, std::uint32_t num_segments, std::uint32_t size,
                       std::uint32_t* before) {
  using Scan = cub::BlockScan<std::uint32_t, kChunkListThreads>;
  __shared__ typename Scan::TempStorage scratch;
  std::uint32_t sum = 0;
  for (std::uint32_t first = 0; first < num_segments; first += kChunkListThreads) {
    const std::uint32_t s = first + threadIdx.x;
    std::uint32_t chunks = 0, all = 0;
    if (s < num_segments)
      chunks =
          static_cast<std::uint32_t>((segments[s].end - segments[s].first + std::uint64_t{size} - 1) / size);
    Scan(scratch).ExclusiveSum(chunks, chunks, all);
    if (s < num_segments) before[s] = sum + chunks;
    sum += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) before[num_segments] = sum;
}

/// before, for chunks of `size` elements.
inline BuildVector<DeviceMemory, std::uint32_t> list_chunks(
    const BuildVector<DeviceMemory, Segment>& segments, std::uint32_t size) {
  BuildVector<DeviceMemory, std::uint32_t> before(segments.size() + 1);
  list_chunks_kernel<<<1, kChunkListThreads>>>(segments.data(), static_cast<std::uint32_t>(segments.size()),
                                               size, before.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  return before;
}

}  // namespace tessera::cuda
