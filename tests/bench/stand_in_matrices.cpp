#include "tests/bench/stand_in_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kernels/base/error.hpp"
#include "kernels/base/mix_bits.hpp"

namespace tessera::bench {
namespace {

/// Random numbers by counter.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix_bits(mix_bits(a) ^ b); }
/// In (0, 1).
double unit(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

/// A permutation of [0, count): neighbours end up far from each other.
std::uint64_t scattered(std::uint64_t i, std::uint64_t count) {
  constexpr std::uint64_t kPrime = 2654435761u;  // above every count here, so without a factor in common
  return i * kPrime % count;
}

double mean_length(const StandIn& s) {
  return static_cast<double>(s.num_nonzeros) / static_cast<double>(s.num_rows);
}
double longest_length(const StandIn& s) {
  return static_cast<double>(s.longest == 0 ? s.num_cols : std::min(s.longest, s.num_cols));
}

using RowLengths = std::vector<std::uint32_t>;

double mean_of(const RowLengths& lengths) {
  const auto sum = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  return static_cast<double>(sum) / static_cast<double>(lengths.size());
}

double deviation_of(const RowLengths& lengths, double mean) {
  double squares = 0;
  for (const std::uint32_t length : lengths) squares += (length - mean) * (length - mean);
  return std::sqrt(squares / static_cast<double>(lengths.size()));
}

/// One more or one less in rows all over the matrix, until the sum is right.
void correct_sum(RowLengths& lengths, std::uint64_t sum, std::uint32_t shortest, double longest) {
  const std::uint64_t n = lengths.size();
  require(n * shortest <= sum && static_cast<double>(sum) <= static_cast<double>(n) * longest,
          "rows of these lengths have as many non-zeros");
  auto missing = static_cast<std::int64_t>(sum) -
                 static_cast<std::int64_t>(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
  for (std::uint64_t k = 0; missing != 0; ++k) {
    std::uint32_t& length = lengths[scattered(k % n, n)];
    if (missing > 0 && length < longest) {
      ++length;
      --missing;
    } else if (missing < 0 && length > shortest) {
      --length;
      ++missing;
    }
  }
}

RowLengths normal_lengths(const StandIn& s, std::uint64_t seed) {
  const double mean = mean_length(s), longest = longest_length(s);
  std::vector<double> normal(s.num_rows);
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < s.num_rows; ++row)
    normal[row] = std::sqrt(-2 * std::log(unit(mix(seed, 2 * row)))) *
                  std::cos(2 * std::numbers::pi * unit(mix(seed, 2 * row + 1)));
  RowLengths lengths(s.num_rows);
  // The limits take something from both tails; what is left has to have the moments.
  constexpr int kMostRounds = 60;
  constexpr double kClose = 0.01;
  double centre = mean, width = s.deviation;
  for (int round = 0; round < kMostRounds; ++round) {
    for (std::uint64_t row = 0; row < s.num_rows; ++row)
      lengths[row] =
          static_cast<std::uint32_t>(std::clamp(std::round(centre + width * normal[row]), 1.0, longest));
    const double found_mean = mean_of(lengths), found = deviation_of(lengths, found_mean);
    if (std::abs(found_mean - mean) <= kClose / 10 * mean &&
        std::abs(found - s.deviation) <= kClose * s.deviation)
      break;
    centre += mean - found_mean;
    if (found > 0) width *= s.deviation / found;
  }
  // One row decides how much ELLPACK pads; a normal distribution seldom goes that far.
  lengths[s.num_rows / 2] = static_cast<std::uint32_t>(longest);
  correct_sum(lengths, s.num_nonzeros, 1, longest);
  return lengths;
}

RowLengths power_lengths(const StandIn& s, std::uint64_t seed) {
  const double longest = longest_length(s);
  std::vector<double> weight(s.num_rows), remainder(s.num_rows);
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < s.num_rows; ++row) {
    weight[row] = std::pow(1.0 + static_cast<double>(scattered(row, s.num_rows)), -s.steepness);
    remainder[row] = unit(mix(seed, row));
  }
  RowLengths lengths(s.num_rows);
  double low = 0, high = longest * std::pow(static_cast<double>(s.num_rows), s.steepness);
  constexpr int kHalvings = 50;
  for (int step = 0; step < kHalvings; ++step) {
    const double factor = (low + high) / 2;
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::uint64_t row = 0; row < s.num_rows; ++row) {
      // Rounded up or down at random: also means below 1 have their share of rows.
      lengths[row] =
          static_cast<std::uint32_t>(std::min(longest, std::floor(factor * weight[row] + remainder[row])));
      sum += lengths[row];
    }
    (sum < s.num_nonzeros ? low : high) = factor;
  }
  correct_sum(lengths, s.num_nonzeros, 0, longest);
  return lengths;
}

RowLengths quarter_lengths(const StandIn& s, std::uint64_t seed) {
  const std::uint64_t quarter = static_cast<std::uint64_t>(longest_length(s)) / 4;
  require(quarter > 0, "rows have quarters");
  RowLengths lengths(s.num_rows);
  for (std::uint64_t row = 0; row < s.num_rows; ++row) {
    const double share = unit(mix(seed, 2 * row));
    const std::uint64_t draw = mix(seed, 2 * row + 1);
    std::uint64_t length = quarter + 1 + draw % (2 * quarter);
    if (share < s.short_share) length = 1 + draw % quarter;
    if (share >= 1 - s.long_share) length = 3 * quarter + 1 + draw % quarter;
    lengths[row] = static_cast<std::uint32_t>(length);
  }
  return lengths;
}

/// `length` columns of [first, first + width), ascending: in runs, one run in each of equal parts.
void spread_columns(std::uint64_t first, std::uint64_t width, std::uint64_t length, std::uint64_t run,
                    std::uint64_t key, VertexId* columns) {
  const std::uint64_t num_runs = ceil_div(length, run);
  for (std::uint64_t r = 0, k = 0; r < num_runs; ++r) {
    const std::uint64_t begin = r * width / num_runs, end = (r + 1) * width / num_runs;
    const std::uint64_t size = std::min(run, length - k);
    std::uint64_t column = first + begin + mix(key, r) % (end - begin - size + 1);
    for (std::uint64_t i = 0; i < size; ++i) columns[k++] = static_cast<VertexId>(column++);
  }
}

void band_columns(const StandIn& s, std::uint64_t row, std::uint64_t length, std::uint64_t seed,
                  VertexId* columns) {
  std::uint64_t run = s.run;
  if (round_up(length, run) > s.num_cols) run = 1;
  const auto wanted = static_cast<std::uint64_t>(s.reach * static_cast<double>(length));
  const std::uint64_t width = std::clamp(wanted, round_up(length, run), s.num_cols);
  const auto middle = static_cast<std::uint64_t>(static_cast<double>(row) * static_cast<double>(s.num_cols) /
                                                 static_cast<double>(s.num_rows));
  const std::uint64_t first = std::min(middle - std::min(middle, width / 2), s.num_cols - width);
  // Rows of one node have neighbours in common.
  spread_columns(first, width, length, run, mix(seed, row / s.run), columns);
}

void skewed_columns(const StandIn& s, std::uint64_t length, std::uint64_t key, VertexId* columns) {
  VertexId* const end = columns + length;
  std::uint64_t draws = 0;
  for (VertexId* kept = columns; kept != end;) {
    for (; kept != end; ++kept, ++draws) {
      const double place = std::pow(unit(mix(key, draws)), s.skew) * static_cast<double>(s.num_cols);
      *kept = static_cast<VertexId>(scattered(static_cast<std::uint64_t>(place), s.num_cols));
    }
    std::sort(columns, end);
    kept = std::unique(columns, end);
  }
}

void fill_row(const StandIn& s, std::uint64_t row, std::uint64_t length, std::uint64_t seed,
              VertexId* columns) {
  if (length == 0) return;
  switch (s.places) {
    case Places::band:
      return band_columns(s, row, length, seed, columns);
    case Places::uniform:
      return spread_columns(0, s.num_cols, length, 1, mix(seed, row), columns);
    case Places::skewed:
      return skewed_columns(s, length, mix(seed, row), columns);
  }
}

}  // namespace

