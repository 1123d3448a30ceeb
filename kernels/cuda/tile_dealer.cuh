// Deals the elements of a pattern's rows to tiles, in the order of rows, where it is known how many each tile
// gets. A sort does the same, but reads and writes everything once more: here the slots that columns have are
// looked up on the way. Blocks learn from those before them where their elements go (dealt_words.cuh).
#pragma once
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/deal_block.cuh"
#include "kernels/cuda/dealt_words.cuh"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {

/// rows[i]: of the thread's i-th element, one a round of its warp's, less the block's first row. A row's
/// first element, but that of the block's first row, tells it.
template <unsigned kTiles>
__device__ void find_rows(const DealtRows& given, DealBlock<kTiles>& block,
                          std::uint32_t (&rows)[DealShape<kTiles>::kRounds]) {
  constexpr unsigned kRounds = DealShape<kTiles>::kRounds;
  const DealRange& range = block.range;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned i = threadIdx.x; i < block.kElements; i += block.kThreads) block.row_firsts[i] = 0;
  __syncthreads();
  const bool has_shifts = block.has_row_shifts();
  for (std::uint64_t row = std::uint64_t{range.first_row} + threadIdx.x; row <= range.last_row;
       row += block.kThreads) {
    const std::uint64_t start = given.starts[row], at = start - range.first;
    const auto name = static_cast<std::uint32_t>(row - range.first_row);
    if (has_shifts)
      block.row_shifts[name] = given.position(name + range.first_row, static_cast<std::uint32_t>(start), 0);
    if (name > 0 && at < block.kElements && given.starts[row + 1] > start)
      block.row_firsts[at] = static_cast<std::uint16_t>(name);
  }
  __syncthreads();
  std::uint32_t so_far = 0;
#pragma unroll
  for (unsigned i = 0; i < kRounds; ++i) {
    const std::uint32_t begins = block.row_firsts[(warp * kRounds + i) * 32 + lane];
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
  for (unsigned i = 0; i < kRounds; ++i) rows[i] = rows[i] == 0 ? before : rows[i];
}

/// The same, of blocks with any number of rows.
template <unsigned kTiles>
__device__ void search_rows(const DealtRows& given, DealBlock<kTiles>& block,
                            std::uint32_t (&rows)[DealShape<kTiles>::kRounds]) {
  constexpr unsigned kRounds = DealShape<kTiles>::kRounds;
  const std::uint32_t own = threadIdx.x / 32 * kRounds * 32 + threadIdx.x % 32;
#pragma unroll 1
  for (unsigned i = 0; i < kRounds; ++i)
    block.wide_rows[own + i * 32] =
        block.range.row_of(given, min(own + i * 32, block.range.size - 1)) - block.range.first_row;
#pragma unroll
  for (unsigned i = 0; i < kRounds; ++i) rows[i] = block.wide_rows[own + i * 32];
}

/// The thread's elements, one a round of its warp's: keys of their columns, names of their rows, shifted by
/// 16. The last one of the block again behind it.
template <unsigned kTiles>
__device__ void look_up(const DealtRows& given, DealBlock<kTiles>& block,
                        std::uint32_t (&keys)[DealShape<kTiles>::kRounds],
                        std::uint32_t (&names)[DealShape<kTiles>::kRounds]) {
  constexpr unsigned kRounds = DealShape<kTiles>::kRounds;
  const DealRange range = block.range;
  const std::uint32_t own = threadIdx.x / 32 * kRounds * 32 + threadIdx.x % 32;
  if (range.is_wide())
    search_rows(given, block, names);
  else
    find_rows(given, block, names);
  if (!range.is_wide() && block.has_row_shifts()) {
#pragma unroll
    for (unsigned i = 0; i < kRounds; ++i) {
      keys[i] = range.first + min(own + i * 32, range.size - 1) + block.row_shifts[names[i]];
      names[i] <<= 16;
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint32_t row = range.first_row + names[i],
                          start = static_cast<std::uint32_t>(given.starts[row]),
                          element = range.first + min(own + i * 32, range.size - 1);
      keys[i] = given.position(row, start, element);
      names[i] = range.name(row, start) << 16;
      if (i % 4 == 3) __syncwarp();  // more loads at a time would need more registers
    }
  }
  // Loads of all rounds are under way together.
#pragma unroll
  for (unsigned i = 0; i < kRounds; ++i) keys[i] = __ldcs(given.cols + keys[i]);
#pragma unroll
  for (unsigned i = 0; i < kRounds; ++i) keys[i] = __ldg(given.slot_of_column + keys[i]);
#pragma unroll
  for (unsigned i = 0; i < kRounds; ++i) keys[i] = given.slot_keys.key(keys[i]);
}

