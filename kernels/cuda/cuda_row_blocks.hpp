// Deals the rows of a CSR matrix to blocks of threads, for products of one vector: a block reads the elements
// of its rows side by side, whatever the rows look like. Host code.
#pragma once
#include <span>
#include <vector>

#include "kernels/base/types.hpp"

namespace tessera::cuda {

/// Elements that a block stages in shared memory, and rows that it takes, at most. A longer row has a block
/// of its own, which does not stage it.
inline constexpr std::uint32_t kStagedElements = 2048, kStagedRows = 1024;
inline constexpr unsigned kRowBlockThreads = 256;

/// How a block adds what it has staged.
enum class RowSums : std::uint32_t {
  by_threads,  ///< a thread a row
  by_groups,   ///< kSumLanes threads a row
  in_chunks,   ///< one row of more than kSumChunk elements: kSumLanes threads a chunk
  unstaged     ///< one row of more than kStagedElements
};

/// Rows from first_row to that of the next block.
struct RowBlock {
  EdgeOffset first_element = 0;
  VertexId first_row = 0;
  RowSums sums = RowSums::by_threads;
};

/// One more than there are blocks: the last says where the rows end. Small matrices get less a block, so that
/// every multiprocessor has some.
std::vector<RowBlock> deal_rows(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors);

}  // namespace tessera::cuda