StandIn scaled(StandIn s, std::uint64_t shrink) {
  const bool full = s.num_nonzeros == s.num_rows * s.num_cols;
  const std::uint64_t factor = s.scaled_by * shrink;
  const double mean = mean_length(s);
  s.num_rows = ceil_div(s.num_rows, factor);
  // A row stays far from full, so that columns can be chosen at random.
  constexpr std::uint64_t kLeastShare = 4;
  const auto mean_up = static_cast<std::uint64_t>(std::ceil(mean));
  s.num_cols = std::min(s.num_cols, std::max(ceil_div(s.num_cols, factor), kLeastShare * mean_up));
  if (s.places == Places::skewed) s.longest = std::min(s.longest, s.num_cols / kLeastShare);
  s.num_nonzeros = static_cast<std::uint64_t>(std::llround(mean * static_cast<double>(s.num_rows)));
  if (full) {
    s.num_cols = s.num_rows;
    s.num_nonzeros = s.num_rows * s.num_cols;
  }
  s.scaled_by = 1;
  return s;
}

std::vector<std::uint32_t> row_lengths(const StandIn& s, std::uint64_t seed) {
  switch (s.lengths) {
    case Lengths::normal:
      return normal_lengths(s, seed);
    case Lengths::power:
      return power_lengths(s, seed);
    case Lengths::quarters:
      return quarter_lengths(s, seed);
  }
  return {};
}

SparseMatrix generate(const StandIn& s, std::uint64_t seed) {
  const RowLengths lengths = row_lengths(s, mix(seed, 1));
  SparseMatrix matrix;
  matrix.num_rows = s.num_rows;
  matrix.num_cols = s.num_cols;
  matrix.row_offsets = Buffer<EdgeOffset>(s.num_rows + 1);
  matrix.row_offsets[0] = 0;
  for (std::uint64_t row = 0; row < s.num_rows; ++row)
    matrix.row_offsets[row + 1] = matrix.row_offsets[row] + lengths[row];
  const EdgeOffset size = matrix.row_offsets[s.num_rows];
  matrix.col_indices = Buffer<VertexId>(size);
  matrix.values = Buffer<double>(size);
#pragma omp parallel for schedule(dynamic, 256)
  for (std::uint64_t row = 0; row < s.num_rows; ++row) {
    const EdgeOffset first = matrix.row_offsets[row];
    fill_row(s, row, lengths[row], mix(seed, 2), matrix.col_indices.data() + first);
    for (EdgeOffset k = first; k < first + lengths[row]; ++k)
      matrix.values[k] = 0.25 + static_cast<double>(mix_bits(k) % 7) / 4;
  }
  return matrix;
}

}  // namespace tessera::bench
