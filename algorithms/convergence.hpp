// When an iteration stops, and what it reports.
#pragma once
#include <functional>
#include <vector>

#include "engine/spmv_operator.hpp"

namespace tessera {

enum class Norm { l1, l2, linf };

/// The part of the options that all three algorithms share.
struct StopRule {
  double tolerance = 1e-6;   ///< absolute, in `norm`, on the change of one step
  Norm norm = Norm::l1;
  int max_iterations = 100;
  int fixed_iterations = 0;  ///< > 0: exactly so many steps, tolerance not looked at
};

struct IterationProgress {
  int iteration = 0;
  double residual = 0;
  int vectors_left = 1;  ///< RWR: queries still in the block
};
/// Called after each step on every rank; returning false on any rank stops all of them after the step.
using IterationObserver = std::function<bool(const IterationProgress&)>;

struct IterationReport {
  int iterations = 0;
  double residual = 0;       ///< change of the last step, in the norm asked for
  double residual_l1 = 0;    ///< the same in L1, for error bounds
  bool converged = false;    ///< the tolerance was met (or fixed_iterations were asked for and done)
  bool stagnated = false;    ///< stopped because rounding keeps the change above the tolerance
  double reachable_tolerance = 0;  ///< when stagnated: the smallest change that was seen, rounded up
  bool interrupted = false;
  std::vector<double> residual_history;
};

/// Change of a step from reductions over all ranks.
double residual_of(Norm norm, const VectorSums& global, const ExactScale& bound);
/// Adds up the sums of all ranks; collective.
VectorSums all_ranks(VectorSums local, Communicator& comm);

/// Decides step by step; one object for one sequence of residuals.
class StopTest {
 public:
  StopTest(const StopRule& rule, Precision precision) : rule_(rule), precision_(precision) {}
  /// Records the residual of a step; true when the iteration ends here.
  bool done(double residual, IterationReport& report);

 private:
  StopRule rule_;
  Precision precision_;
};

}  // namespace tessera
