// Parts of an array, and what a block has of them at a time.
#pragma once
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {

inline constexpr unsigned kChunkListThreads = 512;

/// The elements first to end of an array.
struct Segment {
  std::uint32_t first, end;
};

/// Segments of an array, as they are known: all of it, up to ends, or a list.
class Segments {
 public:
  /// All of an array of `size` < 2^32 elements, as one.
  static Segments whole(std::uint64_t size) {
    Segments all;
    all.count_ = 1;
    all.size_ = static_cast<std::uint32_t>(size);
    return all;
  }
  /// Those that end there, each where the next begins.
  static Segments until(const BuildVector<DeviceMemory, std::uint32_t>& ends) {
    Segments all;
    all.count_ = static_cast<std::uint32_t>(ends.size());
    all.ends_ = ends.data();
    return all;
  }
  /// Any, which may have gaps between them.
  static Segments listed(const BuildVector<DeviceMemory, Segment>& list) {
    Segments all;
    all.count_ = static_cast<std::uint32_t>(list.size());
    all.list_ = list.data();
    return all;
  }

  __host__ __device__ std::uint32_t count() const { return count_; }
  /// All of an array of size() elements.
  __host__ __device__ bool are_whole() const { return list_ == nullptr && ends_ == nullptr && count_ == 1; }
  __host__ __device__ std::uint32_t size() const { return size_; }
  __device__ Segment operator[](std::uint32_t s) const {
    if (list_ != nullptr) return list_[s];
    if (ends_ != nullptr) return {s == 0 ? 0 : ends_[s - 1], ends_[s]};
    return {0, size_};
  }

 private:
  const Segment* list_ = nullptr;
  const std::uint32_t* ends_ = nullptr;
  std::uint32_t count_ = 0, size_ = 0;
};

/// Segments, cut into chunks of `size` elements, the last of each maybe of fewer: a block's. Those of segment
/// s are before[s] to before[s + 1]; null: the only segment is all of an array.
struct SegmentChunks {
  Segments segments;
  const std::uint32_t* before;
  std::uint32_t size;

  __host__ __device__ std::uint32_t count() const {
    return before != nullptr ? before[segments.count()]
                             : static_cast<std::uint32_t>(ceil_div<std::uint64_t>(segments.size(), size));
  }
  __device__ bool has(std::uint32_t chunk) const { return chunk < count(); }
  __device__ std::uint32_t segment_of(std::uint32_t chunk) const {
    return before == nullptr ? 0
                             : static_cast<std::uint32_t>(last_not_above(before, segments.count(), chunk));
  }
  __device__ Segment elements_of(std::uint32_t chunk, std::uint32_t segment) const {
    const Segment all = segments[segment];
    const std::uint32_t first = all.first + (before == nullptr ? chunk : chunk - before[segment]) * size;
    return {first, static_cast<std::uint32_t>(min(std::uint64_t{first} + size, std::uint64_t{all.end}))};
  }
};

/// before[s]: chunks of all segments before s, and behind the last of all. One block: segments are few.
inline __global__ void __launch_bounds__(kChunkListThreads)
    list_chunks_kernel(Segments segments, std::uint32_t size, std::uint32_t* before) {
  wait_for_kernels_before();
  using Scan = cub::BlockScan<std::uint32_t, kChunkListThreads>;
  __shared__ typename Scan::TempStorage scratch;
  const std::uint32_t num_segments = segments.count();
  std::uint32_t sum = 0;
  for (std::uint32_t first = 0; first < num_segments; first += kChunkListThreads) {
    const std::uint32_t s = first + threadIdx.x;
    std::uint32_t chunks = 0, all = 0;
    if (s < num_segments) {
      const Segment own = segments[s];
      chunks = static_cast<std::uint32_t>((own.end - own.first + std::uint64_t{size} - 1) / size);
    }
    Scan(scratch).ExclusiveSum(chunks, chunks, all);
    if (s < num_segments) before[s] = sum + chunks;
    sum += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) before[num_segments] = sum;
}

/// before, for chunks of `size` elements; nothing where that is null.
inline BuildVector<DeviceMemory, std::uint32_t> list_chunks(const Segments& segments, std::uint32_t size) {
  if (segments.are_whole()) return {};
  BuildVector<DeviceMemory, std::uint32_t> before(segments.count() + std::uint64_t{1});
  launch_early(list_chunks_kernel, 1, kChunkListThreads, 0, segments, size, before.data());
  return before;
}

}  // namespace tessera::cuda
