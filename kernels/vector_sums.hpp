// What an update of a vector adds up. On a device the sums may still be on their way when the caller goes on.
#pragma once
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/base/exact_sum.hpp"
#include "kernels/base/host_device.hpp"

namespace tessera {

/// Of what a step changed.
enum class Norm { l1, l2, linf };

/// From sums over all rows (VectorSums).
TESSERA_HD inline double change_in(Norm norm, const ExactSum& change_l1, const WideExactSum& change_squares,
                                   double change_max, const ExactScale& bound) {
  switch (norm) {
    case Norm::l1:
      return bound.value(change_l1);
    case Norm::l2:
      return std::sqrt(bound.value(change_squares));
    default:
      return change_max;
  }
}

/// Reductions of an update; values and changes must stay within the bound, squared changes too.
struct VectorSums {
  ExactSum change_l1;           ///< sum |new - old|
  WideExactSum change_squares;  ///< sum (new - old)^2; only where squares were asked for
  double change_max = 0;
  ExactSum total;     ///< sum new (not of walk_update; of mark_rows see there)
  ExactSum dangling;  ///< sum new over rows whose scale is 0 (the same); of masses (RowScale), sum new * mass
};

/// What norms of a vector are made of.
struct NormSums {
  double largest = 0;  ///< |y|
  ExactSum sum;        ///< of y, or of its squares; only where every term is within the bound
};

/// Sums of one update, one VectorSums for each vector. At most one update of a backend may be pending, two of
/// steps of walks in one go (Backend::step_walks).
class PendingSums {
 public:
  explicit PendingSums(std::vector<VectorSums> ready) : ready_(std::move(ready)) {}
  explicit PendingSums(std::function<std::vector<VectorSums>()> wait) : wait_(std::move(wait)) {}
  /// Waits until they are there. Once.
  std::vector<VectorSums> take() { return wait_ ? wait_() : std::move(ready_); }

 private:
  std::vector<VectorSums> ready_;  // unless they are waited for
  std::function<std::vector<VectorSums>()> wait_;
};

/// Sums of the steps of a run, which a device may still be going through. What it reads and writes is
/// for other work of the device behind it alone, also when the last ones are there. At most one run
/// of a backend may be pending.
class PendingSteps {
 public:
  using Next = std::function<std::optional<VectorSums>()>;

  PendingSteps() = default;  ///< none
  explicit PendingSteps(Next next) : next_(std::move(next)) {}
  /// Waits for those of the next step; none behind the last.
  std::optional<VectorSums> next() { return next_ ? next_() : std::nullopt; }

 private:
  Next next_;
};

}  // namespace tessera
