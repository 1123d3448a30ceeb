// Deals the rows of a CSR matrix to blocks of threads, for products of one vector: a block reads the elements
// of its rows side by side, whatever the rows look like. Host code.
#pragma once
#include <span>
#include <vector>

#include "kernels/base/types.hpp"

namespace tessera::cuda {

inline constexpr unsigned kRowBlockThreads = 256;
/// Elements that a block stages in shared memory: less of a small matrix, whose product is all waiting. A
/// longer row is cut into pieces of whole chunks.
inline constexpr std::uint32_t kFewStaged = 1024, kManyStaged = 2048;
inline constexpr EdgeOffset kFewElements = 1 << 20;
/// Rows that a block takes at most.
inline constexpr std::uint32_t most_rows_of(std::uint32_t num_staged) { return num_staged / 2; }

/// Blocks of runs of steps, which meet: as few as there are multiprocessors, if that is enough, and so with
/// more threads, elements and rows each.
inline constexpr unsigned kRankRunThreads = 512;
inline constexpr std::uint32_t kRankRunStaged = 4096, kRankRunRows = 1024;

/// How a block adds what it has staged. Rows of more than kSumChunk elements take a warp each, whatever the
/// others take.
enum class RowSums : std::uint32_t {
  by_threads,  ///< a thread a row
  by_groups,   ///< kSumLanes threads a row
  of_piece     ///< of a row that is cut: kSumLanes threads a chunk; the last of its blocks adds all chunks
};

/// Rows from first_row to that of the next block, or a piece of first_row.
struct RowBlock {
  EdgeOffset first_element = 0;
  VertexId first_row = 0;
  RowSums sums = RowSums::by_threads;
  std::uint32_t longest = 0;    ///< elements of its longest row
  std::uint32_t cut_row = 0;    ///< pieces: which of the rows that are cut
  std::uint32_t first_sum = 0;  ///< pieces: where the sum of the piece's first chunk goes
};

/// A row of several pieces; the sums of its chunks lie side by side.
struct CutRow {
  std::uint32_t first_sum = 0, num_sums = 0;
  std::uint32_t num_pieces = 0;
};

/// What a block has at most.
struct BlockSizes {
  std::uint32_t elements = 0, rows = 0;
};

struct RowDeal {
  std::uint32_t num_staged = kFewStaged;  ///< elements that a block may have
  BlockSizes most;                        ///< that one has
  std::vector<RowBlock> blocks;           ///< and one more, which says where the rows end
  /// Where each row begins in its block (of rows that are not pieces).
  std::vector<std::uint16_t> row_begins;
  std::vector<CutRow> cut_rows;
  std::uint64_t num_sums = 0;  ///< of chunks of rows that are cut
};

/// Small matrices get less a block, so that every multiprocessor has some.
RowDeal deal_rows(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors);
/// For runs of steps; how blocks add is not looked at, but in pieces. Blocks are at most as many as there are
/// multiprocessors, if that is enough.
RowDeal deal_rank_run_rows(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors);

}  // namespace tessera::cuda
