#include "algorithms/pagerank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/vertex_values.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Scores lie in [0, 1] (drop, rescale and rounding included), changes and their squares below 4.
const ExactScale kScoreScale(4.0);

void check(const PageRankOptions& options) {
  if (!(options.damping >= 0 && options.damping < 1))
    throw OptionError("the damping must be at least 0 and below 1, found " + std::to_string(options.damping));
}

/// Of a start that is the same everywhere, as precision S stores it; every rank has all out-weights.
template <class S>
ScoreMasses masses_of_even_start(S score, std::span<const double> out_weights) {
  std::uint64_t num_dangling = 0;
  const auto n = static_cast<std::int64_t>(out_weights.size());
#pragma omp parallel for reduction(+ : num_dangling)
  for (std::int64_t v = 0; v < n; ++v) num_dangling += out_weights[v] == 0;
  ExactSum total;
  kScoreScale.add(static_cast<double>(score), total);
  ExactSum dangling = total;
  return masses_of(total *= out_weights.size(), dangling *= num_dangling, kScoreScale);
}

/// The same of any start.
template <class S>
ScoreMasses masses_of_start(std::span<const double> start, std::span<const double> out_weights) {
  ExactSum total, dangling;
  const auto n = static_cast<std::int64_t>(start.size());
#pragma omp parallel
  {
    ExactSum own_total, own_dangling;
#pragma omp for nowait
    for (std::int64_t v = 0; v < n; ++v) {
      const auto stored = static_cast<double>(static_cast<S>(start[v]));
      kScoreScale.add(stored, own_total);
      if (out_weights[v] == 0) kScoreScale.add(stored, own_dangling);
    }
#pragma omp critical
    {
      total += own_total;
      dangling += own_dangling;
    }
  }
  return masses_of(total, dangling, kScoreScale);
}

/// Roundings of a score in its update: of f32 scores when they are stored. In f64 the steps to there round,
/// too, seven on the way of a jump: the sum and the quotient that made its vector, 1 - damping and its sum
/// with the dangling mass, their product, two sums. Links have three of them, and two in sums of out-weights.
/// In f32 a jump vector is stored so, too.
constexpr int update_roundings(Precision precision, bool has_jump_vector) {
  if (precision == Precision::f64) return 7;
  return has_jump_vector ? 2 : 1;
}

double error_bound_of(const PageRankOptions& options, double last_change, int product_roundings,
                      Precision precision) {
  if (options.dangling == Dangling::rescale) return std::numeric_limits<double>::quiet_NaN();
  return bound_of_error(options.damping, last_change,
                        update_roundings(precision, !options.personalization.empty()), product_roundings,
                        precision);
}

/// This rank's rows without any link. Where the surfer starts and jumps anywhere alike they share one score,
/// which is kept once; else there are none here, and they go through the steps as all others.
template <class S>
class UnconnectedRows {
 public:
  UnconnectedRows(const SpmvOperator<S>& op, const PageRankOptions& options)
      : count_(options.start.empty() && options.personalization.empty()
                   ? op.num_local_rows() - op.num_connected_rows()
                   : 0),
        score_(static_cast<S>(1.0 / static_cast<double>(op.num_rows()))) {}

  std::uint64_t count() const { return count_; }
  S score() const { return score_; }

  /// What the device does for its rows: steps, and adds to the step's sums.
  void step(const RankUpdate& update, bool squares, VectorSums& sums) {
    if (count_ == 0) return;
    const S stored = static_cast<S>(update.constant);
    const double change = std::abs(static_cast<double>(stored) - static_cast<double>(score_));
    add(change, sums.change_l1);
    if (squares) add(change * change, sums.change_squares);
    sums.change_max = std::max(sums.change_max, change);
    add(static_cast<double>(stored), sums.total);
    add(static_cast<double>(stored), sums.dangling);
    score_ = stored;
  }

 private:
  template <int kFolds>
  void add(double term, FoldedSum<kFolds>& sum) const {
    FoldedSum<kFolds> terms;
    kScoreScale.add(term, terms);
    sum += terms *= count_;
  }
  std::uint64_t count_;
  S score_;
};

template <class S>
struct Start {
  Buffer<S> score;  ///< of this rank's rows that go through the steps
  ScoreMasses masses;
};

/// jump_to: where the surfer jumps to, a sum of 1; empty: anywhere alike.
template <class S>
Start<S> start_of(const SpmvOperator<S>& op, std::span<const double> out_weights,
                  std::span<const double> jump_to, const PageRankOptions& options,
                  std::uint64_t num_stepped_rows) {
  const std::uint64_t n = op.num_rows();
  if (!options.start.empty()) {
    const std::vector<double> start = normalized(options.start, n, "start");
    return {op.to_local(start), masses_of_start<S>(start, out_weights)};
  }
  if (!jump_to.empty()) return {op.to_local(jump_to), masses_of_start<S>(jump_to, out_weights)};
  const S score = static_cast<S>(1.0 / static_cast<double>(n));
  return {op.local_constant(score, num_stepped_rows), masses_of_even_start(score, out_weights)};
}

/// Products and updates in turn, joined where the device can.
template <class S>
class RankSteps {
 public:
  RankSteps(SpmvOperator<S>& op, const PageRankOptions& options, const RankRule& rule, const Buffer<S>& scale,
            const Buffer<S>& jump, Buffer<S> score)
      : op_(op),
        ahead_(op.works_ahead()),
        squares_(options.stop.norm == Norm::l2),
        scale_(scale),
        jump_(jump),
        score_(std::move(score)),
        x_(op.make_x()) {
    joined_ = jump.empty() && op.prepare_to_end_with_updates();
    if (!joined_ && op.chains_updates())
      chain_ = {rule, op.backend().template allocate<RankUpdate>(1),
                op.backend().template allocate<S>(score_.size())};
    in_one_go_ = chained() && op.steps_ranks();
    if (in_one_go_)
      next_x_ = op.make_x();
    else if (!joined_)
      y_ = op.make_y();
    op.replicate(score_, &scale, x_);
    multiply();
  }

