#include "algorithms/hits_uniqueness.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

/// A component that shrinks by more than 1 % a step has at most 100 last changes of mass left.
constexpr double kSlowestDecay = 100;
constexpr double kLeastMass = 1e-6;

}  // namespace

bool has_unique_pair(std::span<const double> hubs, double last_change, int max_steps,
                     const std::function<std::vector<double>(std::span<const double>)>& spread) {
  double total = 0;
  for (double hub : hubs) total += hub;
  if (total == 0) return true;
  const double allowed = std::max(kLeastMass * total, kSlowestDecay * last_change);
  std::vector<double> marks(hubs.size(), 0.0);
  marks[std::max_element(hubs.begin(), hubs.end()) - hubs.begin()] = 1;
  for (int step = 0; step < max_steps; ++step) {
    const std::vector<double> reached = spread(marks);
    double outside = 0;
    bool grew = false;
    for (std::size_t v = 0; v < marks.size(); ++v) {
      grew |= reached[v] > 0 && marks[v] == 0;
      if (reached[v] > 0) marks[v] = 1;
      if (marks[v] == 0) outside += hubs[v];
    }
    if (outside <= allowed) return true;
    if (!grew) return false;
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
