// Elements dealt to tiles and their pieces, in host memory (and on a device where one answers), against lists
// of what every tile has.
#include "kernels/cuda/tile_dealer.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

constexpr std::uint32_t kTileColumns = 100, kFirstRow = 7;

/// Rows in the order in which they are dealt, each a list of columns; a column's slot is its number, with one
/// more slot behind every tile.
struct Rows {
  std::uint32_t num_tiles = 1;
  std::vector<std::vector<VertexId>> columns;

  void add(std::size_t length, const std::function<std::uint32_t()>& tile, std::mt19937& random) {
    std::vector<VertexId> row(length);
    for (VertexId& column : row) column = tile() * kTileColumns + random() % kTileColumns;
    columns.push_back(row);
  }
};

struct Dealt {
  std::vector<std::uint16_t> offsets;
  std::vector<std::uint32_t> piece_firsts, num_pieces;  // pieces tile after tile
  std::vector<VertexId> piece_rows;
  std::vector<std::uint32_t> pieces_of_rows;

  bool operator==(const Dealt&) const = default;
};

Dealt expected_of(const Rows& rows) {
  Dealt dealt;
  dealt.pieces_of_rows.resize(rows.columns.size(), 0);
  for (std::uint32_t tile = 0; tile < rows.num_tiles; ++tile) {
    dealt.num_pieces.push_back(0);
    for (std::size_t row = 0; row < rows.columns.size(); ++row) {
      const std::size_t first = dealt.offsets.size();
      for (const VertexId column : rows.columns[row])
        if (column / kTileColumns == tile)
          dealt.offsets.push_back(static_cast<std::uint16_t>(column % kTileColumns));
      if (dealt.offsets.size() == first) continue;
      dealt.piece_firsts.push_back(static_cast<std::uint32_t>(first));
      dealt.piece_rows.push_back(static_cast<VertexId>(kFirstRow + row));
      ++dealt.num_pieces.back();
      ++dealt.pieces_of_rows[row];
    }
  }
  return dealt;
}

template <class Memory>
Dealt dealt_in(const Rows& rows) {
  std::vector<std::uint64_t> row_starts{0}, row_froms;
  std::vector<VertexId> all, slots;
  std::vector<std::uint32_t> of_tile(rows.num_tiles), starts_of_tiles;
  for (const auto& row : rows.columns) {
    row_froms.push_back(all.size());
    row_starts.push_back(row_starts.back() + row.size());
    all.insert(all.end(), row.begin(), row.end());
    all.push_back(0);  // rows do not follow each other
    for (const VertexId column : row) ++of_tile[column / kTileColumns];
  }
  for (VertexId column = 0; column < rows.num_tiles * kTileColumns; ++column)
    slots.push_back(column + column / kTileColumns);
  for (std::uint32_t tile = 0, sum = 0; tile < rows.num_tiles; sum += of_tile[tile++])
    starts_of_tiles.push_back(sum);
  const std::uint64_t count = row_starts.back();
  const auto starts = Memory::template from_host<std::uint64_t>(row_starts),
             froms = Memory::template from_host<std::uint64_t>(row_froms);
  const auto cols = Memory::template from_host<VertexId>(all),
             slots_there = Memory::template from_host<VertexId>(slots);
  const auto tile_starts = Memory::template from_host<std::uint32_t>(starts_of_tiles);
  auto offsets = offsets_with_room<Memory>(count);
  const std::uint64_t with_room = round_up<std::uint64_t>(count, kOffsetsAtOnce);
  Memory::fill(offsets.data(), kPoison, with_room * sizeof(std::uint16_t));
  BuildVector<Memory, std::uint32_t> piece_firsts(count);
  BuildVector<Memory, Segment> pieces(rows.num_tiles);
  BuildVector<Memory, VertexId> piece_rows(count);
  const std::uint64_t num_rows = rows.columns.size();
  auto pieces_of_rows = Memory::template zeros<std::uint32_t>(num_rows);
  deal_to_tiles<Memory>(
      {.count = count,
       .starts = starts.data(),
       .from = froms.data(),
       .cols = cols.data(),
       .slot_of_column = slots_there.data(),
       .slot_keys = SlotKeys(kTileColumns + 1),
       .first_row = kFirstRow,
       .num_tiles = rows.num_tiles,
       .tile_starts = tile_starts.data()},
      num_rows,
      {offsets.data(), piece_firsts.data(), piece_rows.data(), pieces_of_rows.data(), pieces.data()});
  const auto behind = Memory::to_host(offsets.data() + count, with_room - count);
  EXPECT_TRUE(std::ranges::all_of(behind, [](std::uint16_t offset) { return offset == 0; }));
  Dealt dealt{.offsets = Memory::to_host(offsets.data(), count),
              .pieces_of_rows = Memory::to_host(pieces_of_rows.data(), num_rows)};
  const auto of_tiles = Memory::to_host(pieces.data(), rows.num_tiles);
  for (std::uint32_t tile = 0; tile < rows.num_tiles; ++tile) {
    const std::uint64_t first = of_tiles[tile].first, size = of_tiles[tile].end - first;
    EXPECT_EQ(first, starts_of_tiles[tile]);
    dealt.num_pieces.push_back(static_cast<std::uint32_t>(size));
    for (const std::uint32_t e : Memory::to_host(piece_firsts.data() + first, size))
      dealt.piece_firsts.push_back(e);
    for (const VertexId row : Memory::to_host(piece_rows.data() + first, size))
      dealt.piece_rows.push_back(row);
  }
  return dealt;
}

