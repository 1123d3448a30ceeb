// How many elements the tiles of columns in order have, and where those of each begin.
#pragma once
#include <cstdint>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {

inline constexpr unsigned kTileSumThreads = 512, kTileStartThreads = 1024,
                          kTileParts = 8;  // of a tile, as tiles are few

/// Columns in order, so many to a tile.
struct TiledColumns {
  std::uint64_t count, of_tile;
  const std::uint32_t* lengths;

  std::uint32_t num_tiles() const { return static_cast<std::uint32_t>(ceil_div(count, of_tile)); }
};

/// sums[t * kTileParts + p]: elements of part p of tile t, a block's.
inline __global__ void __launch_bounds__(kTileSumThreads)
    sum_tiles_kernel(TiledColumns columns, std::uint32_t* sums) {
  wait_for_kernels_before();
  using Reduce = cub::BlockReduce<std::uint32_t, kTileSumThreads>;
  __shared__ typename Reduce::TempStorage scratch;
  const std::uint64_t tile = blockIdx.x / kTileParts, part = blockIdx.x % kTileParts,
                      size = ceil_div<std::uint64_t>(columns.of_tile, kTileParts),
                      begin = tile * columns.of_tile, first = begin + part * size,
                      end = min(min(first + size, begin + columns.of_tile), columns.count);
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint64_t i = first + threadIdx.x; i < end; i += kTileSumThreads) sum += columns.lengths[i];
  sum = Reduce(scratch).Sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// starts[t]: of all tiles before t. One block: tiles are few.
inline __global__ void __launch_bounds__(kTileStartThreads)
    start_tiles_kernel(std::uint32_t num_tiles, const std::uint32_t* sums, std::uint32_t* starts) {
  wait_for_kernels_before();
  using Scan = cub::BlockScan<std::uint32_t, kTileStartThreads>;
  __shared__ typename Scan::TempStorage scratch;
  std::uint32_t before = 0;
  for (std::uint32_t first = 0; first < num_tiles; first += kTileStartThreads) {
    const std::uint32_t tile = first + threadIdx.x;
    std::uint32_t sum = 0, all = 0;
    for (unsigned p = 0; tile < num_tiles && p < kTileParts; ++p) sum += sums[tile * kTileParts + p];
    Scan(scratch).ExclusiveSum(sum, sum, all);
    if (tile < num_tiles) starts[tile] = before + sum;
    before += all;
    __syncthreads();
  }
}

/// Elements in all tiles before each; fewer than 2^32 in all.
template <class Memory>
BuildVector<Memory, std::uint32_t> start_tiles(const TiledColumns& columns) {
  const std::uint32_t num_tiles = columns.num_tiles();
  BuildVector<Memory, std::uint32_t> starts(num_tiles);
  if (num_tiles == 0) return starts;
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    BuildVector<Memory, std::uint32_t> sums(std::uint64_t{num_tiles} * kTileParts);
    launch_early(sum_tiles_kernel, num_tiles * kTileParts, kTileSumThreads, 0, columns, sums.data());
    launch_early(start_tiles_kernel, 1, kTileStartThreads, 0, num_tiles, sums.data(), starts.data());
  } else {
    std::uint32_t sum = 0;
    for (std::uint64_t i = 0; i < columns.count; sum += columns.lengths[i++])
      if (i % columns.of_tile == 0) starts.data()[i / columns.of_tile] = sum;
  }
  return starts;
}

}  // namespace tessera::cuda
