// Deals the elements of a pattern's rows to tiles, in the order of rows, where it is known how many each tile
// gets. A sort does the same, but reads and writes everything once more: here the slots that columns have are
// looked up on the way. Blocks learn from those before them where their elements go (dealt_words.cuh).
#pragma once
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/column_keys.cuh"
#include "kernels/cuda/dealt_words.cuh"
#include "kernels/cuda/sorting_team.cuh"
#include "kernels/cuda/tile_elements.cuh"

namespace tessera::cuda {

/// Tiles that blocks have counts for: the fewest that are enough, as all are looked at.
inline constexpr std::uint32_t kFewDealtTiles = 256, kManyDealtTiles = 512, kMostDealtTiles = 1024;

inline constexpr unsigned kDealRounds = 12;  // elements of a thread

/// A block that deals to at most kTiles tiles. Of more tiles it has more elements, as it is told more of
/// those before: of 700 tiles it would be as much as all else that it reads.
template <unsigned kTiles>
struct DealShape {
  static constexpr unsigned kWarps = kTiles > kFewDealtTiles ? 16 : 8, kThreads = 32 * kWarps,
                            kElements = kDealRounds * kThreads, kBallots = kElements / 32;
};

/// Bytes of a column's key.
__host__ __device__ constexpr unsigned dealt_key_bytes(std::size_t num_tiles) {
  return num_tiles <= 1u << (8 * kShortKeyBytes - kTileShift) ? kShortKeyBytes : kLongKeyBytes;
}

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
  std::uint64_t count;  ///< elements of all rows, at most kMostDealt; and rows are at most kMostDealtRows
  const std::uint64_t *starts, *from;
  const VertexId* cols;
  const std::uint16_t* column_keys;  ///< table of column_keys(), dealt_key_bytes(num_tiles) each
  VertexId first_row;                ///< the number of row 0
  std::uint32_t num_tiles;           ///< at most kMostDealtTiles
  const std::uint32_t* tile_starts;  ///< elements in all tiles before each

  /// In cols. Numbers of elements fit 32 bits, and so do differences that wrap around.
  __host__ __device__ std::uint32_t position(std::uint32_t row, std::uint32_t element) const {
    return static_cast<std::uint32_t>(from[row]) + (element - static_cast<std::uint32_t>(starts[row]));
  }
  template <unsigned kKeyBytes>
  __host__ __device__ std::uint32_t key(std::uint32_t row, std::uint32_t element) const {
    return key_of_column<kKeyBytes>(column_keys, cols[position(row, element)]);
  }
};

/// What elements are dealt to: their offsets, by tile, in the order of rows; and pieces, what a row has in a
/// tile. A tile's pieces lie where its elements do, from the first on.
struct DealtTiles {
  std::uint16_t* offsets;
  std::uint32_t* piece_firsts;  ///< element that each begins with
  VertexId* piece_rows;
};

/// In shared memory. kTiles: at least as many as there are.
template <unsigned kTiles>
struct DealBlock : DealShape<kTiles> {
  using Shape = DealShape<kTiles>;
  using Shape::kBallots, Shape::kElements, Shape::kWarps;
  static_assert(kElements <= 0xffff && kDealRounds <= 32, "counts have 16 bits, and a lane has a ballot");
  SortingTeam<kWarps, std::uint16_t, kTiles> team;
  std::uint32_t rows_so_far[kWarps], pieces_of_warp[kWarps];
  std::uint32_t shift_of_tile[kTiles];        ///< from places in the block to those of all elements
  std::uint32_t piece_shift_of_tile[kTiles];  ///< from pieces of the block to those of all
  std::uint32_t number;
  std::uint32_t begins[kBallots];         ///< a bit a place: does a piece begin there
  std::uint32_t goes_on[kBallots];        ///< the same: did a block before begin it
  std::uint16_t pieces_before[kBallots];  ///< in all words before each
  std::uint32_t keys[kElements];
  /// At first of each that begins a row: its row, less the block's first. Then of each place its row.
  std::uint32_t rows[kElements];

