#include "engine/io/score_order.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/base/error.hpp"

namespace tessera {

std::uint64_t ranking_key(double score) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);  // + 0.0 turns -0 into +0
  // Ascending in the score: negative ones have their order of bits turned round. Then inverted.
  return ~((bits & kSign) != 0 ? ~bits : bits | kSign);
}

std::vector<RankedVertex> ranking_order(std::span<const double> scores, VertexId first_id,
                                        std::uint64_t count, std::optional<std::uint64_t> top) {
  std::vector<RankedVertex> order(count);
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, count, 1 << 14), [&](const auto& range) {
    for (std::uint64_t i = range.begin(); i != range.end(); ++i) {
      require(std::isfinite(scores[first_id + i]), "a score is not finite");
      order[i] = {ranking_key(scores[first_id + i]), static_cast<VertexId>(first_id + i)};
    }
  });
  if (top && *top < count) {
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(*top), order.end());
    order.resize(*top);
  }
  tbb::parallel_sort(order.begin(), order.end());
  return order;
}

}  // namespace tessera