void expect_dealt(const Rows& rows) {
  const Dealt expected = expected_of(rows);
  EXPECT_TRUE(dealt_in<HostMemory>(rows) == expected);
  if (num_devices() > 0) EXPECT_TRUE(dealt_in<DeviceMemory>(rows) == expected) << "on the device";
}

TEST(TileDealer, DealsRowsOfAllLengths) {
  for (const std::uint32_t num_tiles : {1u, 2u, 7u, 256u, 257u, 512u, 700u, 1024u}) {
    std::mt19937 random(num_tiles);
    Rows rows{num_tiles, {}};
    for (int i = 0; i < 3000; ++i)
      rows.add(
          random() % (random() % 50 == 0 ? 4000 : 20), [&] { return random() % num_tiles; }, random);
    SCOPED_TRACE(num_tiles);
    expect_dealt(rows);
  }
}

/// Elements of a block that deals to so many tiles.
std::size_t elements_of_block(std::uint32_t num_tiles) {
  return num_tiles <= kFewDealtTiles    ? DealShape<kFewDealtTiles>::kElements
         : num_tiles <= kManyDealtTiles ? DealShape<kManyDealtTiles>::kElements
                                        : DealShape<kMostDealtTiles>::kElements;
}

/// Rows end where blocks do, or an element before or behind, and the last block is full.
TEST(TileDealer, DealsRowsThatEndWithBlocks) {
  for (const std::uint32_t num_tiles : {9u, 300u, 600u}) {
    const std::size_t block = elements_of_block(num_tiles);
    std::mt19937 random(5);
    Rows rows{num_tiles, {}};
    const auto any = [&] { return random() % num_tiles; };
    for (const std::size_t length :
         {block, std::size_t{0}, std::size_t{1}, block - 1, 2 * block, std::size_t{0}, std::size_t{0},
          block + 1, block - 1, std::size_t{5}, 3 * block - 5})
      rows.add(length, any, random);
    SCOPED_TRACE(num_tiles);
    expect_dealt(rows);
  }
}