/// Puts the block's elements by tile, in the order of rows: offsets, tiles and names of rows.
template <unsigned kTiles>
__device__ void put_by_tile(DealBlock<kTiles>& block, const std::uint32_t (&keys)[DealShape<kTiles>::kRounds],
                            std::uint32_t (&names)[DealShape<kTiles>::kRounds]) {
  constexpr unsigned kRounds = DealShape<kTiles>::kRounds;
  const std::uint32_t size = block.range.size;
  const unsigned lane = threadIdx.x % 32, own = threadIdx.x / 32 * kRounds * 32 + lane;
  // The lower half of a name is the element's place among its warp's of the tile.
#pragma unroll
  for (unsigned i = 0; i < kRounds; ++i) {
    const bool is_one = own + i * 32 < size;
    const std::uint32_t tile = is_one ? keys[i] >> kTileShift : kTiles;
    const unsigned alike = __match_any_sync(~0u, tile), before = __popc(alike & ((1u << lane) - 1));
    if (is_one) names[i] |= block.team.count_of(tile) + before;
    __syncwarp();
    if (is_one && before == 0) block.team.count_of(tile) += static_cast<std::uint16_t>(__popc(alike));
    __syncwarp();
  }
  __syncthreads();
  block.team.sum_up();
#pragma unroll
  for (unsigned i = 0; i < kRounds; ++i) {
    if (own + i * 32 >= size) continue;
    const std::uint32_t tile = keys[i] >> kTileShift, place = block.team.count_of(tile) + (names[i] & 0xffff);
    block.words[place] = __byte_perm(keys[i], names[i], 0x7610);
    block.tiles[place] = static_cast<typename DealBlock<kTiles>::TileNumber>(tile);
  }
  __syncthreads();
}

/// Where pieces begin among the block's elements, which lie by tile: a warp looks at 32 neighbours at a time.
template <unsigned kTiles>
__device__ void find_pieces(DealBlock<kTiles>& block) {
  const std::uint32_t size = block.range.size;
  constexpr unsigned kRounds = DealShape<kTiles>::kRounds;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned own = 0;  // of lane i: the warp's i-th ballot
  std::uint32_t sum = 0, before = 0, last = warp == 0 ? ~0u : block.piece_key(warp * kRounds * 32 - 1);
#pragma unroll
  for (unsigned round = 0; round < kRounds; ++round) {
    const unsigned i = (warp * kRounds + round) * 32 + lane;
    const std::uint32_t key = block.piece_key(i), neighbour = __shfl_sync(~0u, key, (lane + 31) % 32);
    const unsigned begins = __ballot_sync(~0u, i < size && key != (lane == 0 ? last : neighbour));
    last = neighbour;
    if (lane == round) {
      own = begins;
      before = sum;
    }
    sum += __popc(begins);
  }
  if (lane == 0) block.pieces_of_warp[warp] = sum;
  __syncthreads();
  before += __reduce_add_sync(~0u, lane < warp ? block.pieces_of_warp[lane] : 0);
  if (lane < kRounds) {
    const unsigned i = warp * kRounds + lane;
    block.begins[i] = own;
    block.goes_on[i] = 0;
    block.pieces_before[i] = static_cast<std::uint16_t>(before);
  }
  __syncthreads();
}

/// What a block has of a tile, from place `begin` in the block on.
struct OwnOfTile {
  std::uint32_t begin = 0, pieces_before = 0;
  DealtSpan span;

