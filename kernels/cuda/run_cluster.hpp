// Runs of steps of the smallest graphs: their rows are dealt to a cluster of blocks of threads, each of which
// has all inputs in its shared memory, so that no step waits for L2. Host code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/host_device.hpp"
#include "kernels/base/types.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {

/// As many as a cluster may have on any device that has clusters.
inline constexpr unsigned kClusterBlocks = 8;
/// Threads of a block that have rows, and rows of each at most.
inline constexpr unsigned kClusterRowThreads = 512;
inline constexpr std::uint32_t kMostClusterRowsEach = 3;
inline constexpr unsigned kWarpLanes = 32;
/// A lane of a task whose sum is nobody's, and an element that is none of the matrix's.
inline constexpr std::uint16_t kNoClusterSum = 0xffff;
inline constexpr std::uint32_t kNoClusterElement = ~std::uint32_t{0};

/// What a warp adds up at a time: a row of a few elements a lane, or a chunk of a longer one a group of
/// kSumLanes lanes. The column of element e of a lane's is in half e % 2 of word first_word + 32 (e / 2) +
/// lane of its block, its value, if there are values, at so much of two a word; behind the last one are
/// elements whose input and value are 0.
struct ClusterTask {
  std::uint32_t first_word = 0;
  std::uint16_t num_elements = 0;  ///< of a lane: 2, 4, 8 or 16 of rows, of chunks a multiple of 4
  bool is_of_chunks = false;
};
/// Where what a row adds lies among the sums of its block.
struct ClusterRow {
  std::uint16_t first_sum = 0, num_sums = 0;  ///< 0: the row is empty
};
/// Rows from first_row to that of the next block.
struct ClusterBlock {
  VertexId first_row = 0;
  std::uint32_t first_task = 0, first_word = 0;
};
/// What a block has at most, and the columns of all.
struct ClusterSizes {
  std::uint32_t rows = 0, tasks = 0, words = 0, sums = 0, cols = 0;
  bool weighted = false;
};

struct ClusterDeal {
  std::vector<ClusterBlock> blocks;        ///< kClusterBlocks, some of which may have no rows, and one more
  std::vector<ClusterTask> tasks;          ///< of each block those of the longest rows first
  std::vector<std::uint16_t> sum_of_lane;  ///< kWarpLanes a task: which sum of the block that is
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> elements;  ///< two a word: which of the matrix's that is, or kNoClusterElement
  std::vector<ClusterRow> rows;
  ClusterSizes most;
};

/// What a row costs beside its elements, in elements, where inputs have four bytes; blocks get their shares
/// by it whatever these have.
inline constexpr std::uint64_t kClusterRowCost = 6;
inline constexpr std::uint64_t kMostClusterCost = 80000;
/// Whether a graph is so small that steps in a cluster take less than those of a grid: the more inputs there
/// are, the longer they take to all blocks (docs/performance.md). value_bytes: of an input.
constexpr bool pays_in_cluster(std::uint64_t num_rows, std::uint64_t num_elements, std::size_t value_bytes) {
  return num_elements + kClusterRowCost * num_rows * (value_bytes / 4) <= kMostClusterCost;
}
/// Columns and the one of the input that is always 0 are numbers of 16 bits.
inline constexpr std::uint64_t kMostClusterColumns = (1 << 16) - 1;
/// Of a matrix of up to kMostClusterCost, with up to kMostClusterColumns; row_offsets[0]: 0.
ClusterDeal deal_cluster_rows(std::span<const EdgeOffset> row_offsets, std::span<const VertexId> col_indices,
                              std::uint32_t num_cols, bool weighted);

/// Where a block's parts lie in its shared memory, in bytes, behind `fixed` of what has the same size for
/// all. kSides: matrices, 1 or 2 that take turns, the first in even steps.
template <unsigned kSides>
struct ClusterLayout {
  struct Side {
    std::size_t words, values, tasks, sum_of_lane;
  } sides[kSides];
  std::size_t sums;       ///< of either side's rows
  std::size_t inputs[2];  ///< of even and of odd steps: a number a column and one that is always 0
  std::size_t end;

  TESSERA_HD constexpr ClusterLayout(std::size_t fixed, const ClusterSizes (&most)[kSides],
                                     std::size_t value_bytes)
      : sums(aligned(fixed)) {
    std::size_t num_sums = 0;
    for (const ClusterSizes& side : most) num_sums = side.sums > num_sums ? side.sums : num_sums;
    end = aligned(sums + num_sums * sizeof(double));
    for (unsigned side = 0; side < kSides; ++side) {
      sides[side].words = end;
      sides[side].values = aligned(sides[side].words + most[side].words * sizeof(std::uint32_t));
      const std::size_t num_values = most[side].weighted ? 2 * std::size_t{most[side].words} : 0;
      sides[side].tasks = aligned(sides[side].values + num_values * value_bytes);
      sides[side].sum_of_lane = aligned(sides[side].tasks + most[side].tasks * sizeof(ClusterTask));
      end = aligned(sides[side].sum_of_lane + most[side].tasks * kWarpLanes * sizeof(std::uint16_t));
    }
    for (unsigned turn = 0; turn < 2; ++turn) {
      inputs[turn] = end;
      end += (most[turn % kSides].cols + std::size_t{1}) * value_bytes;
    }
  }

 private:
  TESSERA_HD static constexpr std::size_t aligned(std::size_t offset) { return (offset + 15) / 16 * 16; }
};

}  // namespace tessera::cuda