/// As many elements as one block has, or a group of them, or as many groups as are looked at together; as one
/// row and as many.
TEST(TileDealer, DealsWhatFillsBlocksAndGroups) {
  for (const std::uint32_t num_tiles : {3u, 300u, 600u}) {
    const std::size_t block = elements_of_block(num_tiles), group = DealState::kGroupBlocks * block;
    std::mt19937 random(4);
    const auto any = [&] { return random() % num_tiles; };
    for (const std::size_t count : {std::size_t{1}, block - 1, block, block + 1, group, group + 1,
                                    2 * group - 1, 4 * group + block, 5 * group + 1}) {
      SCOPED_TRACE(std::to_string(count) + " to " + std::to_string(num_tiles));
      Rows one{num_tiles, {}}, many{num_tiles, {}};
      one.add(count, any, random);
      expect_dealt(one);
      for (std::size_t left = count; left > 0;) {
        const std::size_t length = std::min<std::size_t>(left, random() % 90);
        many.add(length, any, random);
        left -= length;
      }
      expect_dealt(many);
    }
  }
}

/// A piece goes on from a block before, though there are blocks between that have nothing of its tile.
TEST(TileDealer, KnowsPiecesThatGoOnOverBlocksWithoutThem) {
  for (const std::uint32_t num_tiles : {6u, 300u, 600u}) {
    std::mt19937 random(6);
    Rows rows{num_tiles, {}};
    const std::uint32_t last = num_tiles - 1;
    std::size_t dealt = 0;
    // The last tile at the beginning, in the middle and at the end of rows of many blocks; of some rows in
    // two alone.
    for (int row = 0; row < 40; ++row) {
      const std::size_t length = 5 * elements_of_block(num_tiles) + random() % 100;
      dealt = 0;
      rows.add(
          length,
          [&] {
            ++dealt;
            const bool is_begin = dealt < 20 && row % 2 == 0, is_end = dealt + 20 > length && row % 3 == 0,
                       is_middle = dealt == length / 2 && row % 5 == 0;
            return is_begin || is_middle || is_end ? last : static_cast<std::uint32_t>(random() % last);
          },
          random);
      rows.add(
          random() % 3, [&] { return static_cast<std::uint32_t>(random() % num_tiles); }, random);
    }
    SCOPED_TRACE(num_tiles);
    expect_dealt(rows);
  }
}

/// So many rows without elements between those of a block that 16 bits do not number them.
TEST(TileDealer, KnowsRowsOfBlocksWithVeryManyRows) {
  for (const std::uint32_t num_tiles : {5u, 300u, 600u}) {
    const std::size_t block = elements_of_block(num_tiles);
    std::mt19937 random(9);
    Rows rows{num_tiles, {}};
    const auto any = [&] { return random() % num_tiles; };
    const auto add_gap = [&](std::size_t size) { rows.columns.resize(rows.columns.size() + size); };
    add_gap(70000);
    // Within a block, where it ends, an element before and behind, and twice in one.
    for (const std::size_t length : {block / 2, block / 2, block - 1, std::size_t{2}, 2 * block + 5}) {
      rows.add(length, any, random);
      add_gap(65536 + random() % 3 - 1);
    }
    for (int i = 0; i < 200; ++i) {
      rows.add(
          random() % 100, [&] { return static_cast<std::uint32_t>(random() % 2); }, random);
      add_gap(i % 3 == 0 ? 3000 : 0);
    }
    add_gap(70000);
    SCOPED_TRACE(num_tiles);
    expect_dealt(rows);
  }
}

/// Rows of a block that deals to so many tiles whose positions are known by what is to be added.
std::size_t row_shifts_of_block(std::uint32_t num_tiles) {
  return num_tiles <= kFewDealtTiles    ? DealBlock<kFewDealtTiles>::kRowShifts
         : num_tiles <= kManyDealtTiles ? DealBlock<kManyDealtTiles>::kRowShifts
                                        : DealBlock<kMostDealtTiles>::kRowShifts;
}