  template <unsigned kTiles>
  __device__ static OwnOfTile of(const DealBlock<kTiles>& block, unsigned tile) {
    const DealRange& range = block.range;
    const std::uint32_t begin = block.team.counts[tile * block.kWarps],
                        end = tile + 1 == kTiles ? range.size : block.team.counts[(tile + 1) * block.kWarps],
                        pieces_before = block.pieces_before_place(begin);
    const bool is_empty = begin == end;
    return {.begin = begin,
            .pieces_before = pieces_before,
            .span = {.elements = end - begin,
                     .pieces = block.pieces_before_place(end) - pieces_before,
                     .begins_open = !is_empty && range.is_open && block.name_at(begin) == 0,
                     .ends_open = !is_empty && block.name_at(end - 1) == range.last_name,
                     .is_within_row = range.is_open && range.first_row == range.last_row}};
  }
};

/// Where the block's elements and pieces of a tile go. A first piece that goes on from a block before is none
/// of this one's.
template <unsigned kTiles>
__device__ void place_tile(const DealtRows& given, DealBlock<kTiles>& block, const DealState& state,
                           unsigned tile, const OwnOfTile& own) {
  const DealtSpan before = state.before(block.range.number, tile, own.span);
  const std::uint32_t goes_on = own.span.goes_on_from(before) ? 1 : 0, start = given.tile_starts[tile];
  block.shifts.elements[tile] = start + before.elements - own.begin;
  block.shifts.pieces[tile] = start + before.pieces - goes_on - own.pieces_before;
  if (goes_on == 0) return;
  atomicOr(block.goes_on + own.begin / 32, 1u << own.begin % 32);
  atomicSub(block.shifts.pieces_of_rows, 1u);  // of the first row
}

/// Pieces that begin in the block, by row, where rows are few; by the threads from `first` on.
template <unsigned kTiles>
__device__ void count_pieces_of_rows(DealBlock<kTiles>& block, unsigned first) {
  if (!block.range.template has_few_rows<kTiles>()) return;
  for (unsigned i = threadIdx.x - first; i < block.kElements; i += block.kThreads - first) {
    if ((block.begins[i / 32] >> i % 32 & 1) == 0) continue;
    const std::uint32_t name = block.name_at(i);
    atomicAdd(block.shifts.pieces_of_rows + name / 2, 1u << name % 2 * 16);
  }
}

/// All tiles, one or two a thread. What the block has itself is told of all before others are waited for;
/// warps that have no tile need not wait.
template <unsigned kTiles>
__device__ void place_tiles(const DealtRows& given, DealBlock<kTiles>& block, const DealState& state) {
  constexpr unsigned kThreads = DealShape<kTiles>::kThreads, kOfThread = kTiles / kThreads;
  static_assert(kOfThread * kThreads == kTiles);
  OwnOfTile own[kOfThread];
#pragma unroll
  for (unsigned i = 0; i < kOfThread; ++i) {
    const unsigned tile = threadIdx.x + i * kThreads;
    if (tile >= given.num_tiles) continue;
    own[i] = OwnOfTile::of(block, tile);
    state.tell(block.range.number, tile, own[i].span);
  }
  __syncthreads();  // shifts take the place of counts
  for (unsigned i = threadIdx.x; i < block.kElements / 2; i += kThreads) block.shifts.pieces_of_rows[i] = 0;
  __syncthreads();
  const unsigned with_tiles = ceil_div(given.num_tiles, 32u) * 32;  // threads, or more
  const bool are_some_free = with_tiles + 64 <= kThreads;           // one warp alone would take too long
  if (are_some_free && threadIdx.x >= with_tiles) count_pieces_of_rows(block, with_tiles);
#pragma unroll
  for (unsigned i = 0; i < kOfThread; ++i) {
    const unsigned tile = threadIdx.x + i * kThreads;
    if (tile < given.num_tiles) place_tile(given, block, state, tile, own[i]);
  }
  __syncthreads();
  if (are_some_free) return;
  count_pieces_of_rows(block, 0);
  __syncthreads();
}

/// A row's pieces go to neighbouring blocks, too, where it is the first or the last.
template <unsigned kTiles>
__device__ void add_pieces_of_rows(const DealBlock<kTiles>& block, std::uint32_t* pieces_of_rows) {
  const std::uint32_t first_row = block.range.first_row, last = block.range.last_row - first_row;
  for (unsigned i = threadIdx.x; i <= last; i += block.kThreads) {
    const std::uint32_t pieces = block.shifts.pieces_of_rows[i / 2] >> i % 2 * 16 & 0xffff;
    if (i > 0 && i < last)
      pieces_of_rows[first_row + i] = pieces;
    else if (pieces > 0)
      add_to(pieces_of_rows + first_row + i, pieces);
  }
}

