#include "algorithms/pagerank.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/rank_steps.hpp"
#include "algorithms/step_acceleration.hpp"
#include "algorithms/vertex_values.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Scores lie in [0, 1] (drop, rescale and rounding included), changes and their squares below 4. Those of
/// accelerated steps are within its headroom.
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

/// last_went_further: then scores are those that the last step began with, whose bound is that of what the
/// step itself would have ended at, without the first factor.
double error_bound_of(const PageRankOptions& options, double last_change, bool last_went_further,
                      int product_roundings, Precision precision) {
  if (options.dangling == Dangling::rescale) return std::numeric_limits<double>::quiet_NaN();
  return bound_of_error(options.damping, last_went_further ? last_change / options.damping : last_change,
                        update_roundings(precision, !options.personalization.empty()), product_roundings,
                        precision);
}

/// Of this rank's rows without any link, those that UnconnectedRows stands for.
template <class S>
std::uint64_t num_alike_rows(const SpmvOperator<S>& op, const PageRankOptions& options) {
  const bool are_alike = options.start.empty() && options.personalization.empty();
  return are_alike ? op.num_local_rows() - op.num_connected_rows() : 0;
}

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

/// Where steps ended.
struct LastStep {
  double sum = 0;             ///< of the scores that are the result
  double weight = 1;          ///< of the step
  bool went_further = false;  ///< this or one before
};

/// Steps from scores of these masses until they end.
template <class S>
LastStep iterate(RankSteps<S>& steps, UnconnectedRows<S>& unconnected, const RankRule& rule,
                 ScoreMasses masses, const PageRankOptions& options, Communicator& comm,
                 IterationReport& report) {
  // Rescaled steps are no contraction by the damping.
  const double contraction = options.dangling == Dangling::rescale ? 0 : options.damping;
  StopTest stop(options.stop, precision_of<S>(), contraction);
  StepAcceleration acceleration(contraction, unit_roundoff(precision_of<S>()));
  const bool may_accelerate = accelerates(options);
  bool went_further = false;
  double next_weight = 1, sum = 0;
  for (;;) {
    const RankStepRequest request{rule.update_after(masses), next_weight, acceleration.is_on()};
    // Before the sums of this step are looked at: then a device starts the next product.
    next_weight = acceleration.weight();
    went_further = went_further || request.weight != 1;
    VectorSums sums = steps.start(request).take().front();
    unconnected.step(request, options.stop.norm == Norm::l2, sums);
    reduce_over_ranks({&sums, 1}, comm);
    masses = masses_of(sums.total, sums.dangling, kScoreScale);
    const double sum_before = std::exchange(sum, kScoreScale.value(sums.total));
    const StepChange change = change_of(options.stop.norm, sums, kScoreScale);
    bool done = stop.done(change, report, {.is_accelerated = acceleration.is_on()});
    if (may_accelerate) acceleration.take(change.l1);
    if (!all_go_on(options.observer, {report.iterations, report.residual}, comm)) {
      report.interrupted = !done;
      done = true;
    }
    if (done) return {request.weight == 1 ? sum : sum_before, request.weight, went_further};
    steps.go_on();
  }
}

/// The best of these and of rows that share the score `rest`, where none of the latter is among them: as no
/// score is smaller, that is where the last is larger. Collective.
template <class S>
std::optional<BestScores> best_before_the_rest(const SpmvOperator<S>& op, const Buffer<S>& scores,
                                               const UnconnectedRows<S>& unconnected, S rest,
                                               std::uint64_t count) {
  const double shared = all_max(op.comm(), unconnected.count() > 0 ? static_cast<double>(rest) : -1.0);
  BestScores best = op.best(scores, count);
  if (best.scores.empty() || best.scores.back() > shared) return best;
  return std::nullopt;
}

/// Of the scores that steps have ended with; completes the sum. Collective.
template <class S>
void take_scores(const SpmvOperator<S>& op, const Buffer<S>& scores, const UnconnectedRows<S>& unconnected,
                 const LastStep& last, std::optional<std::uint64_t> top, PageRankResult& result) {
  const S rest = unconnected.score_after(last.weight);
  if (top && !last.went_further) {  // else some may have to be raised
    if (auto best = best_before_the_rest(op, scores, unconnected, rest, *top)) {
      result.best = *std::move(best);
      result.sum = last.sum;
      return;
    }
  }
  result.scores = op.to_original(scores, 1, 0, rest);
  result.sum = last.sum + (last.went_further ? raise_negatives(result.scores) : 0);
  if (top) result.best = best_of(std::exchange(result.scores, {}), std::min(*top, op.num_rows()));
}

}  // namespace

bool accelerates(const PageRankOptions& options) {
  // In L1 scores are at most residual / (1 - damping) from the end, whose size is at most 1.
  const double most_score = 1 + StepAcceleration::kMostChange / (1 - options.damping);
  return options.accelerate && options.stop.fixed_iterations == 0 && options.dangling != Dangling::rescale &&
         most_score <= ExactScale::kHeadroom * kScoreScale.bound();
}

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
  UnconnectedRows<S> unconnected(num_alike_rows(op, options), static_cast<S>(1.0 / static_cast<double>(n)),
                                 kScoreScale);
  Start<S> start = start_of(op, out_weights, jump_to, options, op.num_local_rows() - unconnected.count());
  const RankRule rule{.damping = options.damping,
                      .dangling = options.dangling,
                      .jumps_anywhere = options.personalization.empty(),
                      .num_vertices = n,
                      .num_unconnected = unconnected.count()};
  RankSteps<S> steps(op, rule, kScoreScale, {options.stop, accelerates(options)}, scale, jump,
                     std::move(start.score));
  const LastStep last = iterate(steps, unconnected, rule, start.masses, options, op.comm(), result.report);
  take_scores(op, steps.finish(), unconnected, last, options.top, result);
  result.error_bound = error_bound_of(options, result.report.residual_l1, last.weight != 1,
                                      op.product_roundings(), precision_of<S>());
  return result;
}

template PageRankResult pagerank(SpmvOperator<float>&, std::span<const double>, const PageRankOptions&);
template PageRankResult pagerank(SpmvOperator<double>&, std::span<const double>, const PageRankOptions&);

}  // namespace tessera
