// The fit finds rates again that times were made from, and a made-up GPU is measured as what it is.
#include "engine/device_tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/linked_backend.hpp"

namespace tessera::test {
namespace {

DeviceRates made_up_rates() {
  DeviceRates rates;
  rates.tiles = {4e-6, 0.6e-12, 0.9e-12, 0.3e-12, 0.8e-12, 0.4e-12};
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
  std::vector<TilesSample> tiles;
  std::vector<CsrSample> csr;
  for (const DeviceWork& work : random_works(1)) {
    tiles.push_back({work, predict_tiles_seconds(work, truth), predict_bins_seconds(work, truth)});
    csr.push_back({work, predict_device_csr_seconds(work, truth)});
    for (const unsigned k : {3u, 20u}) csr.push_back({work, predict_csr_block_seconds(work, k, truth), k});
  }
  const DeviceRates found = fit_device_rates(tiles, csr);
  expect_near(found.tiles, truth.tiles, 1e-3);
  expect_near(found.bins, truth.bins, 1e-3);
  expect_near(found.csr, truth.csr, 1e-3);
  expect_near(found.block, truth.block, 1e-3);
}

TEST(FitDeviceRates, NoiseMovesPredictionsByNoMoreThanItself) {
  const DeviceRates truth = made_up_rates();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  std::vector<TilesSample> tiles;
  for (const DeviceWork& work : random_works(2))
    tiles.push_back({work, noise(random) * predict_tiles_seconds(work, truth),
                     noise(random) * predict_bins_seconds(work, truth)});
  const DeviceRates found = fit_device_rates(tiles, {});
  for (const DeviceWork& work : random_works(3)) {
    EXPECT_NEAR(predict_tiles_seconds(work, found) / predict_tiles_seconds(work, truth), 1, 0.06);
    EXPECT_NEAR(predict_bins_seconds(work, found) / predict_bins_seconds(work, truth), 1, 0.06);
  }
}

TEST(FitDeviceRates, GivesNoNegativeRatesAndZeroForWhatNoSampleHas) {
  DeviceWork small{.num_rows = 1e6, .num_columns = 1e6, .num_nonzeros = 1e7, .num_messages = 1e6};
  DeviceWork large = small;
  large.num_nonzeros *= 2;
  const std::vector<TilesSample> faster_with_more = {{small, 2e-3, 1e-3}, {large, 1e-3, 1e-3}};
  const DeviceRates found = fit_device_rates(faster_with_more, {});
  for (const double rate : found.tiles) EXPECT_GE(rate, 0);
  EXPECT_EQ(found.tiles[2], 0);  // no f64
  EXPECT_EQ(found.tiles[3], 0);  // no weights
  for (const double rate : found.csr) EXPECT_EQ(rate, 0);
}

/// A product whose parts take what made-up rates say of the packed matrix.
template <class S>
class TimedMatrix : public Matrix<S> {
 public:
  explicit TimedMatrix(std::vector<PartTime> times) : times_(std::move(times)) {}
  void apply(const Buffer<S>&, Buffer<double>&, unsigned) const override {}
  std::vector<PartTime> time_parts(const Buffer<S>&, Buffer<double>&) const override { return times_; }

 private:
  std::vector<PartTime> times_;
};

template <class S>
class TimedBackend : public LinkedBackend<S> {
 public:
  explicit TimedBackend(Communicator& comm) : LinkedBackend<S>(comm, limits()) {}
  std::unique_ptr<Matrix<S>> make_matrix(TileMessages<S> m, std::shared_ptr<Exchange<S>>) override {
    const DeviceWork work{.num_rows = static_cast<double>(m.num_rows),
                          .num_columns = static_cast<double>(m.num_rows),
                          .num_nonzeros = static_cast<double>(m.stats.num_nonzeros),
                          .num_messages = static_cast<double>(m.stats.num_row_pieces),
                          .value_bytes = sizeof(S),
                          .weighted = !m.tiles.values.empty()};
    return timed({{"tiles", predict_tiles_seconds(work, made_up_rates())},
                  {"bins", predict_bins_seconds(work, made_up_rates())}});
  }
  std::unique_ptr<Matrix<S>> make_matrix(CsrMatrix<S> m) override {
    NearCounts near;
    EdgeOffset longest = 0;
    for (std::uint64_t row = 0; row < m.num_rows; ++row) {
      longest = std::max(longest, m.row_offsets[row + 1] - m.row_offsets[row]);
      for (EdgeOffset e = m.row_offsets[row]; e < m.row_offsets[row + 1]; ++e)
        near.add(row, m.col_indices[e]);
    }
    const DeviceWork work{.num_rows = static_cast<double>(m.num_rows),
                          .num_columns = static_cast<double>(m.num_slots),
                          .num_nonzeros = static_cast<double>(m.col_indices.size()),
                          .num_adjacent = static_cast<double>(near.adjacent),
                          .num_near = static_cast<double>(near.near),
                          .longest_row = static_cast<double>(longest),
                          .value_bytes = sizeof(S),
                          .weighted = !m.values.empty()};
    return timed({{"product", predict_device_csr_seconds(work, made_up_rates())}});
  }
  using LinkedBackend<S>::make_matrix;

 private:
  static TilingLimits limits() {
    TilingLimits limits = kSmallTiles;
    limits.tile_columns = 1000;
    limits.bins.most_messages = 2000;
    return limits;
  }
  static std::unique_ptr<Matrix<S>> timed(std::vector<PartTime> times) {
    return std::make_unique<TimedMatrix<S>>(std::move(times));
  }
};

TEST(MeasureDeviceRates, AMadeUpGpuIsMeasuredAsWhatItIs) {
  const auto comm = make_single_rank();
  TimedBackend<float> f32(*comm);
  TimedBackend<double> f64(*comm);
  double last = 0;
  const DeviceRates found = measure_device_rates(
      f32, f64, {.smallest_scale = 9, .largest_scale = 15, .repeats = 1}, [&](double fraction) {
        EXPECT_GT(fraction, last);
        last = fraction;
      });
  EXPECT_EQ(last, 1);
  EXPECT_FALSE(found.measured_on.empty());
  expect_near(found.tiles, made_up_rates().tiles, 0.02);
  expect_near(found.bins, made_up_rates().bins, 0.02);
  for (const std::size_t i : {0, 1, 2, 3, 4, 5, 6, 8})  // no x here is larger than a cache
    EXPECT_NEAR(found.csr[i], made_up_rates().csr[i], 0.05 * made_up_rates().csr[i]) << "rate " << i;
}

}  // namespace
}  // namespace tessera::test
