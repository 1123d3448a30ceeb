// Deals the elements of a pattern's rows to tiles, in the order of rows, where it is known how many each tile
// gets. A sort does the same, but reads and writes everything once more: here the slots that columns have are
// looked up on the way. Blocks learn from those before them where their elements go (Adinets and Merrill,
// "Onesweep", 2022; Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016).
#pragma once
#include <cuda/atomic>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/sorting_team.cuh"
#include "kernels/cuda/tile_elements.cuh"

namespace tessera::cuda {

inline constexpr unsigned kDealWarps = 8, kDealThreads = 32 * kDealWarps, kDealRounds = 12,
                          kDealElements = kDealRounds * kDealThreads;  // of a block
inline constexpr std::size_t kMostDealtTiles = kDigits;

/// Row i has the elements starts[i] to starts[i + 1], in `cols` from from[i] on.
struct DealtRows {
  std::uint64_t count;  ///< elements of all rows, at most kMostDealt
  const std::uint64_t *starts, *from;
  const VertexId *cols, *slot_of_column;
  VertexId first_row;                ///< the number of row 0
  std::uint32_t tile_stride;         ///< slots from tile to tile
  std::uint32_t num_tiles;           ///< at most kMostDealtTiles
  const std::uint32_t* tile_starts;  ///< elements in all tiles before each

  __host__ __device__ std::uint32_t key(std::uint64_t row, std::uint64_t element) const {
    return key_of_slot(slot_of_column[cols[from[row] + (element - starts[row])]], tile_stride);
  }
};

/// What a block tells those behind it of each tile: nothing yet, what it has itself, or what it and all
/// before it have.
struct DealState {
  static constexpr unsigned kFlagShift = 30;
  static constexpr std::uint32_t kNothing = 0, kOwn = 1, kAll = 2,
                                 kCount = (std::uint32_t{1} << kFlagShift) - 1;
  using Word = ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device>;
  std::uint32_t* words;  ///< of block b and tile t at b * kDigits + t; 0 at first

  __device__ void tell(std::uint64_t block, unsigned tile, std::uint32_t flag, std::uint32_t count) const {
    Word(words[block * kDigits + tile]).store(flag << kFlagShift | count, ::cuda::memory_order_relaxed);
  }
  /// Of all blocks before.
  __device__ std::uint32_t before(std::uint64_t block, unsigned tile) const {
    std::uint32_t sum = 0;
    while (block > 0) {
      const std::uint32_t word = Word(words[(block - 1) * kDigits + tile]).load(::cuda::memory_order_relaxed);
      if (word >> kFlagShift == kNothing) continue;
      sum += word & kCount;
      if (word >> kFlagShift == kAll) break;
      --block;
    }
    return sum;
  }
};
inline constexpr std::uint64_t kMostDealt = DealState::kCount;

/// In shared memory.
struct DealBlock {
  SortingTeam<kDealWarps> team;
  std::uint32_t rows_so_far[kDealWarps];
  std::uint32_t shift_of_tile[kDigits];  ///< from places in the block to those of all elements
  std::uint32_t number;
  std::uint32_t keys[kDealElements];
  std::uint32_t rows[kDealElements];  ///< at first of each that begins a row: its row, less the block's first
};

/// rows[i]: less `first`, of the thread's elements, one a round of its warp's. A row's first element, but
/// that of the block's first row, tells it.
__device__ inline void find_rows(const DealtRows& given, DealBlock& block, std::uint64_t first_element,
                                 std::uint32_t first, std::uint32_t last,
                                 std::uint32_t (&rows)[kDealRounds]) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned i = threadIdx.x; i < kDealElements; i += kDealThreads) block.rows[i] = 0;
  __syncthreads();
  for (std::uint64_t row = std::uint64_t{first} + 1 + threadIdx.x; row <= last; row += kDealThreads) {
    const std::uint64_t at = given.starts[row] - first_element;
    if (at < kDealElements && given.starts[row + 1] > given.starts[row])
      block.rows[at] = static_cast<std::uint32_t>(row - first);
  }
  __syncthreads();
  std::uint32_t so_far = 0;
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i) {
    const std::uint32_t begins = block.rows[(warp * kDealRounds + i) * 32 + lane];
    const unsigned all = __ballot_sync(~0u, begins != 0), up_to = all & (~0u >> (31 - lane));
    const std::uint32_t own = __shfl_sync(~0u, begins, 31 - __clz(up_to)),
                        latest = __shfl_sync(~0u, begins, 31 - __clz(all));
    rows[i] = up_to == 0 ? so_far : own;
    so_far = all == 0 ? so_far : latest;
  }
  if (lane == 0) block.rows_so_far[warp] = so_far;
  __syncthreads();
  const std::uint32_t before = __reduce_max_sync(~0u, lane < warp ? block.rows_so_far[lane] : 0);
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i) rows[i] = rows[i] == 0 ? before : rows[i];
}

