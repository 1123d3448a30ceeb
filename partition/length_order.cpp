#include "partition/length_order.hpp"

#include <algorithm>

#include "partition/bucket_placement.hpp"

namespace tessera {
namespace {

/// Counters of so many lengths stay in a core's cache. In a graph fewer than one vertex for each
/// kLongLength edges is longer.
constexpr std::uint64_t kLongLength = 4095;

}  // namespace

Buffer<VertexId> order_by_length(std::span<const std::uint64_t> lengths) {
  Buffer<VertexId> order(lengths.size());
  const auto firsts = place_in_buckets(
      lengths.size(), kLongLength + 1,
      [&](std::uint64_t i) { return kLongLength - std::min(lengths[i], kLongLength); },
      [&](std::uint64_t position, std::uint64_t i) { order[position] = static_cast<VertexId>(i); });
  std::sort(order.begin(), order.begin() + firsts[1], [&](VertexId a, VertexId b) {
    return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b;
  });
  return order;
}

}  // namespace tessera
