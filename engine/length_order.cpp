#include "engine/length_order.hpp"

#include <algorithm>
#include <numeric>

namespace tessera {

std::vector<VertexId> order_by_length(std::span<const std::uint64_t> lengths) {
  std::vector<VertexId> order(lengths.size());
  const std::uint64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  if (longest <= 4 * lengths.size() + 65536) {
    std::vector<std::uint64_t> first(longest + 2, 0);  // first[longest - length + 1]: counts, then starts
    for (std::uint64_t length : lengths) ++first[longest - length + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (std::size_t i = 0; i < lengths.size(); ++i)
      order[first[longest - lengths[i]]++] = static_cast<VertexId>(i);
  } else {
    std::iota(order.begin(), order.end(), VertexId{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](VertexId a, VertexId b) { return lengths[a] > lengths[b]; });
  }
  return order;
}

}  // namespace tessera
