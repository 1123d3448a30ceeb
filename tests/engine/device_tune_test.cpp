// A made-up GPU is measured as what it is.
#include "engine/device_tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/device_fit.hpp"
#include "tests/support/linked_backend.hpp"
#include "tests/support/made_up_rates.hpp"

namespace tessera::test {
namespace {

/// A packed form does not say what three of the rates are for.
DeviceRates rates_of_forms() {
  DeviceRates rates = made_up_rates();
  for (const char* name : {"row_doubling_seconds", "value_row_element_seconds", "cell_seconds"})
    rates.tiles.at(static_cast<std::size_t>(
        std::find(kTilesRates.begin(), kTilesRates.end(), std::string(name)) - kTilesRates.begin())) = 0;
  return rates;
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
    return timed({{"tiles", predict_tiles_seconds(work, rates_of_forms())},
                  {"bins", predict_bins_seconds(work, rates_of_forms())}});
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
    return timed({{"product", predict_device_csr_seconds(work, rates_of_forms())}});
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
  const DeviceSamples samples = measure_device(
      f32, f64, {.smallest_scale = 9, .largest_scale = 15, .repeats = 1}, [&](double fraction) {
        EXPECT_GT(fraction, last);
        last = fraction;
      });
  EXPECT_EQ(last, 1);
  EXPECT_FALSE(samples.measured_on.empty());
  for (const unsigned num_vectors : {1u, 4u, 25u, 32u})  // f32 has 25 padded
    EXPECT_TRUE(std::any_of(samples.csr.begin(), samples.csr.end(), [&](const CsrSample& sample) {
      return sample.num_vectors == num_vectors;
    })) << num_vectors;
  const DeviceRates found = fit_device_rates(samples);
  for (const TilesSample& sample : samples.tiles) {
    EXPECT_NEAR(predict_tiles_seconds(sample.work, found) / sample.tiles_seconds, 1, 0.01);
    EXPECT_GT(sample.work.num_cells, 0);
    EXPECT_LE(sample.work.num_cells, sample.work.num_messages);
    EXPECT_GT(sample.work.longest_row, 1);
  }
  expect_near(found.bins, rates_of_forms().bins, 0.02);
  for (const std::size_t i : {0, 1, 2, 3, 4, 5, 6, 8})  // no x here is larger than a cache
    EXPECT_NEAR(found.csr[i], rates_of_forms().csr[i], 0.05 * rates_of_forms().csr[i]) << "rate " << i;
}

}  // namespace
}  // namespace tessera::test
