// Steps of PageRank on all kinds of devices: what algorithms/pagerank.cpp goes through until scores have
// settled. The bits do not depend on the kind.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "algorithms/convergence.hpp"
#include "algorithms/rank_runs.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/extrapolation.hpp"
#include "kernels/rank_rule.hpp"

namespace tessera {

/// One step: what it does, how far scores go (StepAcceleration; 1: as far as the step), and whether the next
/// one may go further, for which it must be known where this one began.
struct RankStepRequest {
  RankUpdate update;
  double weight = 1;
  bool may_go_further_next = false;
};

/// This rank's rows without any link that are alike: where the surfer starts and jumps anywhere alike they
/// share one score, which is kept once; else `count` is 0, and they go through the steps as all others.
template <class S>
class UnconnectedRows {
 public:
  UnconnectedRows(std::uint64_t count, S score, const ExactScale& scale)
      : count_(count), score_(score), before_(score), scale_(scale) {}

  std::uint64_t count() const { return count_; }
  /// After the last step, of that weight: see RankSteps::finish().
  S score_after(double weight) const { return weight == 1 ? score_ : before_; }

  /// What the device does for its rows: steps, and adds to the step's sums.
  void step(const RankStepRequest& request, bool squares, VectorSums& sums) {
    if (count_ == 0) return;
    const S step = static_cast<S>(request.update.constant);
    const double change = std::abs(static_cast<double>(step) - static_cast<double>(score_));
    add(change, sums.change_l1);
    if (squares) add(change * change, sums.change_squares);
    sums.change_max = std::max(sums.change_max, change);
    const S origin = std::exchange(before_, score_);
    score_ = extrapolated(request.weight, step, origin);
    add(static_cast<double>(score_), sums.total);
    add(static_cast<double>(score_), sums.dangling);
  }

 private:
  template <int kFolds>
  void add(double term, FoldedSum<kFolds>& sum) const {
    FoldedSum<kFolds> terms;
    scale_.add(term, terms);
    sum += terms *= count_;
  }
  std::uint64_t count_;
  S score_, before_;
  const ExactScale& scale_;
};

/// How many steps there may be, and which is the last.
struct RankStepLimits {
  StopRule stop;
  bool may_go_further = false;  ///< some time a request says so
};

/// Products and updates in turn, joined where the device can.
template <class S>
class RankSteps {
 public:
  /// bound: of scores, changes and, where their squares are added up (in L2), those. All references must
  /// outlive it.
  RankSteps(SpmvOperator<S>& op, const RankRule& rule, const ExactScale& bound, const RankStepLimits& limits,
            const Buffer<S>& scale, const Buffer<S>& jump, Buffer<S> score)
      : op_(op),
        ahead_(op.works_ahead()),
        squares_(limits.stop.norm == Norm::l2),
        bound_(bound),
        scale_(scale),
        jump_(jump) {
    joined_ = jump.empty() && op.prepare_to_end_with_updates();
    if (!joined_ && op.prepare_to_run_steps()) {
      runs_.emplace(op, run_of(rule, limits), limits.stop.most_steps(), bound, squares_, scale, jump,
                    std::move(score));
      return;
    }
    score_ = std::move(score);
    x_ = op.make_x();
    if (!joined_) y_ = op.make_y();
    op.replicate(score_, &scale, x_);
    multiply();
  }

  /// Starts the next step and gives its sums. A device goes on at once: with the next product, which needs
  /// nothing that the host decides and may be in vain, or, in a run, with as many steps as it knows of.
  PendingSums start(const RankStepRequest& request) {
    if (runs_)
      return PendingSums({request.may_go_further_next ? leave_runs(request) : runs_->next(request.update)});
    PendingSums sums = step(request);
    keep_origin(request.may_go_further_next);
    if (ahead_) start_product();
    return sums;
  }
  /// Once the sums are there, and another step will follow.
  void go_on() {
    if (!ahead_) start_product();
  }
  /// The scores of the step that start() gave last; those that it began with, if it went further than a step:
  /// how far off it ended is not known. No exchange is under way then.
  const Buffer<S>& finish() {
    if (runs_) return runs_->score();
    op_.wait_for_inputs();
    return weight_ != 1 ? origin_ : score_;
  }

 private:
  /// Steps of a run while steps may go further next, which would make it in vain.
  static constexpr unsigned kFewSteps = 8;

  static RankRun run_of(const RankRule& rule, const RankStepLimits& limits) {
    RankRun run{.rule = rule, .first = {}};
    run.most_steps = limits.may_go_further ? kFewSteps : RankRun::kMostSteps;
    run.norm = limits.stop.norm;
    if (limits.stop.fixed_iterations == 0) run.tolerance = limits.stop.tolerance;
    return run;
  }
  void multiply() {
    if (joined_)
      op_.begin_for_update(x_);
    else
      op_.start(x_, y_);
  }
  /// Once the inputs of this rank are where they are sent from, as step() leaves them.
  void start_product() {
    op_.send(x_);
    multiply();
  }
  /// The step of the scores, by the product that was started last; leaves the inputs of the next.
  PendingSums step(const RankStepRequest& request) {
    op_.wait_for_inputs();
    weight_ = request.weight;
    if (joined_)
      return op_.end_with_update({.link = request.update.link, .constant = request.update.constant}, scale_,
                                 bound_, squares_, score_, op_.input_target(x_));
    RankOrigin<S> origin{origin_, weight_};
    return op_.backend().rank_update(request.update, y_, op_.row_places(), jump_, scale_, bound_, squares_,
                                     score_, op_.input_target(x_), keeps_origin_ ? &origin : nullptr);
  }
  /// From the next step on, if so. No product has been started: products that end in updates have no origin.
  void keep_origin(bool keeps) {
    keeps_origin_ = keeps;
    if (!keeps) return;
    if (origin_.size() != score_.size()) {
      origin_ = op_.backend().template allocate<S>(score_.size());
      op_.backend().clear(origin_);  // the first step reads it, for nothing
    }
    if (std::exchange(joined_, false)) y_ = op_.make_y();
  }
  /// This step is the last of runs: from the next one on the host says what steps do.
  VectorSums leave_runs(const RankStepRequest& request) {
    require(request.weight == 1, "the first of steps that may go further is plain");
    const VectorSums sums = runs_->only(request.update);
    score_ = std::move(runs_->score());
    origin_ = std::move(runs_->before());
    runs_.reset();
    x_ = op_.make_x();
    keep_origin(true);
    y_ = op_.make_y();
    op_.replicate(score_, &scale_, x_);
    multiply();
    return sums;
  }

  SpmvOperator<S>& op_;
  const bool ahead_, squares_;
  const ExactScale& bound_;
  const Buffer<S>&scale_, &jump_;
  std::optional<RankRuns<S>> runs_;  // then what follows is not used
  Buffer<S> score_;
  Buffer<S> x_;
  Buffer<double> y_;
  bool joined_ = false;  // products end in updates
  bool keeps_origin_ = false;
  Buffer<S> origin_;   // where the last step began
  double weight_ = 1;  // of the last step
};

}  // namespace tessera
