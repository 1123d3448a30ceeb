// Steps of HITS that a device goes through without the host (Backend::run_pair_steps), as the host looks at
// them: one by one.
#pragma once
#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/hits_norm.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/pair_run.hpp"

namespace tessera {

/// One side's rows between two half-steps.
template <class S>
struct PairState {
  const ColumnSums<S>& columns;
  Buffer<S>& score;
};

/// Norms of the next product of the first side, and of the last one of the second side.
struct PairNorms {
  double first = 0, second = 0;
};

/// The host takes sums while a run goes on, which ends where the host would stop, so far as a device knows,
/// or where a norm is too small to be known; where the host stops sooner it is made again up to there.
template <class S>
class PairRuns {
 public:
  using Sums = std::pair<VectorSums, VectorSums>;

  /// least: norms that are known well enough (PairRun). stop: of all steps, the host's too. Operators and
  /// states must outlive it.
  PairRuns(SpmvOperator<S>& first, SpmvOperator<S>& second, const PairState<S>& of_first,
           const PairState<S>& of_second, const PairNorms& least, const StopRule& stop)
      : ops_{&first, &second}, states_{of_first, of_second}, num_left_(stop.most_steps()) {
    run_.norms[0] = {of_first.columns.unit, least.first};
    run_.norms[1] = {of_second.columns.unit, least.second};
    run_.norm = stop.norm;
    if (stop.fixed_iterations == 0) run_.tolerance = stop.tolerance;
  }

  /// Sums of the next step's halves, from these norms; none where the host has to make it: then the scores
  /// are those of the last step.
  std::optional<Sums> next(const PairNorms& norms) {
    std::optional<Sums> sums = take();
    if (!sums) {
      settle();
      start(norms);
      sums = take();
    }
    if (sums)
      --num_left_;
    else
      settle();
    return sums;
  }
  /// The host makes a step by itself.
  void pass() { --num_left_; }
  /// Scores become those of the last step.
  void settle() {
    if (!ends_in_a_half_ && !sums_.next()) return;
    swap_scores();
    if (num_taken_ > 0) go(num_taken_, kNever);
    end();
  }

 private:
  static constexpr double kNever = -1;

  /// Of a step's halves, where the run has both.
  std::optional<Sums> take() {
    const std::optional<VectorSums> first = sums_.next();
    if (!first) return std::nullopt;
    const std::optional<VectorSums> second = sums_.next();
    ends_in_a_half_ = !second;
    if (!second) return std::nullopt;
    ++num_taken_;
    return Sums{*first, *second};
  }
  void end() {
    sums_ = {};
    ends_in_a_half_ = false;
  }
  void start(const PairNorms& norms) {
    num_taken_ = 0;
    end();
    if (norms.first < run_.norms[0].least || norms.second < run_.norms[1].least) return;
    run_.first_norm = norms.first;
    go(std::clamp<int>(num_left_, 1, PairRun::kMostSteps / 2), run_.tolerance);
  }
  void swap_scores() {
    for (int side = 0; side < 2; ++side) std::swap(before_[side], states_[side].score);
  }
  /// From the scores as they are.
  void go(int num_steps, double tolerance) {
    for (int side = 0; side < 2; ++side)
      if (const std::size_t size = states_[side].score.size(); before_[side].size() != size)
        before_[side] = ops_[side]->backend().template allocate<S>(size);
    swap_scores();
    PairRun run = run_;
    run.most_steps = 2 * static_cast<unsigned>(num_steps);
    run.tolerance = tolerance;
    const auto side = [&](int which) {
      return ops_[which]->side_of_pair(*ops_[1 - which], states_[which].columns.sums, before_[which],
                                       states_[which].score);
    };
    sums_ = ops_[0]->backend().run_pair_steps(run, {side(0), side(1)}, hits_scale(), run.norm == Norm::l2);
  }

  SpmvOperator<S>* ops_[2];
  PairState<S> states_[2];
  PairRun run_;
  int num_left_;
  Buffer<S> before_[2];          // where the last run began
  PendingSteps sums_;            // of its half-steps that have not been taken
  bool ends_in_a_half_ = false;  // of a step, whose sums have been taken
  int num_taken_ = 0;            // steps of it
};

}  // namespace tessera
