#include "algorithms/hits_pair_changes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/hits_norm.hpp"

namespace tessera {
namespace {

/// After so many steps whose joint change is small enough, the own ones may be, too, whatever they were
/// before.
constexpr std::size_t kStepsToLook = 16;

}  // namespace

StepChange PairChanges::take(const StepChange& joint) {
  joint_ = joint;
  residuals_.push_back(joint.residual);
  return {joint.residual * own_residual_, joint.l1 * own_l1_, joint.magnitude * own_l1_};
}

bool PairChanges::is_settled(StepChange& change, const std::function<MatchedPair()>& pair) {
  const std::size_t num_steps = residuals_.size();
  const bool is_near = change.residual <= stop_.tolerance;
  if (pair_ && num_steps == last_look_ + 2) {
    compare(*std::exchange(pair_, std::nullopt), pair(), change);
    return true;
  }
  if (!pair_ && (is_near || (joint_.residual <= stop_.tolerance && num_steps >= last_look_ + kStepsToLook))) {
    pair_ = pair();
    last_look_ = num_steps;
  }
  return !is_near;
}

void PairChanges::compare(const MatchedPair& before, const MatchedPair& now, StepChange& change) {
  const StepChange a = change_between(before.authority, now.authority),
                   h = change_between(before.hub, now.hub);
  change.residual = std::max(a.residual, h.residual);
  change.l1 = std::max(a.l1, h.l1);
  if (joint_.residual > 0) own_residual_ = change.residual / joint_.residual;
  if (joint_.l1 > 0) own_l1_ = change.l1 / joint_.l1;
}

StepChange PairChanges::change_between(const std::vector<double>& before,
                                       const std::vector<double>& now) const {
  VectorSums sums;
  for (std::size_t v = 0; v < before.size(); ++v) {
    const double change = std::abs(now[v] - before[v]);
    hits_scale().add(change, sums.change_l1);
    hits_scale().add(change * change, sums.change_squares);
    sums.change_max = std::max(sums.change_max, change);
  }
  return change_of(stop_.norm, sums, hits_scale());
}

}  // namespace tessera
