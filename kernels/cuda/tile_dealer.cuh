// Deals the elements of a pattern's rows to tiles, in the order of rows, where it is known how many each tile
// gets. A sort does the same, but reads and writes everything once more: here the slots that columns have are
// looked up on the way. Blocks learn from those before them where their elements go (Adinets and Merrill,
// "Onesweep", 2022; Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016).
#pragma once
#include <cuda/atomic>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/column_keys.cuh"
#include "kernels/cuda/sorting_team.cuh"
#include "kernels/cuda/tile_elements.cuh"

namespace tessera::cuda {

inline constexpr unsigned kDealWarps = 8, kDealThreads = 32 * kDealWarps, kDealRounds = 12,
                          kDealElements = kDealRounds * kDealThreads;  // of a block
inline constexpr std::size_t kMostDealtTiles = kDigits;
static_assert(kMostDealtTiles <= 1u << (kColumnKeyBits - kTileShift));

/// A load of what is not loaded again, so that caches need not keep it.
template <class T>
__host__ __device__ T load_once(const T* from) {
#ifdef __CUDA_ARCH__
  return __ldcs(from);
#else
  return *from;
#endif
}

/// Row i has the elements starts[i] to starts[i + 1], in `cols` from from[i] on.
struct DealtRows {
  std::uint64_t count;  ///< elements of all rows, at most kMostDealt
  const std::uint64_t *starts, *from;
  const VertexId* cols;
  const std::uint16_t* column_keys;  ///< table of column_keys()
  VertexId first_row;                ///< the number of row 0
  std::uint32_t num_tiles;           ///< at most kMostDealtTiles
  const std::uint32_t* tile_starts;  ///< elements in all tiles before each

  __host__ __device__ std::uint32_t key(std::uint64_t row, std::uint64_t element) const {
    return key_of_column(column_keys, load_once(cols + (from[row] + (element - starts[row]))));
  }
};

/// What elements are dealt to: their offsets, by tile, in the order of rows; and pieces, what a row has in a
/// tile. A tile's pieces lie where its elements do, from the first on.
struct DealtTiles {
  std::uint16_t* offsets;
  std::uint32_t* piece_firsts;  ///< element that each begins with
  VertexId* piece_rows;
};

/// What a block tells those behind it of a tile: nothing yet, what it has itself, or what it and all before
/// it have. Of its own pieces it counts one that a block before may have begun.
struct DealtWord {
  using Bits = unsigned long long;
  static constexpr unsigned kCountBits = 29;
  static constexpr Bits kCount = (Bits{1} << kCountBits) - 1, kEndsOpen = Bits{1} << (2 * kCountBits),
                        kBeginsOpen = kEndsOpen << 1, kOneRow = kEndsOpen << 2, kOwn = kEndsOpen << 3,
                        kAll = kEndsOpen << 4;
  Bits bits = 0;

  __host__ __device__ static DealtWord of(std::uint32_t elements, std::uint32_t pieces, Bits flags) {
    return {elements | Bits{pieces} << kCountBits | flags};
  }
  __host__ __device__ std::uint32_t elements() const { return static_cast<std::uint32_t>(bits & kCount); }
  __host__ __device__ std::uint32_t pieces() const {
    return static_cast<std::uint32_t>(bits >> kCountBits & kCount);
  }
  /// kEndsOpen: the tile's last element is of the row that goes on behind the block. kBeginsOpen: its first
  /// is of the row that goes on from before. kOneRow: the block has no other row, and no beginning of it.
  __host__ __device__ bool is(Bits flag) const { return (bits & flag) != 0; }
};
inline constexpr std::uint64_t kMostDealt = DealtWord::kCount;

/// Of all blocks before one: elements and pieces of a tile, and whether the last is of the row that goes on.
struct DealtBefore {
  std::uint32_t elements = 0, pieces = 0;
  bool ends_open = false;
};

struct DealState {
  using Word = ::cuda::atomic_ref<DealtWord::Bits, ::cuda::thread_scope_device>;
  DealtWord::Bits* words;  ///< of block b and tile t at b * kDigits + t; 0 at first