/// block_rows[b]: the row of element b * kDealElements, or of the last. next_block: 0.
inline __global__ void __launch_bounds__(kDealThreads, 4)
    deal_to_tiles_kernel(DealtRows given, const std::uint32_t* block_rows, DealState state,
                         std::uint32_t* next_block, std::uint16_t* offsets, VertexId* rows) {
  extern __shared__ __align__(16) unsigned char deal_memory[];
  DealBlock& block = *reinterpret_cast<DealBlock*>(deal_memory);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // A number is given to a block that runs, so that those before it run, too.
  if (threadIdx.x == 0) block.number = atomicAdd(next_block, 1u);
  block.team.clear();
  const std::uint64_t number = block.number, first = number * kDealElements;
  const std::uint32_t first_row = block_rows[number];
  std::uint32_t own_rows[kDealRounds], own_keys[kDealRounds], places[kDealRounds];
  find_rows(given, block, first, first_row, block_rows[number + 1], own_rows);
  const std::uint64_t own = first + warp * kDealRounds * 32 + lane;
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i) {
    own_rows[i] += first_row;
    own_keys[i] = given.key(own_rows[i], min(own + i * 32, given.count - 1));
  }
  for (unsigned i = 0; i < kDealRounds; ++i) {
    const bool is_one = own + i * 32 < given.count;
    const std::uint32_t tile = is_one ? own_keys[i] >> kTileShift : kDigits;
    const unsigned alike = __match_any_sync(~0u, tile), before = __popc(alike & ((1u << lane) - 1));
    places[i] = is_one ? block.team.count_of(tile) + before : 0;
    __syncwarp();
    if (is_one && before == 0) block.team.count_of(tile) += __popc(alike);
    __syncwarp();
  }
  __syncthreads();
  block.team.sum_up();
  const auto size = static_cast<std::uint32_t>(min(std::uint64_t{kDealElements}, given.count - first));
  const auto first_of = [&](unsigned tile) {
    return tile == kDigits ? size : block.team.counts[tile * kDealWarps];
  };
  const bool has_tile = threadIdx.x < given.num_tiles;
  const std::uint32_t num_own = has_tile ? first_of(threadIdx.x + 1) - first_of(threadIdx.x) : 0;
  if (has_tile) state.tell(number, threadIdx.x, number == 0 ? DealState::kAll : DealState::kOwn, num_own);
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i) {
    if (own + i * 32 >= given.count) continue;
    const std::uint32_t place = block.team.count_of(own_keys[i] >> kTileShift) + places[i];
    block.keys[place] = own_keys[i];
    block.rows[place] = given.first_row + own_rows[i];
  }
  if (has_tile) {
    const std::uint32_t before = state.before(number, threadIdx.x);
    state.tell(number, threadIdx.x, DealState::kAll, before + num_own);
    block.shift_of_tile[threadIdx.x] = given.tile_starts[threadIdx.x] + before - first_of(threadIdx.x);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += kDealThreads) {
    const std::uint32_t key = block.keys[i], to = block.shift_of_tile[key >> kTileShift] + i;
    offsets[to] = static_cast<std::uint16_t>(key);
    rows[to] = block.rows[i];
  }
}

/// Offset in its tile and row of every element, by tile, in the order of rows.
template <class Memory>
void deal_to_tiles(const DealtRows& given, std::uint64_t num_rows, std::uint16_t* offsets, VertexId* rows) {
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const std::uint64_t num_blocks = ceil_div<std::uint64_t>(given.count, kDealElements);
    BuildVector<Memory, std::uint32_t> block_rows(num_blocks + 1);
    auto words = Memory::template zeros<std::uint32_t>(num_blocks * kDigits + 1);
    std::uint32_t* row = block_rows.data();
    Memory::each(num_blocks + 1, [=] __device__(std::uint64_t b) {
      const std::uint64_t at = b * kDealElements;
      row[b] = static_cast<std::uint32_t>(
          last_not_above(given.starts, num_rows, at < given.count ? at : given.count - 1));
    });
    allow_shared_bytes<deal_to_tiles_kernel>(sizeof(DealBlock));
    deal_to_tiles_kernel<<<static_cast<unsigned>(num_blocks), kDealThreads, sizeof(DealBlock)>>>(
        given, row, DealState{words.data()}, words.data() + num_blocks * kDigits, offsets, rows);
    TESSERA_CUDA_CALL(cudaGetLastError());
  } else {
    std::vector<std::uint32_t> next(given.tile_starts, given.tile_starts + given.num_tiles);
    for (std::uint64_t row = 0; row < num_rows; ++row)
      for (std::uint64_t e = given.starts[row]; e < given.starts[row + 1]; ++e) {
        const std::uint32_t key = given.key(row, e), to = next[key >> kTileShift]++;
        offsets[to] = static_cast<std::uint16_t>(key);
        rows[to] = given.first_row + static_cast<VertexId>(row);
      }
  }
}

}  // namespace tessera::cuda
