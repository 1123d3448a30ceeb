// What a block that deals elements to tiles has: its elements and their rows, and its shared memory.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/dealt_words.cuh"
#include "kernels/cuda/segment_chunks.cuh"
#include "kernels/cuda/sorting_team.cuh"
#include "kernels/cuda/tile_elements.cuh"

namespace tessera::cuda {

/// Tiles that blocks have counts for: the fewest that are enough, as all are looked at.
inline constexpr std::uint32_t kFewDealtTiles = 256, kManyDealtTiles = 512, kMostDealtTiles = 1024;

/// A block that deals to at most kTiles tiles. Each thread has as many elements as registers have room for:
/// those of more would go to memory and back, which costs more than all else. Of more tiles a block has more
/// elements, as it is told more of those before.
template <unsigned kTiles>
struct DealShape {
  static constexpr bool kIsLarge = kTiles > kFewDealtTiles;
  static constexpr unsigned kWarps = kIsLarge ? 16 : 8, kThreads = 32 * kWarps,
                            kRounds = kIsLarge ? 12 : 16,  ///< elements of a thread
      kElements = kRounds * kThreads, kBallots = kElements / 32, kBlocks = 1024 / kThreads;
  static_assert(kElements <= BlockWord::kMostElements && kRounds <= 32, "a lane has a ballot");
};

/// Row i has the elements starts[i] to starts[i + 1], in `cols` from from[i] on.
struct DealtRows {
  std::uint64_t count;  ///< elements of all rows, at most kMostDealt; and rows are at most kMostDealtRows
  const std::uint64_t *starts, *from;
  const VertexId* cols;
  const VertexId* slot_of_column;
  SlotKeys slot_keys;
  VertexId first_row;                ///< the number of row 0
  std::uint32_t num_tiles;           ///< at most kMostDealtTiles
  const std::uint32_t* tile_starts;  ///< elements in all tiles before each

  /// In cols, of an element of a row that starts there. Numbers of elements fit 32 bits, and so do
  /// differences that wrap around.
  __host__ __device__ std::uint32_t position(std::uint32_t row, std::uint32_t start,
                                             std::uint32_t element) const {
    return static_cast<std::uint32_t>(from[row]) + (element - start);
  }
};

/// What elements are dealt to: their offsets, by tile, in the order of rows (offsets_with_room); and pieces,
/// what a row has in a tile. A tile's pieces lie where its elements do, from the first on.
struct DealtTiles {
  std::uint16_t* offsets;
  std::uint32_t* piece_firsts;  ///< element that each begins with
  VertexId* piece_rows;
  std::uint32_t* pieces_of_rows;  ///< of each row, first_row first; 0 at first
  Segment* pieces;                ///< where those of each tile lie
};

/// What a block deals: its elements, and their rows.
struct DealRange {
  std::uint32_t number, first, size;  ///< of the block; its elements are `first` and those behind it
  std::uint32_t first_row;            ///< of its first element
  std::uint32_t last_row;   ///< of the one behind its last; of the last block, of its last, which seems to go
                            ///< on then, but nothing lies behind it
  bool is_open;             ///< whether the first row began before
  std::uint32_t last_name;  ///< of the last row, see name()

  template <unsigned kTiles>
  __device__ static DealRange of(const DealtRows& given, const std::uint32_t* block_rows,
                                 std::uint32_t number) {
    const std::uint32_t first = number * DealShape<kTiles>::kElements, row = block_rows[number];
    DealRange range{
        .number = number,
        .first = first,
        .size = min(DealShape<kTiles>::kElements, static_cast<std::uint32_t>(given.count) - first),
        .first_row = row,
        .last_row = block_rows[number + 1],
        .is_open = given.starts[row] < first};
    range.last_name = range.name(range.last_row, static_cast<std::uint32_t>(given.starts[range.last_row]));
    return range;
  }

