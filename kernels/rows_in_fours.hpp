// The order in which a device adds up the rows of products of many f32 vectors in CSR
// (kernels/cuda/cuda_spmv_csr_wide.cu). It follows from a row and the number of columns that have elements,
// so that neither the other vectors nor the number of ranks changes a bit:
// - Four elements are added as (a + b) + (c + d): in f32 where all values are 1, else as doubles, in which
//   products are exact. Behind the last element follow zeros.
// - A piece of a row is the sum, in double and from 0 on, of its fours in order. A row of up to
//   most_of_piece() elements is one piece.
// - A longer row is cut into runs of four pieces, all of one length but for the end. The sum of a run is
//   ((p0 + p1) + p2) + p3, that of the row its runs' sums, in order, from 0 on where there are several.
#pragma once
#include "kernels/base/host_device.hpp"
#include "kernels/base/types.hpp"
#include "kernels/block_padding.hpp"

namespace tessera {

inline constexpr unsigned kFour = 4;

/// Elements of a piece, at most. The longer pieces are, the fewer runs a large graph has; a small one waits
/// for its longest run (docs/performance.md).
inline constexpr std::uint32_t kMostOfPiece = 2048, kMostOfFewColumns = 256;
TESSERA_HD constexpr std::uint32_t most_of_piece(std::uint64_t num_columns) {
  constexpr std::uint64_t kFewColumns = std::uint64_t{1} << 19;
  return num_columns < kFewColumns ? kMostOfFewColumns : num_columns < 2 * kFewColumns ? 1024 : kMostOfPiece;
}

/// Whether a device adds up rows so, for so many vectors of numbers of so many bytes.
constexpr bool adds_in_fours(std::uint64_t num_vectors, std::uint64_t value_bytes) {
  constexpr std::uint64_t kOfLoad = kDeviceLoadBytes / sizeof(float);
  return value_bytes == sizeof(float) && num_vectors > kFewVectors && num_vectors % kOfLoad == 0;
}

/// How a row is cut: piece p has elements p * length to (p + 1) * length, as far as there are any.
struct PiecesInFours {
  std::uint32_t num_runs;  ///< of kFour pieces; 1 of a row that is one piece
  std::uint32_t length;    ///< a multiple of kFour
};

/// A row of num_elements > 0, where pieces have at most `most`.
TESSERA_HD inline PiecesInFours pieces_in_fours(EdgeOffset num_elements, std::uint32_t most) {
  const auto shares = [](EdgeOffset all, EdgeOffset parts) { return (all + parts - 1) / parts; };
  if (num_elements <= most) return {1, most};
  const EdgeOffset num_runs = shares(num_elements, EdgeOffset{kFour} * most),
                   length = shares(num_elements, kFour * num_runs);
  return {static_cast<std::uint32_t>(num_runs),
          static_cast<std::uint32_t>(shares(length, EdgeOffset{kFour}) * kFour)};
}

}  // namespace tessera
