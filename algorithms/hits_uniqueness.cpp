#include "algorithms/hits_uniqueness.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

/// A component that shrinks by more than 1 % a step has at most 100 last changes of mass left, one that
/// shrinks by the rate of the changes, 1 / (1 - rate), which is known to a factor of 2.
constexpr double kSlowestDecay = 100, kOfRate = 2;
/// A last change says nothing of mass that it is not small beside.
constexpr double kMostMass = 0.1;
constexpr double kLeastMass = 1e-6;

}  // namespace

bool has_unique_pair(double last_change, double rate, int max_steps,
                     const std::function<SpreadStep()>& spread) {
  const double decay = rate < 1 ? std::max(kSlowestDecay, kOfRate / (1 - rate)) : kSlowestDecay;
  for (int step = 0; step < max_steps; ++step) {
    const SpreadStep reached = spread();
    const double allowed =
        std::max(kLeastMass * reached.mass, std::min(kMostMass * reached.mass, decay * last_change));
    if (reached.outside <= allowed) return true;
    if (!reached.grew) return false;
  }
  return true;  // not shown within the steps allowed: a long, thin component
}

double convergence_rate(std::span<const double> residual_history, int steps_apart) {
  const std::size_t size = residual_history.size();
  if (size < 2) return 0;
  const auto apart = static_cast<std::size_t>(steps_apart);
  const std::size_t span = std::min<std::size_t>(8, size - 1) / apart * apart;
  if (span == 0) return 0;
  const double first = residual_history[size - 1 - span], last = residual_history[size - 1];
  if (first == 0 || last == 0) return 0;
  return std::pow(last / first, static_cast<double>(steps_apart) / static_cast<double>(span));
}

}  // namespace tessera
