#include "engine/format_choice.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera {
namespace {

// Limits of matrices as they differ on an H200; between neighbours the times cross slowly.
constexpr std::uint64_t kSmallNonzeros = 150'000;    ///< below, one launch is most of the time
constexpr std::uint64_t kLargeNonzeros = 2'000'000;  ///< above, a second launch is little of the time
constexpr std::uint64_t kWarps = 132 * 64;           ///< that the device holds at a time
constexpr std::uint64_t kFewRows = kWarps / 8;       ///< a warp each leaves most of the device idle
constexpr std::uint64_t kManyRows = 100'000;         ///< a thread each keeps it busy
constexpr std::uint64_t kLongRow = 2'000;  ///< one warp works on it longer than all others on theirs
constexpr double kPowerLaw = 100;          ///< longest row over the mean
constexpr double kTileColumns = 40'960;    ///< whose x a block of threads can hold (f32)
constexpr std::uint64_t kMostDiagonals = 64;

double over_mean(const RowLengthStats& a) { return static_cast<double>(a.longest) / a.mean; }

/// Diagonals that hold little else than elements: no column has to be read.
bool has_full_diagonals(const MatrixFacts& facts) {
  constexpr double kFull = 0.8;
  const RowLengthStats& a = facts.lengths;
  return facts.num_diagonals > 0 &&
         static_cast<double>(a.num_nonzeros) >= kFull * static_cast<double>(facts.num_diagonals * a.num_rows);
}

/// Elements of a row that one message stands for: those of a tile of columns.
double elements_a_message(const RowLengthStats& a) {
  const double tiles = std::max(1.0, static_cast<double>(a.num_cols) / kTileColumns);
  return static_cast<double>(a.num_nonzeros) / static_cast<double>(a.num_filled) / tiles;
}

/// Neighbouring rows read places of x far from each other, x is larger than the first cache of a
/// multiprocessor, and a message, which costs about what an element does, stands for more than one.
bool pays_messages(const MatrixFacts& facts, bool in_f64) {
  constexpr double kScattered = 0.7, kLeastElements = 1.5;
  constexpr std::uint64_t kCacheBytes = 200'000;
  const RowLengthStats& a = facts.lengths;
  return facts.scatter > kScattered && a.num_cols * (in_f64 ? 8 : 4) > kCacheBytes &&
         elements_a_message(a) >= kLeastElements;
}

std::string choose_small(const RowLengthStats& a) {
  constexpr double kBounded = 6;
  constexpr std::uint64_t kWarpLength = 64;  // two rounds of a warp, four of a half
  if (over_mean(a) <= kBounded) return "csr-adaptive";
  if (a.longest >= kLongRow) return "coo";
  return a.longest <= kWarpLength && a.num_rows > kWarps ? "csr-half-warp" : "csr-vector";
}

std::string choose_power_law(const MatrixFacts& facts, bool in_f64) {
  constexpr double kLongMean = 10, kEven = 0.5;
  const RowLengthStats& a = facts.lengths;
  const bool is_large = a.num_nonzeros >= kLargeNonzeros,
             is_very_large = a.num_nonzeros >= 2 * kLargeNonzeros;
  // Even rows but for a few, which are cut.
  if (a.usual_deviation <= kEven && a.num_nonzeros >= kLargeNonzeros / 2 && (in_f64 || !is_very_large))
    return "csr-ell";
  if (!facts.has_values) return is_large ? "tile-messages" : "coo";
  const bool has_long_mean = is_large && a.mean >= kLongMean;
  if (!in_f64) return is_very_large || has_long_mean ? "tile-messages" : "coo";
  if (is_very_large && pays_messages(facts, in_f64)) return "tile-messages";
  return has_long_mean ? "tile-coo" : "coo";
}

/// Rows that the device works on in at most two turns of half a warp each.
std::string choose_two_turns(const RowLengthStats& a) {
  constexpr double kShort = 16, kBounded = 4, kLessBounded = 6, kUnbounded = 30, kWarpMean = 300;
  if (a.mean < kShort) return over_mean(a) <= kLessBounded ? "csr-adaptive" : "csr-vector";
  if (over_mean(a) > kUnbounded) return "coo";
  return over_mean(a) > kBounded || a.mean > kWarpMean ? "csr-vector" : "csr-half-warp";
}

std::string choose_many_rows(const RowLengthStats& a) {
  constexpr double kBounded = 4, kLessBounded = 12, kUnbounded = 50, kShort = 16, kMiddle = 32, kUneven = 0.3;
  if (over_mean(a) <= kBounded) {
    const bool pays_sorting = a.num_rows >= kManyRows && a.deviation >= kUneven * a.mean;
    return a.mean <= kMiddle || pays_sorting ? "sell" : "csr-ell";
  }
  if (a.num_nonzeros >= kLargeNonzeros) return "csr-ell";
  if (over_mean(a) > kUnbounded) return "coo";
  return over_mean(a) <= kLessBounded && a.mean < kShort ? "csr-adaptive" : "csr-ell";
}

std::string choose_large(const MatrixFacts& facts, bool in_f64) {
  constexpr double kLongMean = 1'000, kMiddle = 32, kUneven = 0.3;
  constexpr std::uint64_t kManyColumns = 100'000;
  const RowLengthStats& a = facts.lengths;
  if (has_full_diagonals(facts) && a.num_rows >= kManyRows) return "dia";
  if (over_mean(a) > kPowerLaw) return choose_power_law(facts, in_f64);
  if (a.num_rows < kFewRows) {
    if (a.mean > kLongMean) return "csr-ell";  // it cuts them
    return in_f64 ? "coo" : "csr-vector";
  }
  if (a.mean > kLongMean && a.num_nonzeros >= kLargeNonzeros / 2 && (in_f64 || a.num_cols > kManyColumns))
    return "tile-messages";
  if (a.num_nonzeros >= kLargeNonzeros && pays_messages(facts, in_f64)) return "tile-messages";
  const bool suits_sell =
      a.num_rows > 2 * kWarps && a.mean <= kMiddle && a.mean >= kMiddle / 2 && a.deviation < kUneven * a.mean;
  return a.num_rows <= 4 * kWarps && !suits_sell ? choose_two_turns(a) : choose_many_rows(a);
}

std::uint64_t count_diagonals(const CsrView<double>& a) {
  std::vector<std::int64_t> found;
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    std::size_t next = 0;  // rows of a grid have the same diagonals, in order
    for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k, ++next) {
      const std::int64_t diagonal = std::int64_t{a.col_indices[k]} - static_cast<std::int64_t>(row);
      if (next < found.size() && found[next] == diagonal) continue;
      const auto place = std::lower_bound(found.begin(), found.end(), diagonal);
      next = static_cast<std::size_t>(place - found.begin());
      if (place != found.end() && *place == diagonal) continue;
      if (found.size() == kMostDiagonals) return 0;
      found.insert(place, diagonal);
    }
  }
  return found.size();
}

