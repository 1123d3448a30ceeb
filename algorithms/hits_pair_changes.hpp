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
  /// Records the joint change of a step and gives it in units of what a and h were last seen to change by.
  StepChange take(const StepChange& joint);
  /// For each step, after take(): false where a change within the tolerance may be that of one half alone.
  /// Then a and h are looked at (`pair`), and two steps later, whose own changes `change` becomes; now and
  /// then also where only the joint change is so small. Collective where `pair` is.
  bool is_settled(StepChange& change, const std::function<MatchedPair()>& pair);
  /// Joint residuals of all steps.
  const std::vector<double>& joint_residuals() const { return residuals_; }

 private:
  void compare(const MatchedPair& before, const MatchedPair& now, StepChange& change);
  StepChange change_between(const std::vector<double>& before, const std::vector<double>& now) const;

  const StopRule& stop_;
  StepChange joint_;
  std::vector<double> residuals_;
  std::optional<MatchedPair> pair_;  ///< of the step last_look_
  std::size_t last_look_ = 0;
  double own_residual_ = 1, own_l1_ = 1;  ///< of a or h, over the joint ones, when last looked at
};

}  // namespace tessera