/// Stores what the block has, when it is known where that goes.
template <unsigned kTiles>
__device__ void store_dealt(const DealtRows& given, DealBlock<kTiles>& block, const DealtTiles& tiles) {
  constexpr unsigned kRounds = DealShape<kTiles>::kRounds;
  const DealRange& range = block.range;
  const bool has_few_rows = range.has_few_rows<kTiles>();
  if (has_few_rows) add_pieces_of_rows(block, tiles.pieces_of_rows);
  const unsigned lane = threadIdx.x % 32, first_word = threadIdx.x / 32 * kRounds;
#pragma unroll 4
  for (unsigned round = 0; round < kRounds; ++round) {
    const unsigned i = (first_word + round) * 32 + lane;
    if (i >= range.size) break;
    const std::uint32_t word = block.words[i], tile = block.tiles[i], to = block.shifts.elements[tile] + i;
    const unsigned begins = block.begins[first_word + round];
    tiles.offsets[to] = static_cast<std::uint16_t>(word);
    if (((begins & ~block.goes_on[first_word + round]) >> lane & 1) == 0) continue;
    const std::uint32_t piece = block.shifts.pieces[tile] + block.pieces_before[first_word + round] +
                                __popc(begins & ((1u << lane) - 1)),
                        row = range.row_of_name(given, word >> 16);
    tiles.piece_firsts[piece] = to;
    tiles.piece_rows[piece] = given.first_row + row;
    if (!has_few_rows) add_to(tiles.pieces_of_rows + row, 1);
  }
}

/// block_rows[b]: the row of block b's first element, or of the last. next_block: 0.
template <unsigned kTiles>
__global__ void __launch_bounds__(DealShape<kTiles>::kThreads, DealShape<kTiles>::kBlocks)
    deal_to_tiles_kernel(DealtRows given, const std::uint32_t* block_rows, DealState state,
                         std::uint32_t* next_block, DealtTiles tiles) {
  wait_for_kernels_before();
  extern __shared__ __align__(16) unsigned char deal_memory[];
  auto& block = *reinterpret_cast<DealBlock<kTiles>*>(deal_memory);
  // A number is given to a block that runs, so that those before it run, too.
  if (threadIdx.x == 0) block.range = DealRange::of<kTiles>(given, block_rows, atomicAdd(next_block, 1u));
  block.team.clear();
  std::uint32_t keys[DealShape<kTiles>::kRounds], names[DealShape<kTiles>::kRounds];
  look_up(given, block, keys, names);
  put_by_tile(block, keys, names);
  find_pieces(block);
  place_tiles(given, block, state);
  store_dealt(given, block, tiles);
}

/// block_rows[b]: the row of the first element of block b, of block_elements, or of the last; a warp each or,
/// where kLanes is 1, a thread. And words are cleared.
template <unsigned kLanes>
__global__ void __launch_bounds__(256)
    find_block_rows_kernel(DealtRows given, std::uint64_t num_rows, std::uint32_t block_elements,
                           std::uint32_t num_block_rows, std::uint32_t* block_rows, FillBytes clear_words) {
  wait_for_kernels_before();
  using Search = std::conditional_t<kLanes == 1, SearchByHalves, SearchByWarp>;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * 256 + threadIdx.x, b = thread / kLanes;
  if (thread < clear_words.num_threads()) clear_words(thread);
  if (b >= num_block_rows) return;
  const std::uint64_t element = min(b * block_elements, given.count - 1);
  const std::uint64_t row =
      Search{}(0, num_rows, [=](std::uint64_t i) { return given.starts[i + 1] <= element; });
  if (threadIdx.x % kLanes == 0) block_rows[b] = static_cast<std::uint32_t>(row);
}

