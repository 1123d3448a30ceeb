#include "engine/device_fit.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

/// Rates r >= 0 for which sum_i ((work_i . r) / seconds_i - 1)^2 is least, one coordinate after the other:
/// the sum is convex, so that this ends at its minimum.
template <std::size_t kSize>
class RateFit {
 public:
  void add(const Rates<kSize>& work, double seconds) {
    if (seconds <= 0) return;
    Rates<kSize> scaled;
    for (std::size_t j = 0; j < kSize; ++j) scaled[j] = work[j] / seconds;
    for (std::size_t j = 0; j < kSize; ++j) {
      target_[j] += scaled[j];
      for (std::size_t k = 0; k < kSize; ++k) gram_[j][k] += scaled[j] * scaled[k];
    }
  }
  Rates<kSize> solve() const {
    constexpr int kRounds = 100000;
    Rates<kSize> rates = {};
    for (int round = 0; round < kRounds; ++round) {
      double change = 0;
      for (std::size_t j = 0; j < kSize; ++j) {
        if (gram_[j][j] == 0) continue;
        double rest = target_[j];
        for (std::size_t k = 0; k < kSize; ++k)
          if (k != j) rest -= gram_[j][k] * rates[k];
        const double next = std::max(0.0, rest / gram_[j][j]);
        if (next != rates[j]) change = std::max(change, std::abs(next - rates[j]) / std::max(next, rates[j]));
        rates[j] = next;
      }
      if (change < 1e-12) break;
    }
    return rates;
  }

 private:
  Rates<kSize> target_ = {};
  std::array<Rates<kSize>, kSize> gram_ = {};
};

}  // namespace

DeviceRates fit_device_rates(const DeviceSamples& samples) {
  RateFit<kTilesRates.size()> tiles_fit;
  RateFit<kBinsRates.size()> bins_fit;
  RateFit<kCsrRates.size()> csr_fit;
  RateFit<kBlockRates.size()> block_fit;
  for (const TilesSample& sample : samples.tiles) {
    tiles_fit.add(tiles_work(sample.work), sample.tiles_seconds);
    bins_fit.add(bins_work(sample.work), sample.bins_seconds);
  }
  for (const CsrSample& sample : samples.csr)
    if (sample.num_vectors == 1)
      csr_fit.add(csr_work(sample.work), sample.seconds);
    else
      block_fit.add(block_work(sample.work, sample.num_vectors), sample.seconds);
  DeviceRates rates{.device = samples.device, .measured_on = samples.measured_on};
  rates.tiles = tiles_fit.solve();
  rates.bins = bins_fit.solve();
  rates.csr = csr_fit.solve();
  rates.block = block_fit.solve();
  return rates;
}

}  // namespace tessera
