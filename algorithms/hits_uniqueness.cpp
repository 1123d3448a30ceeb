#include "algorithms/hits_uniqueness.hpp"

#include <algorithm>
#include <cmath>

#include "engine/page_memory.hpp"
#include "kernels/base/types.hpp"

namespace tessera {
namespace {

/// A component that shrinks by more than 1 % a step has at most 100 last changes of mass left, one that
/// shrinks by the rate of the changes, 1 / (1 - rate), which is known to a factor of 2.
constexpr double kSlowestDecay = 100, kOfRate = 2;
/// A last change says nothing of mass that it is not small beside.
constexpr double kMostMass = 0.1;
constexpr double kLeastMass = 1e-6;

/// value(v) of all v < size, added up by all threads, in the same order by any number of them.
template <class Value>
double sum_of(std::size_t size, const Value& value) {
  constexpr std::size_t kPart = std::size_t{1} << 16;
  std::vector<double> sums(ceil_div(size, kPart), 0.0);
#pragma omp parallel for schedule(static)
  for (std::size_t p = 0; p < sums.size(); ++p) {
    double sum = 0;
    for (std::size_t v = p * kPart; v < std::min(size, (p + 1) * kPart); ++v) sum += value(v);
    sums[p] = sum;
  }
  double sum = 0;
  for (const double of_part : sums) sum += of_part;
  return sum;
}

/// Marks what was reached; whether that is more than before.
bool mark(std::span<const double> reached, std::vector<double>& marks) {
  bool grew = false;
#pragma omp parallel for reduction(|| : grew)
  for (std::size_t v = 0; v < marks.size(); ++v) {
    if (!(reached[v] > 0) || marks[v] != 0) continue;
    marks[v] = 1;
    grew = true;
  }
  return grew;
}

}  // namespace

bool has_unique_pair(std::span<const double> hubs, double last_change, double rate, int max_steps,
                     const std::function<std::vector<double>(std::span<const double>)>& spread) {
  const double total = sum_of(hubs.size(), [&](std::size_t v) { return hubs[v]; });
  if (total == 0) return true;
  const double decay = rate < 1 ? std::max(kSlowestDecay, kOfRate / (1 - rate)) : kSlowestDecay;
  const double allowed = std::max(kLeastMass * total, std::min(kMostMass * total, decay * last_change));
  std::vector<double> marks = zeros_in_found_pages(hubs.size());
  marks[std::max_element(hubs.begin(), hubs.end()) - hubs.begin()] = 1;
  for (int step = 0; step < max_steps; ++step) {
    const std::vector<double> reached = spread(marks);
    const bool grew = mark(reached, marks);
    const double outside = sum_of(hubs.size(), [&](std::size_t v) { return marks[v] == 0 ? hubs[v] : 0.0; });
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