  /// Starts the next step and gives its sums. A device goes on at once: with the next product, which needs
  /// nothing that the host decides, or, in a chain, with the whole next step, whose update it has worked out
  /// itself (`update` is for the first step then). What was started last is in vain.
  PendingSums start(const RankUpdate& update) {
    if (!chained()) {
      PendingSums sums = step(update);
      if (ahead_) start_product();
      return sums;
    }
    if (!after_) {
      op_.backend().upload(&update, chain_.next.data(), sizeof update);
      after_ = step_of_chain();
    }
    PendingSums sums = *std::move(after_);
    after_ = step_of_chain();
    return sums;
  }
  /// Once the sums are there, and another step will follow.
  void go_on() {
    if (!ahead_) start_product();
  }
  /// The scores of the step that start() gave last. No exchange is under way then; what a chain does in vain
  /// only reads them.
  const Buffer<S>& finish() {
    op_.wait_for_inputs();
    return chained() ? chain_.before : score_;
  }

 private:
  bool chained() const { return !chain_.next.empty(); }
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
  PendingSums step(const RankUpdate& update) {
    op_.wait_for_inputs();
    if (joined_)
      return op_.end_with_update({.link = update.link, .constant = update.constant}, scale_, kScoreScale,
                                 squares_, score_, op_.input_target(x_));
    if (in_one_go_) {
      x_.swap(next_x_);
      return op_.step_ranks(update, next_x_, jump_, scale_, kScoreScale, squares_, score_, x_, &chain_);
    }
    return op_.backend().rank_update(update, y_, op_.row_places(), jump_, scale_, kScoreScale, squares_,
                                     score_, op_.input_target(x_), chained() ? &chain_ : nullptr);
  }
  PendingSums step_of_chain() {
    PendingSums sums = step({});
    start_product();
    return sums;
  }

  SpmvOperator<S>& op_;
  const bool ahead_, squares_;
  const Buffer<S>&scale_, &jump_;
  Buffer<S> score_;
  Buffer<S> x_, next_x_;
  Buffer<double> y_;
  bool joined_ = false;               // products end in updates
  bool in_one_go_ = false;            // steps of a chain
  RankChain<S> chain_;                // empty: the host says what each step does
  std::optional<PendingSums> after_;  // of a chain: those of the step that was started last
};

/// Steps from scores of these masses until they end; the sum of the last.
template <class S>
double iterate(RankSteps<S>& steps, UnconnectedRows<S>& unconnected, const RankRule& rule, ScoreMasses masses,
               const PageRankOptions& options, Communicator& comm, IterationReport& report) {
  // Rescaled steps are no contraction by the damping.
  const double contraction = options.dangling == Dangling::rescale ? 0 : options.damping;
  StopTest stop(options.stop, precision_of<S>(), contraction);
  double sum = 0;
  for (bool done = false; !done;) {
    const RankUpdate update = rule.update_after(masses);
    VectorSums sums = steps.start(update).take().front();
    unconnected.step(update, options.stop.norm == Norm::l2, sums);
    reduce_over_ranks({&sums, 1}, comm);
    masses = masses_of(sums.total, sums.dangling, kScoreScale);
    sum = kScoreScale.value(sums.total);
    done = stop.done(change_of(options.stop.norm, sums, kScoreScale), report);
    if (!all_go_on(options.observer, {report.iterations, report.residual, 1}, comm)) {
      report.interrupted = !done;
      done = true;
    }
    if (!done) steps.go_on();
  }
  return sum;
}

}  // namespace

template <class S>
PageRankResult pagerank(SpmvOperator<S>& op, std::span<const double> out_weights,
                        const PageRankOptions& options) {
  check(options);
  const std::uint64_t n = op.num_rows();
  PageRankResult result;
  check(options.stop);
  if (n == 0) return result;
  const Buffer<S> scale = local_reciprocals(op, out_weights);
  std::vector<double> jump_to;
  if (!options.personalization.empty()) jump_to = normalized(options.personalization, n, "personalization");
  const Buffer<S> jump = jump_to.empty() ? Buffer<S>() : op.to_local(jump_to);
  UnconnectedRows<S> unconnected(op, options);
  Start<S> start = start_of(op, out_weights, jump_to, options, op.num_local_rows() - unconnected.count());
  const RankRule rule{.damping = options.damping,
                      .dangling = options.dangling,
                      .jumps_anywhere = options.personalization.empty(),
                      .num_vertices = n,
                      .num_unconnected = unconnected.count()};
  RankSteps<S> steps(op, options, rule, scale, jump, std::move(start.score));
  result.sum = iterate(steps, unconnected, rule, start.masses, options, op.comm(), result.report);
  result.scores = op.to_original(steps.finish(), 1, 0, unconnected.score());
  result.error_bound =
      error_bound_of(options, result.report.residual_l1, op.product_roundings(), precision_of<S>());
  return result;
}

template PageRankResult pagerank(SpmvOperator<float>&, std::span<const double>, const PageRankOptions&);
template PageRankResult pagerank(SpmvOperator<double>&, std::span<const double>, const PageRankOptions&);

}  // namespace tessera
