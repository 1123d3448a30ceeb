// Deals the rows of a CSR matrix to groups of neighbouring threads, for products of several vectors. Host
// code.
#pragma once
#include <span>
#include <vector>

#include "kernels/base/types.hpp"
#include "kernels/rows_in_fours.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {

/// A group sums whole rows of up to so many elements. Of longer ones it takes a chunk (of kSumChunk
/// elements).
inline constexpr EdgeOffset kMostOfRun = 2 * kSumChunk;
inline constexpr std::uint32_t kNotCut = ~std::uint32_t{0};

/// Rows from first_row to end_row, none of them empty, or a chunk of first_row.
struct RowRun {
  VertexId first_row = 0, end_row = 0;
  std::uint32_t chunk = 0;          ///< of the row, where it is cut: for rows in fours a run of its pieces
  std::uint32_t cut_row = kNotCut;  ///< which of the rows that are cut
};

/// Where the sums of a cut row's chunks lie, one after the other.
struct ChunkSums {
  std::uint32_t first = 0, count = 0;
};

/// Every element is in one run.
struct RunDeal {
  std::vector<RowRun> runs;  ///< the chunks of the longest row first, behind those of all cut rows the others
  std::vector<ChunkSums> cut_rows;
  std::uint64_t num_sums = 0;  ///< of chunks of rows that are cut
};

/// A run of whole rows ends before an empty or a long row, after 32 rows, and before it has more than 256
/// elements (of small matrices down to 32, so that every multiprocessor has some).
RunDeal deal_runs(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors);

/// For warps that go through four rows or pieces at a time (kernels/rows_in_fours.hpp): a row that is cut
/// into pieces is a run by itself, or, if these are more than four, several. A run of whole rows is of four,
/// or of more in fours up to 32 and 512 elements (fewer as above); of fewer than four before an empty or a
/// cut row, and at the end.
RunDeal deal_runs_in_fours(std::span<const EdgeOffset> row_offsets, std::uint32_t most,
                           unsigned num_multiprocessors);

}  // namespace tessera::cuda