  __device__ void tell(std::uint64_t block, unsigned tile, DealtWord word) const {
    Word(words[block * kDigits + tile]).store(word.bits, ::cuda::memory_order_relaxed);
  }
  /// is_open: whether it matters if the last element before is of the row that goes on.
  __device__ DealtBefore before(std::uint64_t block, unsigned tile, bool is_open) const {
    DealtBefore sum;
    bool is_own = true;  // the open piece is of the block that asks; else of one whose pieces are in the sum
    while (block > 0) {
      const DealtWord word{Word(words[(block - 1) * kDigits + tile]).load(::cuda::memory_order_relaxed)};
      const bool has_all = word.is(DealtWord::kAll);
      if (!has_all && !word.is(DealtWord::kOwn)) continue;
      sum.elements += word.elements();
      sum.pieces += word.pieces();
      if (is_open && (has_all || word.elements() > 0)) {
        if (is_own)
          sum.ends_open = word.is(DealtWord::kEndsOpen);
        else
          sum.pieces -= word.is(DealtWord::kEndsOpen) ? 1 : 0;
        is_open = false;
      }
      if (has_all) break;
      if (word.elements() > 0) {
        is_open = word.is(DealtWord::kBeginsOpen);
        is_own = false;
      } else {
        is_open = is_open && word.is(DealtWord::kOneRow);
      }
      --block;
    }
    return sum;
  }
};

inline constexpr unsigned kDealBallots = kDealElements / 32;

/// In shared memory.
struct DealBlock {
  SortingTeam<kDealWarps, std::uint16_t> team;
  std::uint32_t rows_so_far[kDealWarps], pieces_of_warp[kDealWarps];
  std::uint32_t shift_of_tile[kDigits];        ///< from places in the block to those of all elements
  std::uint32_t piece_shift_of_tile[kDigits];  ///< from pieces of the block to those of all
  std::uint32_t number;
  std::uint32_t begins[kDealBallots];         ///< a bit a place: does a piece begin there
  std::uint32_t goes_on[kDealBallots];        ///< the same: did a block before begin it
  std::uint16_t pieces_before[kDealBallots];  ///< in all words before each
  std::uint32_t keys[kDealElements];
  /// At first of each that begins a row: its row, less the block's first. Then of each place its row.
  std::uint32_t rows[kDealElements];

  /// Pieces that begin before a place.
  __device__ std::uint32_t pieces_before_place(std::uint32_t place) const {
    if (place == kDealElements) return pieces_before[kDealBallots - 1] + __popc(begins[kDealBallots - 1]);
    return pieces_before[place / 32] + __popc(begins[place / 32] & ((1u << place % 32) - 1));
  }
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

/// Where pieces begin among the block's elements, which lie by tile: a warp looks at 32 neighbours at a time.
__device__ inline void find_pieces(DealBlock& block, std::uint32_t size) {
  static_assert(kDealBallots == kDealWarps * kDealRounds);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned own = 0;  // of lane i: the warp's i-th ballot
  std::uint32_t sum = 0, before = 0;
#pragma unroll
  for (unsigned round = 0; round < kDealRounds; ++round) {
    const unsigned i = (warp * kDealRounds + round) * 32 + lane, last = i == 0 ? 0 : i - 1;
    const bool is_first = i < size && (i == 0 || block.rows[i] != block.rows[last] ||
                                       block.keys[i] >> kTileShift != block.keys[last] >> kTileShift);
    const unsigned begins = __ballot_sync(~0u, is_first);
    if (lane == round) {
      own = begins;
      before = sum;
    }
    sum += __popc(begins);
  }
  if (lane == 0) block.pieces_of_warp[warp] = sum;
  __syncthreads();
  before += __reduce_add_sync(~0u, lane < warp ? block.pieces_of_warp[lane] : 0);
  if (lane < kDealRounds) {
    const unsigned i = warp * kDealRounds + lane;
    block.begins[i] = own;
    block.goes_on[i] = 0;
    block.pieces_before[i] = static_cast<std::uint16_t>(before);
  }
  __syncthreads();
}

/// The rows of a block's first element and of the one behind its last, and whether the first began before.
struct BlockRows {
  std::uint32_t first, behind;
  bool is_open;
};

/// Where the block's elements and pieces of a thread's tile go. A first piece that goes on from a block
/// before is none of this one's.
__device__ inline void place_tile(const DealtRows& given, DealBlock& block, const DealState& state,
                                  std::uint32_t size, const BlockRows& rows) {
  const unsigned tile = threadIdx.x;
  const std::uint32_t begin = block.team.counts[tile * kDealWarps],
                      end = tile + 1 == kDigits ? size : block.team.counts[(tile + 1) * kDealWarps],
                      pieces = block.pieces_before_place(end) - block.pieces_before_place(begin);
  const bool is_empty = begin == end, is_one_row = rows.is_open && rows.first == rows.behind,
             begins_open = !is_empty && rows.is_open && block.rows[begin] == rows.first,
             ends_open = !is_empty && block.rows[end - 1] == rows.behind;
  if (block.number > 0)
    state.tell(
        block.number, tile,
        DealtWord::of(end - begin, pieces,
                      DealtWord::kOwn | (begins_open ? DealtWord::kBeginsOpen : 0) |
                          (ends_open ? DealtWord::kEndsOpen : 0) | (is_one_row ? DealtWord::kOneRow : 0)));
  const DealtBefore before = state.before(block.number, tile, begins_open || (is_empty && is_one_row));
  const std::uint32_t goes_on = begins_open && before.ends_open ? 1 : 0;
  state.tell(block.number, tile,
             DealtWord::of(
                 before.elements + (end - begin), before.pieces + pieces - goes_on,
                 DealtWord::kAll | (ends_open || (is_empty && before.ends_open) ? DealtWord::kEndsOpen : 0)));
  block.shift_of_tile[tile] = given.tile_starts[tile] + before.elements - begin;
  block.piece_shift_of_tile[tile] =
      given.tile_starts[tile] + before.pieces - goes_on - block.pieces_before_place(begin);
  if (goes_on != 0) atomicOr(block.goes_on + begin / 32, 1u << begin % 32);
}

/// block_rows[b]: the row of element b * kDealElements, or of the last. next_block: 0.
inline __global__ void __launch_bounds__(kDealThreads, 4)
    deal_to_tiles_kernel(DealtRows given, const std::uint32_t* block_rows, DealState state,
                         std::uint32_t* next_block, DealtTiles tiles) {
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
    if (is_one && before == 0) block.team.count_of(tile) += static_cast<std::uint16_t>(__popc(alike));
    __syncwarp();
  }
  __syncthreads();
  block.team.sum_up();
  const auto size = static_cast<std::uint32_t>(min(std::uint64_t{kDealElements}, given.count - first));
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i) {
    if (own + i * 32 >= given.count) continue;
    const std::uint32_t place = block.team.count_of(own_keys[i] >> kTileShift) + places[i];
    block.keys[place] = own_keys[i];
    block.rows[place] = own_rows[i];
  }
  __syncthreads();
  find_pieces(block, size);
  if (threadIdx.x < given.num_tiles)
    place_tile(given, block, state, size,
               {first_row, block_rows[number + 1], given.starts[first_row] < first});
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += kDealThreads) {
    const std::uint32_t key = block.keys[i], tile = key >> kTileShift, to = block.shift_of_tile[tile] + i;
    tiles.offsets[to] = static_cast<std::uint16_t>(key);
    if (((block.begins[i / 32] & ~block.goes_on[i / 32]) >> i % 32 & 1) == 0) continue;
    const std::uint32_t piece = block.piece_shift_of_tile[tile] + block.pieces_before_place(i);
    tiles.piece_firsts[piece] = to;
    tiles.piece_rows[piece] = given.first_row + block.rows[i];
  }
}

