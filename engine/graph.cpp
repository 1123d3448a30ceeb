// The division of vertex ids into blocks of ranks.
#include "engine/graph.hpp"

#include "kernels/base/error.hpp"

namespace tessera {

std::vector<std::uint64_t> block_boundaries(std::uint64_t num_vertices, int num_ranks) {
  require(num_ranks > 0, "block_boundaries: no ranks");
  require(num_vertices <= kMaxVertices, "block_boundaries: too many vertices");
  std::vector<std::uint64_t> boundaries(static_cast<std::size_t>(num_ranks) + 1);
  // Below 2^32 * 2^31, so the product cannot overflow.
  for (std::uint64_t r = 0; r < boundaries.size(); ++r) boundaries[r] = num_vertices * r / num_ranks;
  return boundaries;
}

}  // namespace tessera
