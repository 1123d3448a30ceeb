#include "engine/score_order.hpp"

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

namespace {

/// Those of vertices first .. end-1, in their order, at `out`.
void put_keys(std::span<const double> scores, std::uint64_t first, std::uint64_t end, RankedVertex* out) {
  for (std::uint64_t v = first; v < end; ++v) {
    require(std::isfinite(scores[v]), "a score is not finite");
    *out++ = {ranking_key(scores[v]), static_cast<VertexId>(v)};
  }
}

/// The best `count` move to the front; what is behind them goes.
void keep_best(std::vector<RankedVertex>& order, std::uint64_t count) {
  if (count >= order.size()) return;
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
  order.resize(count);
}

constexpr std::uint64_t kLeastPart = 1 << 14;

std::vector<RankedVertex> all_keys(std::span<const double> scores, std::uint64_t first, std::uint64_t count) {
  std::vector<RankedVertex> order(count);
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, count, kLeastPart), [&](const auto& range) {
    put_keys(scores, first + range.begin(), first + range.end(), order.data() + range.begin());
  });
  return order;
}

/// The best `top` of each part: all of the best are among them, and few others.
std::vector<RankedVertex> best_of_parts(std::span<const double> scores, std::uint64_t first,
                                        std::uint64_t count, std::uint64_t top) {
  const std::uint64_t part_size = std::max(16 * top, kLeastPart);
  const std::uint64_t num_parts = ceil_div(count, part_size);
  std::vector<std::vector<RankedVertex>> parts(num_parts);
  tbb::parallel_for(std::uint64_t{0}, num_parts, [&](std::uint64_t i) {
    const std::uint64_t begin = i * part_size, end = std::min(count, begin + part_size);
    std::vector<RankedVertex> order(end - begin);
    put_keys(scores, first + begin, first + end, order.data());
    keep_best(order, top);
    parts[i].assign(order.begin(), order.end());  // without the room of those that have gone
  });
  std::vector<RankedVertex> best;
  for (const auto& part : parts) best.insert(best.end(), part.begin(), part.end());
  return best;
}

}  // namespace

std::vector<RankedVertex> ranking_order(std::span<const double> scores, VertexId first_id,
                                        std::uint64_t count, std::optional<std::uint64_t> top) {
  const bool are_few = top && *top <= count / 64;
  std::vector<RankedVertex> order =
      are_few ? best_of_parts(scores, first_id, count, *top) : all_keys(scores, first_id, count);
  if (top) keep_best(order, *top);
  tbb::parallel_sort(order.begin(), order.end());
  return order;
}

void keep_best(std::vector<ScoredVertex>& vertices, std::uint64_t count) {
  for (const ScoredVertex& vertex : vertices) require(std::isfinite(vertex.score), "a score is not finite");
  const auto end =
      vertices.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(count, vertices.size()));
  const auto comes_first = [](const ScoredVertex& a, const ScoredVertex& b) {
    return a.score != b.score ? a.score > b.score : a.id < b.id;
  };
  if (end != vertices.end()) std::nth_element(vertices.begin(), end, vertices.end(), comes_first);
  vertices.erase(end, vertices.end());
  tbb::parallel_sort(vertices.begin(), vertices.end(), comes_first);
}

BestScores best_of(std::vector<double> scores, std::uint64_t count) {
  for (double& score : scores) score = score < 0 ? 0 : score;
  BestScores best;
  for (const RankedVertex& vertex : ranking_order(scores, 0, scores.size(), count)) {
    best.vertices.push_back(vertex.id);
    best.scores.push_back(scores[vertex.id]);
  }
  return best;
}

BestScores with_zeros(std::span<const ScoredVertex> best, std::uint64_t count) {
  BestScores result;
  for (const ScoredVertex& vertex : best) {
    result.vertices.push_back(vertex.id);
    result.scores.push_back(vertex.score);
  }
  std::vector<VertexId> above(result.vertices);
  std::sort(above.begin(), above.end());
  auto next = above.begin();
  for (VertexId v = 0; result.vertices.size() < count; ++v)
    if (next != above.end() && *next == v)
      ++next;
    else
      result.vertices.push_back(v);
  result.scores.resize(result.vertices.size(), 0.0);
  return result;
}

}  // namespace tessera
