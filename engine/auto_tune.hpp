// Measures the lookup table of the performance model on this machine (paper 3.3, the offline part), on one
// thread: matrices made of many equal w x h workloads, and plain CSR over windows of x of growing size.
#pragma once
#include <functional>

#include "engine/perf_table.hpp"

namespace tessera {

/// Takes some ten seconds. `progress` is called with the fraction done.
PerfTable measure_perf_table(const std::function<void(double fraction)>& progress);

}  // namespace tessera
