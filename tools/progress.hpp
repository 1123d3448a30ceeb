// What is going on, for a person who waits: one rewriting line on a terminal; without a terminal nothing,
// or with --verbose one line every 30 seconds. Rank 0 only. Also where a signal stops the work.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "algorithms/convergence.hpp"
#include "engine/load_graph.hpp"

namespace tessera::cli {

struct GeneralOptions;

/// Times of the steps of an iteration, measured from call to call of the observer; steps that a device made
/// together have equal shares.
struct StepTimes {
  std::vector<double> seconds;     ///< each step
  std::uint64_t vector_steps = 0;  ///< products of the matrix with one vector
  double total() const;
  double median() const;
};

class Progress {
 public:
  Progress(const GeneralOptions& general, bool is_root);

  /// For load_graph; stops it after a signal.
  ReadProgress reading();
  /// For an algorithm; records the time of each step and stops after a signal. `tolerance` 0: fixed steps.
  IterationObserver iterating(double tolerance, int max_iterations, StepTimes& times);
  /// A phase without measure ("packing", "writing").
  void phase(const std::string& name);
  void done();

 private:
  using Clock = std::chrono::steady_clock;
  bool is_due();
  void show(const std::string& text);
  bool on_terminal_ = false, in_log_ = false;
  Clock::time_point last_shown_ = Clock::now();
};

/// Seconds until the residual reaches `tolerance`, from the slope of its logarithm over the last ten steps;
/// negative when the slope is not steady (its halves differ by more than a fifth) or does not fall.
double seconds_to_go(const std::vector<double>& residuals, double tolerance, double seconds_per_step);

}  // namespace tessera::cli
