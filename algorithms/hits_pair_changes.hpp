// When the block form of HITS has settled. Its steps change authorities and hubs together, scaled together,
// and may have next to nothing of one of them, whose own change is then hardly part of the joint one.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "algorithms/convergence.hpp"

namespace tessera {

/// Scores of a matching pair, each normalised by itself, in original order.
struct MatchedPair {
  std::vector<double> authority, hub;
};

class PairChanges {
 public:
  /// stop: must outlive this.
  explicit PairChanges(const StopRule& stop) : stop_(stop) {}
  /// For each step, with its joint change. While that is within the tolerance a and h are looked at (`pair`)
  /// and two steps later again, at first at once, then now and then; `change` becomes the larger one of their
  /// own, as last seen. False as long as these are not known, or were within the tolerance and may not be any
  /// more. Collective where `pair` is.
  bool is_known(StepChange& change, const std::function<MatchedPair()>& pair);
  /// Joint residuals of all steps.
  const std::vector<double>& joint_residuals() const { return residuals_; }

 private:
  StepChange larger_change(const MatchedPair& before, const MatchedPair& now) const;

  const StopRule& stop_;
  std::vector<double> residuals_;
  std::optional<MatchedPair> pair_;  ///< of the step last_look_
  std::size_t last_look_ = 0, next_look_ = 0;
  std::optional<StepChange> own_;  ///< the last one that was seen
};

}  // namespace tessera
