// Steps that go further than plain ones: one formula for every backend.
#pragma once
#include "kernels/base/host_device.hpp"

namespace tessera {

/// From `origin`, weight times as far as `step` is; `step` itself where the weight is 1. In double.
template <class S>
TESSERA_HD S extrapolated(double weight, S step, S origin) {
  if (weight == 1) return step;
  const double start = origin;
  return static_cast<S>(start + weight * (static_cast<double>(step) - start));
}

}  // namespace tessera
