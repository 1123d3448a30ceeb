// Ranking by length, longest first: columns of a matrix, rows of a tile (paper 3.1, "sorting cost").
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/types.hpp"

namespace tessera {

/// Positions 0..n-1 by descending length, ties by position. Counting sort where the lengths allow it.
std::vector<VertexId> order_by_length(std::span<const std::uint64_t> lengths);

}  // namespace tessera