/// num_pieces: of each tile.
template <class Memory>
void deal_to_tiles(const DealtRows& given, std::uint64_t num_rows, const DealtTiles& tiles,
                   std::uint32_t* num_pieces) {
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const std::uint64_t num_blocks = ceil_div<std::uint64_t>(given.count, kDealElements);
    BuildVector<Memory, std::uint32_t> block_rows(num_blocks + 1);
    auto words = Memory::template zeros<DealtWord::Bits>(num_blocks * kDigits + 1);
    std::uint32_t* row = block_rows.data();
    Memory::each(num_blocks + 1, [=] __device__(std::uint64_t b) {
      const std::uint64_t at = b * kDealElements;
      row[b] = static_cast<std::uint32_t>(
          last_not_above(given.starts, num_rows, at < given.count ? at : given.count - 1));
    });
    const DealtWord::Bits* const last = words.data() + (num_blocks - 1) * kDigits;
    allow_shared_bytes<deal_to_tiles_kernel>(sizeof(DealBlock));
    deal_to_tiles_kernel<<<static_cast<unsigned>(num_blocks), kDealThreads, sizeof(DealBlock)>>>(
        given, row, DealState{words.data()},
        reinterpret_cast<std::uint32_t*>(words.data() + num_blocks * kDigits), tiles);
    TESSERA_CUDA_CALL(cudaGetLastError());
    Memory::each(given.num_tiles,
                 [=] __device__(std::uint64_t t) { num_pieces[t] = DealtWord{last[t]}.pieces(); });
  } else {
    std::vector<std::uint32_t> next(given.tile_starts, given.tile_starts + given.num_tiles);
    std::fill_n(num_pieces, given.num_tiles, 0);
    for (std::uint64_t row = 0; row < num_rows; ++row)
      for (std::uint64_t e = given.starts[row]; e < given.starts[row + 1]; ++e) {
        const VertexId of = given.first_row + static_cast<VertexId>(row);
        const std::uint32_t key = given.key(row, e), tile = key >> kTileShift, to = next[tile]++;
        tiles.offsets[to] = static_cast<std::uint16_t>(key);
        const std::uint32_t pieces_end = given.tile_starts[tile] + num_pieces[tile];
        if (num_pieces[tile] > 0 && tiles.piece_rows[pieces_end - 1] == of) continue;
        tiles.piece_firsts[pieces_end] = to;
        tiles.piece_rows[pieces_end] = of;
        ++num_pieces[tile];
      }
  }
}

}  // namespace tessera::cuda
