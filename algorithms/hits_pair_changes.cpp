#include "algorithms/hits_pair_changes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/hits_norm.hpp"

namespace tessera {
namespace {

/// Between looks. Odd: steps take turns between two sequences of pairs.
constexpr std::size_t kStepsToLook = 7;

StepChange change_between(const std::vector<double>& before, const std::vector<double>& now, Norm norm) {
  const auto n = static_cast<std::int64_t>(before.size());
  VectorSums sums;
#pragma omp parallel
  {
    VectorSums own;
#pragma omp for nowait
    for (std::int64_t v = 0; v < n; ++v) {
      const double change = std::abs(now[v] - before[v]);
      hits_scale().add(change, own.change_l1);
      hits_scale().add(change * change, own.change_squares);
      hits_scale().add(now[v], own.total);
      own.change_max = std::max(own.change_max, change);
    }
#pragma omp critical
    {
      sums.change_l1 += own.change_l1;
      sums.change_squares += own.change_squares;
      sums.total += own.total;
      sums.change_max = std::max(sums.change_max, own.change_max);
    }
  }
  return change_of(norm, sums, hits_scale());
}

}  // namespace

bool PairChanges::is_known(StepChange& change, const std::function<MatchedPair()>& pair) {
  residuals_.push_back(change.residual);
  const std::size_t num_steps = residuals_.size();
  const bool is_near = change.residual <= stop_.tolerance,
             is_second_look = pair_ && num_steps == last_look_ + 2;
  if (is_second_look) {
    own_ = larger_change(*std::exchange(pair_, std::nullopt), pair());
    next_look_ = num_steps + kStepsToLook;
  } else if (!pair_ && is_near && num_steps >= next_look_) {
    pair_ = pair();
    last_look_ = num_steps;
  }
  if (!is_near) return true;
  if (own_) change = *own_;
  return own_ && (is_second_look || own_->residual > stop_.tolerance);  // what was small may have grown since
}

StepChange PairChanges::larger_change(const MatchedPair& before, const MatchedPair& now) const {
  const StepChange a = change_between(before.authority, now.authority, stop_.norm),
                   h = change_between(before.hub, now.hub, stop_.norm);
  return {.residual = std::max(a.residual, h.residual),
          .l1 = std::max(a.l1, h.l1),
          .magnitude = std::max(a.magnitude, h.magnitude)};
}

}  // namespace tessera
