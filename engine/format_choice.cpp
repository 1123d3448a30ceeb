#include "engine/format_choice.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

// Limits of matrices as they differ on an H200; between neighbours the times cross slowly.
constexpr std::uint64_t kSmallNonzeros = 150'000;  ///< below, one launch is most of the time
constexpr std::uint64_t kFewRows = 1'200;      ///< a warp each keeps the device busy no longer than a launch
constexpr std::uint64_t kWarpLength = 64;      ///< two rounds of a warp
constexpr std::uint64_t kBlockLength = 1'000;  ///< too long for one warp beside short ones
constexpr double kPowerLaw = 100;              ///< longest row over the mean
constexpr std::uint64_t kTiledNonzeros = 4'000'000, kTiledColumns = 100'000;
constexpr double kLongMean = 1'000;
constexpr double kShortMean = 8, kEven = 0.1;
constexpr std::uint64_t kManyRows = 100'000;
constexpr double kUneven = 0.3, kBounded = 4;

std::string choose_small(const RowLengthStats& a) {
  if (a.longest >= kBlockLength) return "csr-ell";
  return a.longest > kWarpLength || a.num_rows <= kFewRows ? "csr-vector" : "csr-half-warp";
}

std::string choose_large(const RowLengthStats& a) {
  const double over_mean = static_cast<double>(a.longest) / a.mean;
  if (over_mean > kPowerLaw) return a.num_nonzeros >= kTiledNonzeros ? "tile-messages" : "coo";
  if (a.mean > kLongMean) return a.num_cols > kTiledColumns ? "tile-messages" : "csr-ell";
  const bool is_flat = a.mean < kShortMean && a.deviation <= kEven * a.mean;
  const bool pays_sorting =
      a.num_rows >= kManyRows && a.deviation >= kUneven * a.mean && over_mean <= kBounded;
  return is_flat || pays_sorting ? "sell" : "csr-ell";
}

}  // namespace

RowLengthStats row_length_stats(const CsrView<double>& matrix) {
  RowLengthStats stats{
      .num_rows = matrix.num_rows, .num_cols = matrix.num_cols, .num_nonzeros = matrix.num_nonzeros()};
  if (matrix.num_rows == 0) return stats;
  const auto rows = static_cast<double>(matrix.num_rows);
  stats.mean = static_cast<double>(stats.num_nonzeros) / rows;
  double squares = 0;
  for (std::uint64_t row = 0; row < matrix.num_rows; ++row) {
    const std::uint64_t length = matrix.row_offsets[row + 1] - matrix.row_offsets[row];
    const double distance = static_cast<double>(length) - stats.mean;
    squares += distance * distance;
    stats.longest = std::max(stats.longest, length);
  }
  stats.deviation = std::sqrt(squares / rows);
  return stats;
}

std::string choose_form(const RowLengthStats& lengths, bool on_device) {
  if (lengths.num_nonzeros == 0) return "csr-vector";
  if (!on_device)
    return static_cast<double>(lengths.longest) <= kBounded * lengths.mean ? "sell" : "csr-balanced";
  return lengths.num_nonzeros < kSmallNonzeros ? choose_small(lengths) : choose_large(lengths);
}

}  // namespace tessera
