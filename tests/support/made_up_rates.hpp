// Rates of a GPU that there is none of, and how near to them others are.
#pragma once
#include <gtest/gtest.h>

#include "engine/device_rates.hpp"

namespace tessera::test {

inline DeviceRates made_up_rates() {
  DeviceRates rates;
  rates.tiles = {4e-6, 0.3e-6, 0.6e-12, 0.9e-12, 0.3e-12, 40e-9, 0.8e-12, 0.4e-12, 150e-12};
  rates.bins = {3e-6, 0.5e-12, 1e-12, 2e-12};
  rates.csr = {6e-6, 1e-6, 0.5e-6, 2e-6, 1e-12, 2e-12, 7e-12, 20e-12, 0.3e-12};
  rates.block = {5e-6, 9e-6, 4e-12, 0.2e-12, 0.3e-12, 0.6e-12};
  return rates;
}

template <std::size_t kSize>
void expect_near(const Rates<kSize>& actual, const Rates<kSize>& expected, double relative) {
  for (std::size_t i = 0; i < kSize; ++i)
    EXPECT_NEAR(actual[i], expected[i], relative * expected[i]) << "rate " << i;
}

}  // namespace tessera::test