double measure_scatter(const CsrView<double>& a) {
  constexpr std::uint64_t kSamples = 64, kRows = 32, kMostElements = 4096;
  constexpr VertexId kColumns = 8;  // of 32 bytes
  std::uint64_t elements = 0, places = 0;
  std::vector<VertexId> read;
  for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
    const std::uint64_t first = a.num_rows <= kRows ? 0 : (a.num_rows - kRows) * sample / kSamples;
    const EdgeOffset begin = a.row_offsets[first];
    const EdgeOffset end =
        std::min(begin + kMostElements, a.row_offsets[std::min(a.num_rows, first + kRows)]);
    read.assign(a.col_indices + begin, a.col_indices + end);
    for (VertexId& column : read) column /= kColumns;
    std::sort(read.begin(), read.end());
    elements += read.size();
    places += static_cast<std::uint64_t>(std::unique(read.begin(), read.end()) - read.begin());
  }
  return elements == 0 ? 0 : static_cast<double>(places) / static_cast<double>(elements);
}

}  // namespace

RowLengthStats row_length_stats(const CsrView<double>& matrix) {
  RowLengthStats stats{
      .num_rows = matrix.num_rows, .num_cols = matrix.num_cols, .num_nonzeros = matrix.num_nonzeros()};
  if (matrix.num_rows == 0) return stats;
  const auto rows = static_cast<double>(matrix.num_rows);
  stats.mean = static_cast<double>(stats.num_nonzeros) / rows;
  double squares = 0, usual_rows = 0, usual_sum = 0, usual_squares = 0;
  for (std::uint64_t row = 0; row < matrix.num_rows; ++row) {
    const std::uint64_t length = matrix.row_offsets[row + 1] - matrix.row_offsets[row];
    const auto size = static_cast<double>(length);
    squares += (size - stats.mean) * (size - stats.mean);
    stats.longest = std::max(stats.longest, length);
    if (length > 0) ++stats.num_filled;
    if (size > kPowerLaw * stats.mean) continue;
    ++usual_rows;
    usual_sum += size;
    usual_squares += size * size;
  }
  stats.deviation = std::sqrt(squares / rows);
  if (usual_sum > 0) {
    const double mean = usual_sum / usual_rows;
    stats.usual_deviation = std::sqrt(std::max(0.0, usual_squares / usual_rows - mean * mean)) / mean;
  }
  return stats;
}

