#include "kernels/cuda/cuda_row_pieces.hpp"

#include <algorithm>

namespace tessera::cuda {

PieceDeal cut_long_rows(std::span<const EdgeOffset> row_offsets) {
  const auto length = [&](VertexId row) { return row_offsets[row + 1] - row_offsets[row]; };
  std::vector<VertexId> rows;
  for (VertexId row = 0; row + 1 < row_offsets.size(); ++row)
    if (length(row) > kMostOfWarp) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [&](VertexId a, VertexId b) { return length(a) > length(b); });

  PieceDeal deal;
  for (const VertexId row : rows) {
    const auto num_chunks = static_cast<std::uint32_t>(ceil_div<EdgeOffset>(length(row), kSumChunk));
    const CutRow cut{.first_sum = static_cast<std::uint32_t>(deal.num_sums),
                     .num_sums = num_chunks > kPieceChunks ? num_chunks : 0,
                     .num_pieces = ceil_div(num_chunks, kPieceChunks)};
    for (std::uint32_t chunk = 0; chunk < num_chunks; chunk += kPieceChunks)
      deal.pieces.push_back({row, chunk, static_cast<std::uint32_t>(deal.cut_rows.size())});
    deal.num_sums += cut.num_sums;
    deal.cut_rows.push_back(cut);
  }
  return deal;
}

}  // namespace tessera::cuda
