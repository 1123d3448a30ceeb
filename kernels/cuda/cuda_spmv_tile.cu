// The tile-composite product on a device: one launch a tile, so that every row receives its tiles' sums in
// order and needs no atomics. A block keeps the part of x that a dense tile reads in shared memory (the
// paper used the texture cache, 3.1). The remainder, with 32-bit offsets, reads x through L2. Where the paper
// gives a warp a workload, a warp here takes some rows of one: a workload is sized for few, busy workers.
#include <algorithm>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/cuda_row_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/shared_memory_limit.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kTileThreads = 1024, kWideThreads = 256, kBlockVectorThreads = 256;
constexpr unsigned kWarp = 32;
/// Elements from which a row is given to a whole block.
constexpr std::uint32_t kLongRow = 8192;
/// Rows of at most a chunk, side by side, that a warp takes in turn.
constexpr std::uint32_t kShortRowsOfUnit = 16;

/// A tile as the kernels take it.
template <class S, class Offset>
struct TileArgs {
  const Workload* workloads;
  std::uint64_t num_workloads, num_long;
  const WarpUnit* units;
  std::uint64_t num_units;
  const VertexId* row_ids;
  const Offset* offsets;
  const S* values;
  const S* x;  // of the tile
  double* y;
};

/// Rows that a warp takes at a time: a row a lane; of short rows side by side, four at once; else one.
TESSERA_HD inline std::uint32_t rows_of_unit(const Workload& w) {
  if (w.layout == Layout::column_major) return kWarp;
  return w.width > kSumChunk ? 1 : kShortRowsOfUnit;
}

template <bool kWeighted, class S, class Offset>
__device__ void add_unit(const TileArgs<S, Offset>& t, const WarpUnit& unit, const S* x, unsigned lane) {
  const Workload w = t.workloads[unit.workload];
  const Offset* offsets = t.offsets + w.first_element;
  const S* values = kWeighted ? t.values + w.first_element : nullptr;
  const VertexId* rows = t.row_ids + w.first_row;
  if (w.layout == Layout::column_major) {
    const std::uint32_t r = unit.first_row + lane;
    if (r >= w.num_rows) return;
    const VertexId row = rows[r];
    const double before = t.y[row];
    t.y[row] = before + thread_row_sum<kWeighted>(offsets + r, kWeighted ? values + r : nullptr, w.height,
                                                  w.width, x, 1);
    return;
  }
  if (w.width > kSumChunk) {
    const EdgeOffset begin = EdgeOffset{unit.first_row} * w.width;
    const double sum =
        warp_row_sum<kWeighted>(offsets + begin, kWeighted ? values + begin : nullptr, w.width, x, lane);
    if (lane == 0) t.y[rows[unit.first_row]] += sum;
    return;
  }
  const unsigned group = lane / kSumLanes, member = lane % kSumLanes;
  constexpr unsigned kGroups = kWarp / kSumLanes;
  const std::uint32_t end = min(unit.first_row + kShortRowsOfUnit, w.num_rows);
  for (std::uint32_t first = unit.first_row; first < end; first += kGroups) {
    const std::uint32_t r = first + group;
    const bool is_row = r < end;
    const EdgeOffset begin = is_row ? EdgeOffset{r} * w.width : 0;
    const double sum = group_chunk_sum<kWeighted>(offsets + begin, kWeighted ? values + begin : nullptr,
                                                  is_row ? w.width : 0, x, member);
    if (is_row && member == 0) t.y[rows[r]] += sum;
  }
}

/// Workloads [0, num_long), whose rows are too long for one warp: a block each.
template <bool kWeighted, class S, class Offset>
__device__ void add_long_workloads(const TileArgs<S, Offset>& t, const S* x) {
  __shared__ double parts[kTileThreads / kSumLanes];
  for (std::uint64_t i = blockIdx.x; i < t.num_long; i += gridDim.x) {
    const Workload w = t.workloads[i];
    for (std::uint32_t r = 0; r < w.num_rows; ++r) {
      const EdgeOffset begin = w.first_element + EdgeOffset{r} * w.width;
      const double sum = block_row_sum<kWeighted>(t.offsets + begin, kWeighted ? t.values + begin : nullptr,
                                                  w.width, x, parts);
      if (threadIdx.x == 0) t.y[t.row_ids[w.first_row + r]] += sum;
    }
  }
}

/// The others: warps take unit after unit.
template <bool kWeighted, class S, class Offset>
__device__ void add_units(const TileArgs<S, Offset>& t, const S* x) {
  const std::uint64_t num_warps = std::uint64_t{gridDim.x} * (blockDim.x / kWarp);
  for (std::uint64_t u = blockIdx.x + std::uint64_t{gridDim.x} * (threadIdx.x / kWarp); u < t.num_units;
       u += num_warps)
    add_unit<kWeighted>(t, t.units[u], x, threadIdx.x % kWarp);
}

template <bool kWeighted, class S>
__global__ void __launch_bounds__(kTileThreads, 1)
    add_dense_tile(TileArgs<S, std::uint16_t> t, std::uint32_t num_columns) {
  extern __shared__ __align__(16) unsigned char shared[];
  S* x = reinterpret_cast<S*>(shared);
  for (std::uint32_t i = threadIdx.x; i <= num_columns; i += kTileThreads) x[i] = t.x[i];
  __syncthreads();
  add_long_workloads<kWeighted>(t, x);
  add_units<kWeighted>(t, x);
}

template <bool kWeighted, class S>
__global__ void __launch_bounds__(kWideThreads) add_wide_tile(TileArgs<S, std::uint32_t> t) {
  add_long_workloads<kWeighted>(t, t.x);
  add_units<kWeighted>(t, t.x);
}

