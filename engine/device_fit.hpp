// Rates of a GPU (engine/device_rates.hpp) from times of products on it.
#pragma once
#include "engine/device_samples.hpp"

namespace tessera {

/// Rates, none below 0, for which predictions are off by the least squares of their relative errors. A rate
/// that no sample needs is 0. Device and date are those of the samples.
DeviceRates fit_device_rates(const DeviceSamples& samples);

}  // namespace tessera