/// As many rows in a block as are counted in shared memory, and one more.
TEST(TileDealer, KnowsAsManyRowsAsAreCountedTogether) {
  for (const std::uint32_t num_tiles : {5u, 200u, 300u, 600u}) {
    const std::size_t block = elements_of_block(num_tiles);
    for (const std::size_t first_length : {std::size_t{1}, std::size_t{2}}) {
      std::mt19937 random(11);
      Rows rows{num_tiles, {}};
      const auto any = [&] { return random() % num_tiles; };
      rows.add(first_length, any, random);
      for (std::size_t i = 0; i < 2 * block + 70; ++i) rows.add(1, any, random);
      SCOPED_TRACE(num_tiles);
      expect_dealt(rows);
    }
  }
}

/// Blocks whose last row is as far from the first as is known by what is to be added, or as 16 bits number,
/// or one more: two rows of a block each, with others between that have no elements, and one behind.
TEST(TileDealer, KnowsRowsThatAreAsFarApartAsTheyAreNamed) {
  for (const std::uint32_t num_tiles : {5u, 200u, 300u, 600u}) {
    const std::size_t block = elements_of_block(num_tiles), shifts = row_shifts_of_block(num_tiles);
    std::mt19937 random(12);
    Rows rows{num_tiles, {}};
    const auto any = [&] { return random() % num_tiles; };
    for (const std::size_t distance : {shifts - 1, shifts, std::size_t{65535}, std::size_t{65536}}) {
      rows.add(block / 3, any, random);
      rows.columns.resize(rows.columns.size() + distance - 2);
      rows.add(block - block / 3, any, random);
    }
    rows.add(1, any, random);
    SCOPED_TRACE(num_tiles);
    expect_dealt(rows);
  }
}

TEST(TileDealer, RefusesMoreTilesThanBlocksTake) {
  DealtRows rows{.slot_keys = SlotKeys(kTileColumns + 1)};
  rows.num_tiles = kMostDealtTiles + 1;
  EXPECT_THROW(deal_to_tiles<HostMemory>(rows, 0, {}), InternalError);
}

/// By warps and by threads, of which graphs have more than tests; many rows have no elements.
TEST(TileDealer, FindsTheRowsOfBlocks) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  std::vector<std::uint64_t> starts{0};
  for (std::uint64_t row = 0; row < 50000; ++row)
    starts.push_back(starts.back() + (row % 7 < 4 ? 0 : row * 31 % 40) + (row == 700 ? 9000 : 0));
  const std::uint64_t count = starts.back();
  constexpr std::uint32_t kBlock = 4096;
  const auto num_rows_told = static_cast<std::uint32_t>(ceil_div<std::uint64_t>(count, kBlock) + 1);
  const auto there = DeviceMemory::from_host<std::uint64_t>(starts);
  std::vector<std::uint32_t> expected;
  for (std::uint64_t b = 0; b < num_rows_told; ++b) {
    const std::uint64_t element = std::min(b * kBlock, count - 1);
    expected.push_back(static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), element) -
                                                  starts.begin() - 1));
  }
  const DealtRows given{.count = count, .starts = there.data(), .slot_keys = SlotKeys(1)};
  for (const auto kernel : {find_block_rows_kernel<32>, find_block_rows_kernel<1>}) {
    BuildVector<DeviceMemory, std::uint32_t> rows(num_rows_told), words(5000);
    DeviceMemory::fill(words.data(), 0xff, words.num_bytes());
    kernel<<<ceil_div(num_rows_told * 32, 256u), 256>>>(given, starts.size() - 1, kBlock, num_rows_told,
                                                        rows.data(),
                                                        FillBytes(words.data(), words.num_bytes(), 0));
    EXPECT_TRUE(DeviceMemory::to_host(rows.data(), rows.size()) == expected);
    EXPECT_TRUE(DeviceMemory::to_host(words.data(), words.size()) == std::vector<std::uint32_t>(5000, 0));
  }
}

}  // namespace
}  // namespace tessera::cuda
