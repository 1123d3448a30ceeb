// Ranking by length, longest first: columns of a matrix (paper 3.1, "sorting cost"), rows to be dealt
// (paper 3.2).
#pragma once
#include <cstdint>
#include <span>

#include "kernels/base/buffer.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// Positions 0..n-1 by descending length, ties by position. A counting sort by all threads; the few lengths
/// that are not short are sorted by comparing.
Buffer<VertexId> order_by_length(std::span<const std::uint64_t> lengths);

}  // namespace tessera
