// The order of a ranking: highest score first, equal scores by vertex id (which is label order).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/base/types.hpp"

namespace tessera {

/// Sorts ascending into ranking order, by (key, id).
struct RankedVertex {
  std::uint64_t key = 0;  ///< of the score, see ranking_key
  VertexId id = 0;
  auto operator<=>(const RankedVertex&) const = default;
};

struct ScoredVertex {
  VertexId id = 0;
  double score = 0;
};

/// The best vertices of a ranking, in its order, and their scores.
struct BestScores {
  std::vector<VertexId> vertices;
  std::vector<double> scores;
};

/// An integer that is smaller for a larger score; +0 and -0 give the same. `score` is not NaN.
std::uint64_t ranking_key(double score);

/// The vertices [first_id, first_id + count) in ranking order, or the best `top` of them. `scores` is of all
/// vertices. Throws InternalError for a score that is not finite.
std::vector<RankedVertex> ranking_order(std::span<const double> scores, VertexId first_id,
                                        std::uint64_t count, std::optional<std::uint64_t> top);

/// The best `count` of some vertices, or all, come to the front in ranking order; what is behind them goes.
/// Throws InternalError for a score that is not finite.
void keep_best(std::vector<ScoredVertex>& vertices, std::uint64_t count);

/// The best `count` of all vertices, whose scores these are; scores below 0 count as 0.
BestScores best_of(std::vector<double> scores, std::uint64_t count);

/// `best`, in ranking order, and behind them other vertices whose scores are 0, until there are `count`.
/// best: all of the vertices with scores above 0, or `count` of them.
BestScores with_zeros(std::span<const ScoredVertex> best, std::uint64_t count);

}  // namespace tessera