  /// Pieces that begin before a place.
  __device__ std::uint32_t pieces_before_place(std::uint32_t place) const {
    if (place == kElements) return pieces_before[kBallots - 1] + __popc(begins[kBallots - 1]);
    return pieces_before[place / 32] + __popc(begins[place / 32] & ((1u << place % 32) - 1));
  }
};

/// rows[i]: less `first`, of the thread's elements, one a round of its warp's. A row's first element, but
/// that of the block's first row, tells it.
template <unsigned kTiles>
__device__ void find_rows(const DealtRows& given, DealBlock<kTiles>& block, std::uint64_t first_element,
                          std::uint32_t first, std::uint32_t last, std::uint32_t (&rows)[kDealRounds]) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned i = threadIdx.x; i < block.kElements; i += block.kThreads) block.rows[i] = 0;
  __syncthreads();
  for (std::uint64_t row = std::uint64_t{first} + 1 + threadIdx.x; row <= last; row += block.kThreads) {
    const std::uint64_t at = given.starts[row] - first_element;
    if (at < block.kElements && given.starts[row + 1] > given.starts[row])
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
template <unsigned kTiles>
__device__ void find_pieces(DealBlock<kTiles>& block, std::uint32_t size) {
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

/// What a block has of a tile, from place `begin` in the block on.
struct OwnOfTile {
  std::uint32_t begin = 0, elements = 0, pieces_before = 0, pieces = 0;
  bool begins_open = false, ends_open = false, is_one_row = false;  ///< as DealtWord has them

  template <unsigned kTiles>
  __device__ static OwnOfTile of(const DealBlock<kTiles>& block, unsigned tile, std::uint32_t size,
                                 const BlockRows& rows) {
    const std::uint32_t begin = block.team.counts[tile * block.kWarps],
                        end = tile + 1 == kTiles ? size : block.team.counts[(tile + 1) * block.kWarps],
                        pieces_before = block.pieces_before_place(begin);
    const bool is_empty = begin == end;
    return {.begin = begin,
            .elements = end - begin,
            .pieces_before = pieces_before,
            .pieces = block.pieces_before_place(end) - pieces_before,
            .begins_open = !is_empty && rows.is_open && block.rows[begin] == rows.first,
            .ends_open = !is_empty && block.rows[end - 1] == rows.behind,
            .is_one_row = rows.is_open && rows.first == rows.behind};
  }

  __device__ DealtWord word() const {
    return DealtWord::of(elements, pieces,
                         DealtWord::kOwn | (begins_open ? DealtWord::kBeginsOpen : 0) |
                             (ends_open ? DealtWord::kEndsOpen : 0) | (is_one_row ? DealtWord::kOneRow : 0));
  }
};

/// Where the block's elements and pieces of a tile go. A first piece that goes on from a block before is none
/// of this one's.
template <unsigned kTiles>
__device__ void place_tile(const DealtRows& given, DealBlock<kTiles>& block, const DealState& state,
                           unsigned tile, const OwnOfTile& own) {
  const DealtBefore before =
      state.before(block.number, tile, own.begins_open || (own.elements == 0 && own.is_one_row));
  const std::uint32_t goes_on = own.begins_open && before.ends_open ? 1 : 0;
  const bool ends_open = own.ends_open || (own.elements == 0 && before.ends_open);
  state.tell(block.number, tile,
             DealtWord::of(before.elements + own.elements, before.pieces + own.pieces - goes_on,
                           DealtWord::kAll | (ends_open ? DealtWord::kEndsOpen : 0)));
  block.shift_of_tile[tile] = given.tile_starts[tile] + before.elements - own.begin;
  block.piece_shift_of_tile[tile] = given.tile_starts[tile] + before.pieces - goes_on - own.pieces_before;
  if (goes_on != 0) atomicOr(block.goes_on + own.begin / 32, 1u << own.begin % 32);
}

/// All tiles, one or two a thread. What the block has itself is told of all before others are waited for.
template <unsigned kTiles>
__device__ void place_tiles(const DealtRows& given, DealBlock<kTiles>& block, const DealState& state,
                            std::uint32_t size, const BlockRows& rows) {
  constexpr unsigned kThreads = DealShape<kTiles>::kThreads, kOfThread = kTiles / kThreads;
  static_assert(kOfThread * kThreads == kTiles);
  OwnOfTile own[kOfThread];
#pragma unroll
  for (unsigned i = 0; i < kOfThread; ++i) {
    const unsigned tile = threadIdx.x + i * kThreads;
    if (tile >= given.num_tiles) continue;
    own[i] = OwnOfTile::of(block, tile, size, rows);
    if (block.number > 0) state.tell(block.number, tile, own[i].word());
  }
#pragma unroll
  for (unsigned i = 0; i < kOfThread; ++i) {
    const unsigned tile = threadIdx.x + i * kThreads;
    if (tile < given.num_tiles) place_tile(given, block, state, tile, own[i]);
  }
}

/// block_rows[b]: the row of block b's first element, or of the last. next_block: 0.
template <unsigned kTiles>
__global__ void __launch_bounds__(DealShape<kTiles>::kThreads, 1024 / DealShape<kTiles>::kThreads)
    deal_to_tiles_kernel(DealtRows given, const std::uint32_t* block_rows, DealState state,
                         std::uint32_t* next_block, DealtTiles tiles) {
  constexpr unsigned kKeyBytes = dealt_key_bytes(kTiles), kElements = DealShape<kTiles>::kElements,
                     kThreads = DealShape<kTiles>::kThreads;
  extern __shared__ __align__(16) unsigned char deal_memory[];
  auto& block = *reinterpret_cast<DealBlock<kTiles>*>(deal_memory);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // A number is given to a block that runs, so that those before it run, too.
  if (threadIdx.x == 0) block.number = atomicAdd(next_block, 1u);
  block.team.clear();
  const std::uint64_t number = block.number;
  const auto first = static_cast<std::uint32_t>(number * kElements),
             size = min(kElements, static_cast<std::uint32_t>(given.count) - first);
  const std::uint32_t first_row = block_rows[number], own = warp * kDealRounds * 32 + lane;
  std::uint32_t own_rows[kDealRounds], own_keys[kDealRounds], places[kDealRounds];
  find_rows(given, block, first, first_row, block_rows[number + 1], own_rows);
  // Loads of all rounds are under way together.
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i) {
    own_rows[i] += first_row;
    own_keys[i] = given.position(own_rows[i], first + min(own + i * 32, size - 1));
  }
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i) own_keys[i] = load_once(given.cols + own_keys[i]);
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i)
    own_keys[i] = key_of_column<kKeyBytes>(given.column_keys, own_keys[i]);
  for (unsigned i = 0; i < kDealRounds; ++i) {
    const bool is_one = own + i * 32 < size;
    const std::uint32_t tile = is_one ? own_keys[i] >> kTileShift : kTiles;
    const unsigned alike = __match_any_sync(~0u, tile), before = __popc(alike & ((1u << lane) - 1));
    places[i] = is_one ? block.team.count_of(tile) + before : 0;
    __syncwarp();
    if (is_one && before == 0) block.team.count_of(tile) += static_cast<std::uint16_t>(__popc(alike));
    __syncwarp();
  }
  __syncthreads();
  block.team.sum_up();
