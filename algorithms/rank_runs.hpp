// Steps of PageRank that a device goes through without the host (Backend::run_rank_steps), as the host looks
// at them: one by one.
#pragma once
#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/convergence.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/base/error.hpp"
#include "kernels/rank_rule.hpp"

namespace tessera {

/// The host takes sums while a run goes on, which ends where the host would stop, so far as a device knows:
/// where the host stops sooner, or goes on by itself, the run is made again up to there.
template <class S>
class RankRuns {
 public:
  /// `run`: what all runs have alike; most_steps is of each. num_steps: of all, at most. References must
  /// outlive it.
  RankRuns(SpmvOperator<S>& op, const RankRun& run, int num_steps, const ExactScale& bound, bool squares,
           const Buffer<S>& scale, const Buffer<S>& jump, Buffer<S> score)
      : op_(op),
        run_(run),
        most_at_once_(run.most_steps),
        num_left_(num_steps),
        bound_(bound),
        squares_(squares),
        scale_(scale),
        jump_(jump),
        before_(op.backend().template allocate<S>(score.size())),
        score_(std::move(score)) {}

  /// Sums of the next step, which does this.
  VectorSums next(const RankUpdate& update) {
    std::optional<VectorSums> sums = sums_.next();
    if (!sums) {
      go(update, std::clamp(num_left_, 1, static_cast<int>(most_at_once_)), run_.tolerance);
      sums = sums_.next();
    }
    return taken(sums);
  }
  /// The same, by itself: before() is where it began then.
  VectorSums only(const RankUpdate& update) {
    score();
    go(update, 1, run_.tolerance);
    return taken(sums_.next());
  }
  /// After the last of these steps.
  Buffer<S>& score() {
    if (sums_.next()) {  // the run went further
      std::swap(before_, score_);
      go(run_.first, num_taken_, kNever);
      sums_ = {};
    }
    return score_;
  }
  Buffer<S>& before() { return before_; }

 private:
  static constexpr double kNever = -1;

  VectorSums taken(const std::optional<VectorSums>& sums) {
    require(sums.has_value(), "a run makes a step");
    ++num_taken_;
    --num_left_;
    return *sums;
  }
  /// From the scores as they are.
  void go(const RankUpdate& first, int most_steps, double tolerance) {
    std::swap(before_, score_);
    RankRun run = run_;
    run.first = run_.first = first;
    run.most_steps = static_cast<unsigned>(most_steps);
    run.tolerance = tolerance;
    sums_ = op_.run_rank_steps(run, before_, jump_, scale_, bound_, squares_, score_);
    num_taken_ = 0;
  }

  SpmvOperator<S>& op_;
  RankRun run_;
  const unsigned most_at_once_;
  int num_left_;
  int num_taken_ = 0;  // of the last run
  const ExactScale& bound_;
  const bool squares_;
  const Buffer<S>&scale_, &jump_;
  Buffer<S> before_, score_;  // where the last run began, and ends
  PendingSteps sums_;         // of its steps that have not been taken
};

}  // namespace tessera
