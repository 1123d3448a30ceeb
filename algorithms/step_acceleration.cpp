#include "algorithms/step_acceleration.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

/// The first changes say more of the degrees near a query than of how fast walks forget it.
constexpr int kFirstSteps = 4;
/// A change of so many roundings of scores of size 1 may be rounding. Plain steps make it smaller still, by
/// less of which each is rounded.
constexpr double kRoundings = 16;
/// Accelerated steps shrink a residual by one factor each, on any graph. Plain ones, whose factor is that
/// graph's, must need a third more to be slow.
constexpr double kOfPlainSteps = 0.75;

/// By which an accelerated step shrinks residuals in the end.
double accelerated_ratio(double c) { return c / (1 + std::sqrt(1 - c * c)); }

}  // namespace

StepAcceleration::StepAcceleration(double contraction, double unit_roundoff)
    : contraction_(contraction),
      slow_ratio_(std::pow(accelerated_ratio(contraction), kOfPlainSteps)),
      smallest_residual_(kRoundings * unit_roundoff),
      most_small_steps_(steps_of_a_swing(contraction)) {}

int StepAcceleration::steps_of_a_swing(double contraction) {
  constexpr double kFewest = 8;
  return static_cast<int>(std::max(kFewest, std::ceil(-1 / std::log(accelerated_ratio(contraction)))));
}

double StepAcceleration::weight() {
  if (!is_on()) return 1;
  const double square = contraction_ * contraction_;
  if (num_weights_ == 0)
    weight_ = 1;
  else
    weight_ = 1 / (1 - square * (num_weights_ == 1 ? 0.5 : weight_ / 4));
  ++num_weights_;
  return weight_;
}

bool StepAcceleration::is_slow(double residual) const {
  return num_steps_ >= kFirstSteps && residual <= 2 && residual > smallest_residual_ &&
         residual > slow_ratio_ * last_residual_;
}

void StepAcceleration::take(double residual) {
  ++num_steps_;
  most_residual_ *= contraction_;
  if (state_ == State::waiting && is_slow(residual)) {
    state_ = State::on;
    most_residual_ = kMostGrowth * residual;
  } else if (state_ == State::on) {
    num_small_steps_ = residual <= smallest_residual_ ? num_small_steps_ + 1 : 0;
    if (!(residual <= most_residual_) || num_small_steps_ >= most_small_steps_) state_ = State::ended;
  }
  last_residual_ = residual;
}

}  // namespace tessera