#pragma unroll
  for (unsigned i = 0; i < kDealRounds; ++i) {
    if (own + i * 32 >= size) continue;
    const std::uint32_t place = block.team.count_of(own_keys[i] >> kTileShift) + places[i];
    block.keys[place] = own_keys[i];
    block.rows[place] = own_rows[i];
  }
  __syncthreads();
  find_pieces(block, size);
  place_tiles(given, block, state, size,
              {first_row, block_rows[number + 1], given.starts[first_row] < first});
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += kThreads) {
    const std::uint32_t key = block.keys[i], tile = key >> kTileShift, to = block.shift_of_tile[tile] + i;
    tiles.offsets[to] = static_cast<std::uint16_t>(key);
    if (((block.begins[i / 32] & ~block.goes_on[i / 32]) >> i % 32 & 1) == 0) continue;
    const std::uint32_t piece = block.piece_shift_of_tile[tile] + block.pieces_before_place(i);
    tiles.piece_firsts[piece] = to;
    tiles.piece_rows[piece] = given.first_row + block.rows[i];
  }
}

/// num_pieces: of each tile.
template <unsigned kTiles>
void deal_on_device(const DealtRows& given, std::uint64_t num_rows, const DealtTiles& tiles,
                    std::uint32_t* num_pieces) {
  using Shape = DealShape<kTiles>;
  const std::uint64_t num_blocks = ceil_div<std::uint64_t>(given.count, Shape::kElements),
                      num_words = num_blocks * given.num_tiles;
  BuildVector<DeviceMemory, std::uint32_t> block_rows(num_blocks + 1);
  auto words = DeviceMemory::zeros<DealtWord::Bits>(num_words + 1);
  std::uint32_t* row = block_rows.data();
  DeviceMemory::each(num_blocks + 1, [=] __device__(std::uint64_t b) {
    const std::uint64_t at = b * Shape::kElements;
    row[b] = static_cast<std::uint32_t>(
        last_not_above(given.starts, num_rows, at < given.count ? at : given.count - 1));
  });
  constexpr std::size_t kBytes = sizeof(DealBlock<kTiles>);
  allow_shared_bytes<deal_to_tiles_kernel<kTiles>>(kBytes);
  deal_to_tiles_kernel<kTiles><<<static_cast<unsigned>(num_blocks), Shape::kThreads, kBytes>>>(
      given, row, DealState{words.data(), given.num_tiles},
      reinterpret_cast<std::uint32_t*>(words.data() + num_words), tiles);
  TESSERA_CUDA_CALL(cudaGetLastError());
  const DealtWord::Bits* const last = words.data() + (num_words - given.num_tiles);
  DeviceMemory::each(given.num_tiles,
                     [=] __device__(std::uint64_t t) { num_pieces[t] = DealtWord{last[t]}.pieces(); });
}