MatrixFacts matrix_facts(const CsrView<double>& matrix) {
  MatrixFacts facts{.lengths = row_length_stats(matrix), .has_values = matrix.values != nullptr};
  if (facts.lengths.num_nonzeros == 0) return facts;
  facts.num_diagonals = count_diagonals(matrix);
  facts.scatter = measure_scatter(matrix);
  return facts;
}

std::vector<std::string> likely_forms(const MatrixFacts& facts, bool on_device) {
  constexpr double kEven = 4, kBounded = 12, kUnbounded = 30, kShortMean = 8, kLongMean = 1'000;
  constexpr double kAlmostEqual = 2, kScattered = 0.7;
  const RowLengthStats& a = facts.lengths;
  if (a.num_nonzeros == 0) return {"csr-vector"};
  const double unevenness = over_mean(a);
  if (!on_device) {
    std::vector<std::string> forms{"csr-adaptive", "csr-balanced", "csr-vector", "tile-composite"};
    if (unevenness <= kBounded) forms.insert(forms.end(), {"ellpack-r", "sell"});
    return forms;
  }
  const bool is_small = a.num_nonzeros < kSmallNonzeros, is_large = a.num_nonzeros >= kLargeNonzeros / 2;
  std::vector<std::string> forms{"csr-ell", "csr-vector", "csr-half-warp"};
  if (unevenness <= kUnbounded) forms.emplace_back("csr-adaptive");
  if (unevenness <= kAlmostEqual && a.mean <= kShortMean) forms.emplace_back("csr-scalar");
  if (unevenness <= kBounded && !is_small) forms.emplace_back("sell");
  if (has_full_diagonals(facts) && !is_small) forms.emplace_back("dia");
  if (unevenness > kEven || a.num_rows < kFewRows) forms.emplace_back("coo");
  if (!is_large) return forms;
  if (unevenness > kUnbounded) forms.emplace_back("tile-coo");
  if (unevenness > kUnbounded || facts.scatter > kScattered || a.mean > kLongMean)
    forms.emplace_back("tile-messages");
  return forms;
}

std::string choose_form(const MatrixFacts& facts, bool on_device, bool in_f64) {
  constexpr double kBounded = 4;
  const RowLengthStats& a = facts.lengths;
  if (a.num_nonzeros == 0) return "csr-vector";
  if (!on_device) return over_mean(a) <= kBounded ? "sell" : "csr-balanced";
  return a.num_nonzeros < kSmallNonzeros ? choose_small(a) : choose_large(facts, in_f64);
}

}  // namespace tessera