  /// Rows have names of 16 bits in the block: how far they are from the first, or, where those are too many,
  /// as most have no elements, where they begin in the block. The first row is 0 in any case.
  __device__ bool is_wide() const { return last_row - first_row > 0xffff; }
  /// Whether rows are so few that pieces of each are counted in shared memory.
  template <unsigned kTiles>
  __device__ bool has_few_rows() const {
    return last_row - first_row < DealShape<kTiles>::kElements;
  }
  __device__ std::uint32_t name(std::uint32_t row, std::uint32_t start) const {
    return !is_wide() ? row - first_row : start <= first ? 0 : min(start - first, size);
  }
  __device__ std::uint32_t row_of_name(const DealtRows& given, std::uint32_t name) const {
    return is_wide() ? row_of(given, name) : first_row + name;
  }
  /// Of the element at a place of the block, before they are dealt.
  __device__ std::uint32_t row_of(const DealtRows& given, std::uint32_t place) const {
    return first_row + static_cast<std::uint32_t>(last_not_above(given.starts + first_row,
                                                                 std::uint64_t{last_row} - first_row + 1,
                                                                 std::uint64_t{first} + place));
  }
};

/// Where a tile's elements and pieces go: to be added to their places in the block. And how many pieces rows
/// have, where has_few_rows(): two rows a word.
template <unsigned kTiles>
struct TileShifts {
  std::uint32_t elements[kTiles], pieces[kTiles];
  std::uint32_t pieces_of_rows[DealShape<kTiles>::kElements / 2];
};

/// In shared memory. kTiles: at least as many as there are.
template <unsigned kTiles>
struct DealBlock : DealShape<kTiles> {
  using Shape = DealShape<kTiles>;
  using Shape::kBallots, Shape::kElements, Shape::kWarps;
  union {
    SortingTeam<kWarps, std::uint16_t, kTiles> team;
    TileShifts<kTiles> shifts;  ///< when all have read the counts
  };
  DealRange range;
  std::uint32_t rows_so_far[kWarps], pieces_of_warp[kWarps];
  std::uint32_t begins[kBallots];         ///< a bit a place: does a piece begin there
  std::uint32_t goes_on[kBallots];        ///< the same: did a block before begin it
  std::uint16_t pieces_before[kBallots];  ///< in all words before each
  union {
    /// At first, of each element that begins a row but the first: how far its row is from the first.
    std::uint16_t row_firsts[kElements];
    std::uint32_t wide_rows[kElements];  ///< the same of each element, where is_wide()
    /// Then, of each place: the offset of its element, and the name of its row, shifted by 16.
    std::uint32_t words[kElements];
  };
  using TileNumber = std::conditional_t<Shape::kIsLarge, std::uint16_t, std::uint8_t>;
  static constexpr std::uint32_t kRowShifts = kElements * sizeof(TileNumber) / sizeof(std::uint32_t);
  union {
    std::uint32_t row_shifts[kRowShifts];  ///< see has_row_shifts()
    TileNumber tiles[kElements];           ///< of each place
  };

  /// Whether the rows are so few that it is known of each what is to be added to the number of an element to
  /// get its position.
  __device__ bool has_row_shifts() const { return range.last_row - range.first_row < kRowShifts; }
  /// Of the row at a place.
  __device__ std::uint32_t name_at(std::uint32_t place) const { return words[place] >> 16; }
  /// Neighbours of the same are of one piece.
  __device__ std::uint32_t piece_key(std::uint32_t place) const {
    return std::uint32_t{tiles[place]} << 16 | name_at(place);
  }
  /// Pieces that begin before a place.
  __device__ std::uint32_t pieces_before_place(std::uint32_t place) const {
    if (place == kElements) return pieces_before[kBallots - 1] + __popc(begins[kBallots - 1]);
    return pieces_before[place / 32] + __popc(begins[place / 32] & ((1u << place % 32) - 1));
  }
};

/// Four blocks and what the device keeps of each leave the most of L1 that is to be had (124 KB of an H200).
static_assert(DealShape<kFewDealtTiles>::kBlocks * (sizeof(DealBlock<kFewDealtTiles>) + 1024) <= 132 * 1024);

}  // namespace tessera::cuda
