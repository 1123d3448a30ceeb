// When an iteration stops, and what it reports.
#pragma once
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "engine/spmv_operator.hpp"

namespace tessera {

/// The part of the options that all three algorithms share.
struct StopRule {
  double tolerance = 1e-6;  ///< absolute, in `norm`, on the change of one step
  Norm norm = Norm::l1;
  int max_iterations = 100;
  int fixed_iterations = 0;  ///< > 0: exactly so many steps, tolerance not looked at

  int most_steps() const { return fixed_iterations > 0 ? fixed_iterations : max_iterations; }
};

/// Throws OptionError for a rule that makes no sense.
void check(const StopRule& rule);

struct IterationProgress {
  int iteration = 0;
  double residual = 0;
  int vectors_left = 1;  ///< RWR: queries still in the block
};
/// Called after each step on every rank; returning false on any rank stops all of them after the step, and
/// what one throws is thrown by all: one rank alone throws the very exception, several an Error. May not use
/// the operators' backend, which may be going through the next steps.
using IterationObserver = std::function<bool(const IterationProgress&)>;

struct IterationReport {
  int iterations = 0;
  double residual = 0;             ///< change of the last step, in the norm asked for (block HITS: of two)
  double residual_l1 = 0;          ///< the same in L1, for error bounds
  bool converged = false;          ///< the tolerance was met (or fixed_iterations were asked for and done)
  bool stagnated = false;          ///< stopped because rounding keeps the change above the tolerance
  double reachable_tolerance = 0;  ///< when stagnated: the smallest change that was seen (the largest of a
                                   ///< swing, of accelerated steps), rounded up
  bool interrupted = false;
  std::vector<double> residual_history;
};

/// What one step changed, over all ranks.
struct StepChange {
  double residual = 0;   ///< in the norm asked for
  double l1 = 0;         ///< in L1
  double magnitude = 1;  ///< L1 size of the iterate: what its rounding is relative to
};

/// `global`: sums over all ranks.
StepChange change_of(Norm norm, const VectorSums& global, const ExactScale& bound);

/// Replaces this rank's sums, one entry a vector, by those of all ranks; collective.
void reduce_over_ranks(std::span<VectorSums> sums, Communicator& comm);

/// Calls the observer; false on every rank when it is false on one, and throws on all what it throws on one.
/// Collective.
bool all_go_on(const IterationObserver& observer, const IterationProgress& progress, Communicator& comm);

/// Decides step by step; one object for one sequence of residuals.
class StopTest {
 public:
  /// Throws as check().
  /// contraction: below 1, a factor by which each step shrinks the L1 change but for rounding; 0: none is
  /// known.
  StopTest(const StopRule& rule, Precision precision, double contraction = 0);
  struct Kind {
    bool is_accelerated = false;  ///< by StepAcceleration: a change says less than the largest of several
    bool may_converge = true;     ///< false: a change is not the end, however small
  };
  /// Records the change of a step; true when the iteration ends here.
  bool done(const StepChange& change, IterationReport& report, Kind kind);
  bool done(const StepChange& change, IterationReport& report) { return done(change, report, {}); }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  struct Change {
    double l1, residual;
  };

  bool has_stagnated(const StepChange& change, bool is_accelerated);
  void start_to_look(bool is_accelerated);

  StopRule rule_;
  double unit_roundoff_;
  double most_rounding_units_;
  int steps_of_a_swing_;
  bool is_accelerated_ = false;
  int num_looked_at_ = 0;          ///< steps of `largest_`
  Change largest_{0, 0};           ///< of a swing under way; of one step where nothing is accelerated
  Change smallest_{kNone, kNone};  ///< of those before
  int steps_since_smallest_ = 0;
};

/// Precision of the stored numbers S.
template <class S>
constexpr Precision precision_of() {
  return sizeof(S) == sizeof(float) ? Precision::f32 : Precision::f64;
}
/// Half a unit in the last place of 1.
constexpr double unit_roundoff(Precision precision) {
  return precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
}

/// Bound on the L1 distance of p_k to p = F(p), of size 1 at most, for F(p) = c W^T p + what does not depend
/// on p. Roundings, in units u of the size of what is rounded: update_roundings of p_k; of c W^T p those of x
/// (2: product and reciprocal), of weights or their products (1) and inside the product. In f64
/// update_roundings includes those of the sums of out-weights.
double bound_of_error(double contraction, double last_change, int update_roundings, int product_roundings,
                      Precision precision);

}  // namespace tessera
