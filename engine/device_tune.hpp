// Measures what the rates of engine/device_rates.hpp are fitted to, on the GPU in use (the offline part of
// paper 3.3, for the forms of today's chips): products of generated graphs, skewed and even, dense and
// sparse, and of small ones side by side, in both precisions.
#pragma once
#include <functional>

#include "engine/device_samples.hpp"
#include "kernels/backend.hpp"

namespace tessera {

struct DeviceTuneOptions {
  int smallest_scale = 12, largest_scale = 24;  ///< every third one, 2^scale nodes; at most 2^26 edges
  int repeats = 10;                             ///< products of each matrix; the median counts
};

/// Times on the device of these backends, today; the device is not named. Takes about two minutes. `progress`
/// is called with the fraction done; it may throw.
DeviceSamples measure_device(Backend<float>& f32, Backend<double>& f64, const DeviceTuneOptions& options,
                             const std::function<void(double fraction)>& progress);

}  // namespace tessera
