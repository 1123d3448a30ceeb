// The fit finds rates again that times were made from.
#include "engine/device_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/made_up_rates.hpp"

namespace tessera::test {
namespace {

/// Works of many sizes, none a multiple of another.
std::vector<DeviceWork> random_works(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0, 1);
  const auto between = [&](double low, double high) { return low * std::pow(high / low, exponent(random)); };
  std::vector<DeviceWork> works;
  for (int i = 0; i < 60; ++i) {
    DeviceWork work;
    work.num_rows = between(1e3, 1e8);
    work.num_columns = work.num_rows * between(0.2, 5);
    work.num_nonzeros = work.num_rows * between(1, 50);
    work.longest_row = between(2, 1e4);
    work.num_messages = work.num_nonzeros * between(0.1, 1);
    work.num_cells = work.num_messages * between(0.001, 1);
    work.num_adjacent = i % 3 == 0 ? 0 : work.num_nonzeros * between(0.01, 0.5);
    work.num_near = i % 4 == 0 ? 0 : work.num_nonzeros * between(0.01, 0.5);
    work.value_bytes = i % 2 == 0 ? 4 : 8;
    work.weighted = i % 3 == 0;
    works.push_back(work);
  }
  return works;
}

TEST(FitDeviceRates, FindsTheRatesThatTimesWereMadeFrom) {
  const DeviceRates truth = made_up_rates();
  DeviceSamples samples{.device = "a GPU", .measured_on = "2026-11-23"};
  for (const DeviceWork& work : random_works(1)) {
    samples.tiles.push_back({work, predict_tiles_seconds(work, truth), predict_bins_seconds(work, truth)});
    samples.csr.push_back({work, predict_device_csr_seconds(work, truth)});
    for (const unsigned k : {3u, 20u})
      samples.csr.push_back({work, predict_csr_block_seconds(work, k, truth), k});
  }
  const DeviceRates found = fit_device_rates(samples);
  expect_near(found.tiles, truth.tiles, 1e-3);
  expect_near(found.bins, truth.bins, 1e-3);
  expect_near(found.csr, truth.csr, 1e-3);
  expect_near(found.block, truth.block, 1e-3);
  EXPECT_EQ(found.device, "a GPU");
  EXPECT_EQ(found.measured_on, "2026-11-23");
}

TEST(FitDeviceRates, NoiseMovesPredictionsByNoMoreThanItself) {
  const DeviceRates truth = made_up_rates();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  DeviceSamples samples;
  for (const DeviceWork& work : random_works(2))
    samples.tiles.push_back({work, noise(random) * predict_tiles_seconds(work, truth),
                             noise(random) * predict_bins_seconds(work, truth)});
  const DeviceRates found = fit_device_rates(samples);
  for (const DeviceWork& work : random_works(3)) {
    EXPECT_NEAR(predict_tiles_seconds(work, found) / predict_tiles_seconds(work, truth), 1, 0.06);
    EXPECT_NEAR(predict_bins_seconds(work, found) / predict_bins_seconds(work, truth), 1, 0.06);
  }
}

TEST(FitDeviceRates, GivesNoNegativeRatesAndZeroForWhatNoSampleHas) {
  DeviceWork small{.num_rows = 1e6, .num_columns = 1e6, .num_nonzeros = 1e7, .num_messages = 1e6};
  DeviceWork large = small;
  large.num_nonzeros *= 2;
  const DeviceRates found = fit_device_rates({.tiles = {{small, 2e-3, 1e-3}, {large, 1e-3, 1e-3}}});
  for (const double rate : found.tiles) EXPECT_GE(rate, 0);
  for (const std::size_t i : {3, 4, 5}) EXPECT_EQ(found.tiles[i], 0) << i;  // no f64, no weights
  for (const double rate : found.csr) EXPECT_EQ(rate, 0);
}

}  // namespace
}  // namespace tessera::test
