// Pieces of the long rows of a CSR matrix, for products of several vectors. Host code.
#pragma once
#include <span>
#include <vector>

#include "kernels/cuda/cuda_row_blocks.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {

/// In products of several vectors some lanes of a warp sum a row of up to so many elements. Longer ones are
/// cut: a block of threads takes kPieceChunks chunks at a time.
inline constexpr EdgeOffset kMostOfWarp = 2 * kSumChunk;
inline constexpr std::uint32_t kPieceChunks = 8;

struct RowPiece {
  VertexId row = 0;
  std::uint32_t first_chunk = 0;  ///< of the row
  std::uint32_t cut_row = 0;      ///< which of the rows that are cut
};

struct PieceDeal {
  std::vector<RowPiece> pieces;  ///< of all rows of more than kMostOfWarp elements, the longest row first
  std::vector<CutRow> cut_rows;
  std::uint64_t num_sums = 0;  ///< of chunks of rows of several pieces; a row of one piece has none
};

PieceDeal cut_long_rows(std::span<const EdgeOffset> row_offsets);

}  // namespace tessera::cuda
