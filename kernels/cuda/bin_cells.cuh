// Cells, what a tile sends to a bin, as the bin has them: tile after tile.
#pragma once
#include <cstdint>
#include <cub/warp/warp_scan.cuh>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/message_bins.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera::cuda {

inline constexpr unsigned kCellWarps = 8;  // of a block

/// The cell of tile t and bin b is t * num_bins + b where bins follow each other, b * num_tiles + t where
/// tiles do.
struct BinCells {
  std::uint32_t num_tiles, num_bins;
  const std::uint32_t* firsts;  ///< message of each cell, bin after bin in a tile, and the end
  const BinEdge* edges;         ///< where each bin begins
  const Window* bins;           ///< where their messages lie
  std::uint32_t* ends_by_bin;   ///< result: messages up to each cell's end, tile after tile in a bin
  std::uint32_t* places;        ///< result: where the messages of each cell lie, as `firsts`

  __host__ __device__ std::uint64_t cell(std::uint32_t tile, std::uint32_t bin) const {
    return std::uint64_t{tile} * num_bins + bin;
  }
  __host__ __device__ std::uint32_t size(std::uint32_t tile, std::uint32_t bin) const {
    return firsts[cell(tile, bin) + 1] - firsts[cell(tile, bin)];
  }
  /// up_to: messages of the bin up to this cell's end.
  __host__ __device__ void store(std::uint32_t tile, std::uint32_t bin, std::uint32_t up_to) const {
    ends_by_bin[std::uint64_t{bin} * num_tiles + tile] = edges[bin].messages_before + up_to;
    places[cell(tile, bin)] = static_cast<std::uint32_t>(bins[bin].first_in) + up_to - size(tile, bin);
  }
};

/// A warp a bin.
inline __global__ void __launch_bounds__(32 * kCellWarps) list_cells_kernel(BinCells cells) {
  wait_for_kernels_before();
  using Scan = cub::WarpScan<std::uint32_t>;
  __shared__ typename Scan::TempStorage scratch[kCellWarps];
  const std::uint32_t bin = blockIdx.x * kCellWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (bin >= cells.num_bins) return;
  std::uint32_t before = 0;
  for (std::uint32_t first = 0; first < cells.num_tiles; first += 32) {
    const std::uint32_t tile = first + lane;
    std::uint32_t up_to = tile < cells.num_tiles ? cells.size(tile, bin) : 0, all = 0;
    Scan(scratch[threadIdx.x / 32]).InclusiveSum(up_to, up_to, all);
    __syncwarp();
    if (tile < cells.num_tiles) cells.store(tile, bin, before + up_to);
    before += all;
  }
}

/// stream: one beside the default one.
template <class Memory>
void list_cells(const BinCells& cells, cudaStream_t stream = nullptr) {
  if (cells.num_tiles == 0 || cells.num_bins == 0) return;
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    launch_early(stream, list_cells_kernel, ceil_div(cells.num_bins, std::uint32_t{kCellWarps}),
                 32 * kCellWarps, 0, cells);
  } else {
    for (std::uint32_t bin = 0; bin < cells.num_bins; ++bin)
      for (std::uint32_t tile = 0, up_to = 0; tile < cells.num_tiles; ++tile)
        cells.store(tile, bin, up_to += cells.size(tile, bin));
  }
}

}  // namespace tessera::cuda