template <unsigned kKeyBytes>
void deal_on_host(const DealtRows& given, std::uint64_t num_rows, const DealtTiles& tiles,
                  std::uint32_t* num_pieces) {
  std::vector<std::uint32_t> next(given.tile_starts, given.tile_starts + given.num_tiles);
  std::fill_n(num_pieces, given.num_tiles, 0);
  for (std::uint64_t row = 0; row < num_rows; ++row)
    for (std::uint64_t e = given.starts[row]; e < given.starts[row + 1]; ++e) {
      const VertexId of = given.first_row + static_cast<VertexId>(row);
      const std::uint32_t key = given.key<kKeyBytes>(static_cast<std::uint32_t>(row),
                                                     static_cast<std::uint32_t>(e)),
                          tile = key >> kTileShift, to = next[tile]++;
      tiles.offsets[to] = static_cast<std::uint16_t>(key);
      const std::uint32_t pieces_end = given.tile_starts[tile] + num_pieces[tile];
      if (num_pieces[tile] > 0 && tiles.piece_rows[pieces_end - 1] == of) continue;
      tiles.piece_firsts[pieces_end] = to;
      tiles.piece_rows[pieces_end] = of;
      ++num_pieces[tile];
    }
}

template <class Memory>
void deal_to_tiles(const DealtRows& given, std::uint64_t num_rows, const DealtTiles& tiles,
                   std::uint32_t* num_pieces) {
  require(given.num_tiles <= kMostDealtTiles && given.count <= kMostDealt && num_rows <= kMostDealtRows,
          "tiles, elements and rows that are dealt are limited");
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const auto deal = given.num_tiles <= kFewDealtTiles    ? deal_on_device<kFewDealtTiles>
                      : given.num_tiles <= kManyDealtTiles ? deal_on_device<kManyDealtTiles>
                                                           : deal_on_device<kMostDealtTiles>;
    deal(given, num_rows, tiles, num_pieces);
  } else {
    const auto deal = dealt_key_bytes(given.num_tiles) == kShortKeyBytes ? deal_on_host<kShortKeyBytes>
                                                                         : deal_on_host<kLongKeyBytes>;
    deal(given, num_rows, tiles, num_pieces);
  }
}

}  // namespace tessera::cuda