/// Several vectors: neighbouring threads take neighbouring vectors of a row, whose x lie side by side.
template <bool kWeighted, class S, class Offset>
__global__ void __launch_bounds__(kBlockVectorThreads)
    add_tile_block(TileArgs<S, Offset> t, unsigned num_vectors) {
  for (std::uint64_t i = blockIdx.x; i < t.num_workloads; i += gridDim.x) {
    const Workload w = t.workloads[i];
    const std::uint64_t size = std::uint64_t{w.num_rows} * num_vectors;
    const EdgeOffset stride = element_index(w, 0, 1) - w.first_element;
    for (std::uint64_t j = threadIdx.x; j < size; j += kBlockVectorThreads) {
      const std::uint64_t r = j / num_vectors, q = j % num_vectors;
      const EdgeOffset at = element_index(w, r, 0);
      t.y[std::uint64_t{t.row_ids[w.first_row + r]} * num_vectors + q] += thread_row_sum<kWeighted>(
          t.offsets + at, t.values + (kWeighted ? at : 0), stride, w.width, t.x + q, num_vectors);
    }
  }
}

unsigned num_multiprocessors() {
  int device = 0, count = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(count);
}

/// Blocks for so many warps, at most `most`.
unsigned num_blocks(std::uint64_t num_warps, unsigned threads, unsigned most) {
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(ceil_div<std::uint64_t>(num_warps * kWarp, threads), 1, most));
}

template <bool kWeighted, class S>
void launch(const TileArgs<S, std::uint16_t>& t, const Tile& tile) {
  const std::size_t bytes = (tile.num_columns + 1) * sizeof(S);
  allow_shared_bytes<add_dense_tile<kWeighted, S>>(bytes);
  const unsigned blocks = num_blocks(std::max(t.num_units, t.num_long * (kTileThreads / kWarp)), kTileThreads,
                                     num_multiprocessors());
  add_dense_tile<kWeighted><<<blocks, kTileThreads, bytes>>>(t, static_cast<std::uint32_t>(tile.num_columns));
}

template <bool kWeighted, class S>
void launch(const TileArgs<S, std::uint32_t>& t, const Tile&) {
  const unsigned blocks = num_blocks(std::max(t.num_units, t.num_long * (kWideThreads / kWarp)), kWideThreads,
                                     8 * num_multiprocessors());
  add_wide_tile<kWeighted><<<blocks, kWideThreads>>>(t);
}

template <bool kWeighted, class S, class Offset>
void add_tile(const TileCompositeView<S>& a, const HostTile& host, const WarpUnit* units,
              const Offset* offsets, const S* values, const S* x, double* y, unsigned num_vectors) {
  const Tile& tile = host.tile;
  if (tile.num_workloads == 0) return;
  const TileArgs<S, Offset> t{a.workloads + tile.first_workload,
                              tile.num_workloads,
                              host.num_long,
                              units + host.first_unit,
                              host.num_units,
                              a.row_ids,
                              offsets,
                              values,
                              x + tile.first_slot * num_vectors,
                              y};
  if (num_vectors == 1)
    launch<kWeighted>(t, tile);
  else
    add_tile_block<kWeighted>
        <<<num_blocks(tile.num_workloads, kWarp, 16 * num_multiprocessors()), kBlockVectorThreads>>>(
            t, num_vectors);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <bool kWeighted, class S>
void add_all_tiles(const TileCompositeView<S>& a, const HostTile* tiles, const WarpUnit* units, const S* x,
                   double* y, unsigned k) {
  for (std::uint64_t i = 0; i < a.num_tiles; ++i) {
    if (tiles[i].tile.wide)
      add_tile<kWeighted>(a, tiles[i], units, a.offsets32, a.values32, x, y, k);
    else
      add_tile<kWeighted>(a, tiles[i], units, a.offsets16, a.values16, x, y, k);
  }
}

}  // namespace

TileSchedule schedule_tiles(const Tile* tiles, std::uint64_t num_tiles, const Workload* workloads) {
  TileSchedule schedule;
  for (std::uint64_t i = 0; i < num_tiles; ++i) {
    const Workload* of_tile = workloads + tiles[i].first_workload;
    HostTile host{.tile = tiles[i], .num_long = 0, .first_unit = schedule.units.size(), .num_units = 0};
    // Workloads are ranked by the length of their rows: the long ones come first.
    while (host.num_long < tiles[i].num_workloads && of_tile[host.num_long].layout == Layout::row_major &&
           of_tile[host.num_long].width > kLongRow)
      ++host.num_long;
    for (std::uint64_t w = host.num_long; w < tiles[i].num_workloads; ++w)
      for (std::uint32_t row = 0; row < of_tile[w].num_rows; row += rows_of_unit(of_tile[w]))
        schedule.units.push_back({static_cast<std::uint32_t>(w), row});
    host.num_units = schedule.units.size() - host.first_unit;
    schedule.tiles.push_back(host);
  }
  return schedule;
}

template <class S>
void spmv(const TileCompositeView<S>& a, const HostTile* host_tiles, const WarpUnit* units, const S* x,
          double* y, unsigned num_vectors) {
  TESSERA_CUDA_CALL(cudaMemsetAsync(y, 0, a.num_rows * num_vectors * sizeof(double)));
  if (a.values16 != nullptr || a.values32 != nullptr)
    add_all_tiles<true>(a, host_tiles, units, x, y, num_vectors);
  else
    add_all_tiles<false>(a, host_tiles, units, x, y, num_vectors);
}

template void spmv(const TileCompositeView<float>&, const HostTile*, const WarpUnit*, const float*, double*,
                   unsigned);
template void spmv(const TileCompositeView<double>&, const HostTile*, const WarpUnit*, const double*, double*,
                   unsigned);

}  // namespace tessera::cuda
