// Steps of PageRank that a device goes through without the host (Backend::run_rank_steps), as the host looks
// at them: one by one.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/convergence.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/rank_rule.hpp"

namespace tessera {

/// A run ends where the host would stop, so far as a device knows: where the host stops sooner, or goes on by
/// itself, the run is made again up to there. The first run is one step: a kernel's first launch may take as
/// long as thousands of them, which who takes times should not share out among steps.
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
    if (num_taken_ == sums_.size())
      go(update, std::clamp(num_left_, 1, sums_.empty() ? 1 : static_cast<int>(most_at_once_)),
         run_.tolerance);
    --num_left_;
    return sums_[num_taken_++];
  }
  /// The same, by itself: before() is where it began then.
  VectorSums only(const RankUpdate& update) {
    score();
    go(update, 1, run_.tolerance);
    --num_left_;
    return sums_[num_taken_++];
  }
  /// Steps of the run that the last of these is of.
  int steps_together() const { return static_cast<int>(sums_.size()); }
  /// After the last of these steps.
  Buffer<S>& score() {
    if (num_taken_ < sums_.size()) {
      std::swap(before_, score_);
      go(run_.first, static_cast<int>(num_taken_), kNever);
      num_taken_ = sums_.size();
    }
    return score_;
  }
  Buffer<S>& before() { return before_; }

 private:
  static constexpr double kNever = -1;

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
  const ExactScale& bound_;
  const bool squares_;
  const Buffer<S>&scale_, &jump_;
  Buffer<S> before_, score_;      // where the last run began and ended
  std::vector<VectorSums> sums_;  // of the last run
  std::size_t num_taken_ = 0;     // of these
};

}  // namespace tessera
