// Steps of PageRank on all kinds of devices: what algorithms/pagerank.cpp goes through until scores have
// settled. The bits do not depend on the kind.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

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

/// Products and updates in turn, joined where the device can.
template <class S>
class RankSteps {
 public:
  /// bound: of scores, changes and, where their squares are added up, those. All references must outlive it.
  RankSteps(SpmvOperator<S>& op, const RankRule& rule, const ExactScale& bound, bool squares,
            const Buffer<S>& scale, const Buffer<S>& jump, Buffer<S> score)
      : op_(op),
        ahead_(op.works_ahead()),
        squares_(squares),
        bound_(bound),
        scale_(scale),
        jump_(jump),
        score_(std::move(score)),
        x_(op.make_x()) {
    joined_ = jump.empty() && op.prepare_to_end_with_updates();
    chained_ = !joined_ && op.chains_updates();
    if (chained_)
      chain_ = {rule, op.backend().template allocate<RankUpdate>(1),
                op.backend().template allocate<S>(score_.size())};
    in_one_go_ = chained_ && op.steps_ranks();
    if (in_one_go_)
      next_x_ = op.make_x();
    else if (!joined_)
      y_ = op.make_y();
    op.replicate(score_, &scale, x_);
    multiply();
  }

  /// Starts the next step and gives its sums. A device goes on at once: with the next product, which needs
  /// nothing that the host decides, or, in a chain, with the whole next step, whose update it has worked out
  /// itself (the request's is for the first step then). What was started last is in vain.
  PendingSums start(const RankStepRequest& request) {
    if (!chained_) {
      PendingSums sums = step(request);
      keep_origin(request.may_go_further_next);
      if (ahead_) start_product();
      return sums;
    }
    if (!after_) {
      op_.backend().upload(&request.update, chain_.next.data(), sizeof request.update);
      after_ = step_of_chain();
    }
    PendingSums sums = *std::exchange(after_, std::nullopt);
    if (request.may_go_further_next)
      leave_chain();
    else
      after_ = step_of_chain();
    return sums;
  }
  /// Once the sums are there, and another step will follow.
  void go_on() {
    if (!ahead_) start_product();
  }
  /// The scores of the step that start() gave last; those that it began with, if it went further than a step:
  /// how far off it ended is not known. No exchange is under way then; what a chain does in vain only reads
  /// them.
  const Buffer<S>& finish() {
    op_.wait_for_inputs();
    if (weight_ != 1) return origin_;
    return chained_ ? chain_.before : score_;
  }

 private:
  void multiply() {
    if (joined_)
      op_.begin_for_update(x_);
    else if (!in_one_go_)
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
    if (in_one_go_) {
      x_.swap(next_x_);
      return op_.step_ranks(request.update, next_x_, jump_, scale_, bound_, squares_, score_, x_, &chain_);
    }
    RankOrigin<S> origin{origin_, weight_};
    return op_.backend().rank_update(request.update, y_, op_.row_places(), jump_, scale_, bound_, squares_,
                                     score_, op_.input_target(x_), chained_ ? &chain_ : nullptr,
                                     keeps_origin_ ? &origin : nullptr);
  }
  PendingSums step_of_chain() {
    PendingSums sums = step({});
    start_product();
    return sums;
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
  /// The host says what steps do, and none has been started ahead.
  void leave_chain() {
    chained_ = false;
    origin_.swap(chain_.before);
    keep_origin(true);
    if (!std::exchange(in_one_go_, false)) return;
    next_x_ = {};
    y_ = op_.make_y();
    multiply();
  }

  SpmvOperator<S>& op_;
  const bool ahead_, squares_;
  const ExactScale& bound_;
  const Buffer<S>&scale_, &jump_;
  Buffer<S> score_;
  Buffer<S> x_, next_x_;
  Buffer<double> y_;
  bool joined_ = false;     // products end in updates
  bool chained_ = false;    // a device works out what the next step does
  bool in_one_go_ = false;  // steps of a chain
  RankChain<S> chain_;
  std::optional<PendingSums> after_;  // of a chain: those of the step that was started last
  bool keeps_origin_ = false;
  Buffer<S> origin_;   // where the last step began
  double weight_ = 1;  // of the last step
};

}  // namespace tessera
