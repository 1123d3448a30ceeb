#include "algorithms/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "algorithms/step_acceleration.hpp"
#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

/// Rounding alone changes an iterate by a few units of its size a step, and steps that contract by c sum that
/// up to as much over 1 - c. Only below this many units over 1 - c can a change that does not shrink be
/// rounding; above, it is slow convergence.
constexpr double kRoundingUnits = 32;
/// Steps without a new smallest change that prove stagnation. A change of more units must last for as many
/// steps: the larger it is, the more a contraction shrinks it beside what rounding hides.
constexpr int kStagnationSteps = 32;
/// Swings of accelerated steps without a smaller one that prove it. A slow eigenvector's residual that is met
/// where it goes through 0 is as large again after one swing, and smaller after three.
constexpr int kStagnationSwings = 4;

/// The next number with one digit: 3.1e-8 gives 4e-8.
double round_up_to_one_digit(double value) {
  if (value <= 0) return 0;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  return std::ceil(value / power) * power;
}

template <int kFolds>
void append(const FoldedSum<kFolds>& sum, std::vector<std::int64_t>& limbs) {
  limbs.insert(limbs.end(), std::begin(sum.limbs), std::end(sum.limbs));
}

template <int kFolds>
const std::int64_t* take(const std::int64_t* limbs, FoldedSum<kFolds>& sum) {
  std::copy(limbs, limbs + kFolds, sum.limbs);
  return limbs + kFolds;
}

}  // namespace

StepChange change_of(Norm norm, const VectorSums& global, const ExactScale& bound) {
  StepChange change;
  change.l1 = bound.value(global.change_l1);
  change.magnitude = bound.value(global.total);
  change.residual = change_in(norm, global.change_l1, global.change_squares, global.change_max, bound);
  return change;
}

void reduce_over_ranks(std::span<VectorSums> sums, Communicator& comm) {
  if (comm.size() == 1) return;
  std::vector<std::int64_t> limbs;
  std::vector<double> largest;
  for (const VectorSums& sum : sums) {
    append(sum.change_l1, limbs);
    append(sum.change_squares, limbs);
    append(sum.total, limbs);
    append(sum.dangling, limbs);
    largest.push_back(sum.change_max);
  }
  comm.all_sum(std::span(limbs));
  comm.all_max(std::span(largest));
  const std::int64_t* next = limbs.data();
  for (std::size_t q = 0; q < sums.size(); ++q) {
    next = take(next, sums[q].change_l1);
    next = take(next, sums[q].change_squares);
    next = take(next, sums[q].total);
    next = take(next, sums[q].dangling);
    sums[q].change_max = largest[q];
  }
}

bool all_go_on(const IterationObserver& observer, const IterationProgress& progress, Communicator& comm) {
  constexpr std::uint64_t kGoOn = 0, kStop = 1, kFailed = 2;
  std::uint64_t answer = kGoOn;
  std::exception_ptr failure;
  try {
    if (observer && !observer(progress)) answer = kStop;
  } catch (...) {
    failure = std::current_exception();
    answer = kFailed;
  }
  if (failure && comm.size() == 1) std::rethrow_exception(failure);
  answer = all_max(comm, answer);
  if (answer == kFailed)
    run_together(comm, [&] {
      if (failure) std::rethrow_exception(failure);
    });
  return answer == kGoOn;
}

void check(const StopRule& rule) {
  if (!(rule.tolerance >= 0)) throw OptionError("the tolerance must be 0 or more");
  if (rule.fixed_iterations < 0) throw OptionError("the number of iterations must be 1 or more");
  if (rule.max_iterations < 1) throw OptionError("the largest number of iterations must be 1 or more");
}

StopTest::StopTest(const StopRule& rule, Precision precision, double contraction)
    : rule_(rule),
      unit_roundoff_(unit_roundoff(precision)),
      most_rounding_units_(kRoundingUnits / (1 - contraction)),
      steps_of_a_swing_(StepAcceleration::steps_of_a_swing(contraction)) {
  check(rule);
}

void StopTest::start_to_look(bool is_accelerated) {
  is_accelerated_ = is_accelerated;
  num_looked_at_ = 0;
  largest_ = {0, 0};
  smallest_ = {kNone, kNone};
  steps_since_smallest_ = 0;
}

bool StopTest::has_stagnated(const StepChange& change, bool is_accelerated) {
  if (is_accelerated != is_accelerated_) start_to_look(is_accelerated);
  largest_ = {std::max(change.l1, largest_.l1), std::max(change.residual, largest_.residual)};
  const int steps = is_accelerated ? steps_of_a_swing_ : 1;
  if (++num_looked_at_ < steps) return false;
  steps_since_smallest_ = largest_.l1 < smallest_.l1 ? 0 : steps_since_smallest_ + steps;
  smallest_ = {std::min(smallest_.l1, largest_.l1), std::min(smallest_.residual, largest_.residual)};
  num_looked_at_ = 0;
  largest_ = {0, 0};
  if (steps_since_smallest_ < std::max(kStagnationSteps, is_accelerated ? kStagnationSwings * steps : 0))
    return false;
  const double units = std::min<double>(steps_since_smallest_, most_rounding_units_);
  return smallest_.l1 <= units * unit_roundoff_ * change.magnitude;
}

bool StopTest::done(const StepChange& change, IterationReport& report, Kind kind) {
  ++report.iterations;
  report.residual = change.residual;
  report.residual_l1 = change.l1;
  report.residual_history.push_back(change.residual);
  if (rule_.fixed_iterations > 0) {
    report.converged = report.iterations >= rule_.fixed_iterations;
    return report.converged;
  }
  report.converged = kind.may_converge && change.residual <= rule_.tolerance;
  if (report.converged) return true;
  if (kind.may_converge)
    report.stagnated = has_stagnated(change, kind.is_accelerated);
  else
    start_to_look(kind.is_accelerated);  // no rounding: it grows, or is yet to be looked at
  if (report.stagnated) report.reachable_tolerance = round_up_to_one_digit(smallest_.residual);
  return report.stagnated || report.iterations >= rule_.max_iterations;
}

double bound_of_error(double contraction, double last_change, int update_roundings, int product_roundings,
                      Precision precision) {
  // p_k = F(p_{k-1}) + e: |p_k - p| <= (c |p_k - p_{k-1}| + |e|) / (1 - c).
  const double c = contraction;
  const double rounding = (update_roundings + (3 + product_roundings) * c) * unit_roundoff(precision);
  return (c * last_change + rounding) / (1 - c);
}

}  // namespace tessera
