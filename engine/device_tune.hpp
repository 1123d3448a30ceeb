// Measures the rates of engine/device_rates.hpp on the GPU in use (the offline part of paper 3.3, for the
// forms of today's chips): products of generated graphs, skewed and even, dense and sparse, and of
// small ones side by side, in both precisions, and a fit of the rates to their times.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "engine/device_model.hpp"
#include "kernels/backend.hpp"

namespace tessera {

/// One product, and how long it took.
struct TilesSample {
  DeviceWork work;
  double tiles_seconds = 0, bins_seconds = 0;
};
struct CsrSample {
  DeviceWork work;
  double seconds = 0;
  unsigned num_vectors = 1;
};

/// Rates, none below 0, for which predictions are off by the least squares of their relative errors. Names
/// no device and no date. A rate that no sample needs is 0.
DeviceRates fit_device_rates(std::span<const TilesSample> tiles, std::span<const CsrSample> csr);

struct DeviceTuneOptions {
  int smallest_scale = 12, largest_scale = 24;  ///< every third one, 2^scale nodes; at most 2^26 edges
  int repeats = 10;                             ///< products of each matrix; the median counts
};

/// Rates of the device of these backends, measured today; the device is not named. Takes about two minutes.
/// `progress` is called with the fraction done; it may throw.
DeviceRates measure_device_rates(Backend<float>& f32, Backend<double>& f64, const DeviceTuneOptions& options,
                                 const std::function<void(double fraction)>& progress);

}  // namespace tessera