template <unsigned kTiles>
void deal_on_device(const DealtRows& given, std::uint64_t num_rows, const DealtTiles& tiles) {
  using Shape = DealShape<kTiles>;
  const auto num_blocks = static_cast<std::uint32_t>(ceil_div<std::uint64_t>(given.count, Shape::kElements)),
             num_groups = ceil_div(num_blocks, DealState::kGroupBlocks);
  BuildVector<DeviceMemory, std::uint32_t> block_rows(num_blocks + std::uint64_t{1});
  // Words of groups, then of blocks and, of as many bits, the next block's number.
  const std::uint64_t group_words = std::uint64_t{num_groups} * given.num_tiles,
                      block_words = std::uint64_t{num_blocks} * given.num_tiles;
  BuildVector<DeviceMemory, GroupBits> words(group_words + block_words / 2 + 1);
  auto* const of_blocks = reinterpret_cast<std::uint32_t*>(words.data() + group_words);
  const FillBytes clear_words(words.data(), words.size() * sizeof(GroupBits), 0);
  const bool are_few = block_rows.size() <= kFewSearches;
  const std::uint64_t num_threads =
      std::max<std::uint64_t>(block_rows.size() * (are_few ? 32 : 1), clear_words.num_threads());
  launch_early(are_few ? find_block_rows_kernel<32> : find_block_rows_kernel<1>,
               static_cast<unsigned>(ceil_div<std::uint64_t>(num_threads, 256)), 256, 0, given, num_rows,
               std::uint32_t{Shape::kElements}, num_blocks + 1, block_rows.data(), clear_words);
  constexpr std::size_t kBytes = sizeof(DealBlock<kTiles>);
  allow_shared_bytes<deal_to_tiles_kernel<kTiles>>(kBytes);
  const DealState state{num_blocks, given.num_tiles, of_blocks, words.data()};
  launch_early(deal_to_tiles_kernel<kTiles>, num_blocks, Shape::kThreads, kBytes, given, block_rows.data(),
               state, of_blocks + block_words, tiles);
  const GroupBits* const last = words.data() + (group_words - given.num_tiles);
  DeviceMemory::each(given.num_tiles, [=] __device__(std::uint64_t t) {
    if (t == 0) clear_behind(tiles.offsets, given.count);
    const std::uint32_t first = given.tile_starts[t];
    tiles.pieces[t] = {first, first + GroupWord::span(last[t]).pieces};
  });
}

inline void deal_on_host(const DealtRows& given, std::uint64_t num_rows, const DealtTiles& tiles) {
  clear_behind(tiles.offsets, given.count);
  std::vector<std::uint32_t> next(given.tile_starts, given.tile_starts + given.num_tiles);
  for (std::uint32_t t = 0; t < given.num_tiles; ++t) tiles.pieces[t] = {next[t], next[t]};
  for (std::uint64_t row = 0; row < num_rows; ++row)
    for (std::uint64_t e = given.starts[row]; e < given.starts[row + 1]; ++e) {
      const VertexId of = given.first_row + static_cast<VertexId>(row);
      const std::uint32_t at = given.position(static_cast<std::uint32_t>(row),
                                              static_cast<std::uint32_t>(given.starts[row]),
                                              static_cast<std::uint32_t>(e)),
                          key = given.slot_keys.key(given.slot_of_column[given.cols[at]]),
                          tile = key >> kTileShift, to = next[tile]++;
      tiles.offsets[to] = static_cast<std::uint16_t>(key);
      Segment& pieces = tiles.pieces[tile];
      if (pieces.end > pieces.first && tiles.piece_rows[pieces.end - 1] == of) continue;
      tiles.piece_firsts[pieces.end] = to;
      tiles.piece_rows[pieces.end] = of;
      ++tiles.pieces_of_rows[row];
      ++pieces.end;
    }
}

template <class Memory>
void deal_to_tiles(const DealtRows& given, std::uint64_t num_rows, const DealtTiles& tiles) {
  require(given.num_tiles <= kMostDealtTiles && given.count <= kMostDealt && num_rows <= kMostDealtRows,
          "tiles, elements and rows that are dealt are limited");
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const auto deal = given.num_tiles <= kFewDealtTiles    ? deal_on_device<kFewDealtTiles>
                      : given.num_tiles <= kManyDealtTiles ? deal_on_device<kManyDealtTiles>
                                                           : deal_on_device<kMostDealtTiles>;
    deal(given, num_rows, tiles);
  } else {
    deal_on_host(given, num_rows, tiles);
  }
}

}  // namespace tessera::cuda
