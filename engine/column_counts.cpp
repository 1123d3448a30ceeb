#include "engine/column_counts.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "engine/column_sums.hpp"
#include "partition/bucket_placement.hpp"

namespace tessera {
namespace {

/// Threads have counters of their own for so many columns, where each counts an element for each of them.
constexpr std::uint64_t kMostOwnColumns = std::uint64_t{1} << 22;

constexpr std::uint64_t kRangeBits = 16, kRangeColumns = std::uint64_t{1} << kRangeBits;
constexpr std::uint64_t kBatch = std::uint64_t{1} << 26;

/// Elements of one range of columns, or some of them.
struct Piece {
  std::uint64_t range, first, end;
  bool is_whole;  ///< no other piece has elements of the range
};

/// Ranges cut so that no thread has much more to do than others: hubs may lie in one range.
std::vector<Piece> pieces_of(const std::vector<std::uint64_t>& firsts) {
  const auto threads = static_cast<std::uint64_t>(std::max(1, omp_get_max_threads()));
  const std::uint64_t most = std::max(firsts.back() / (4 * threads), 4 * kRangeColumns);
  std::vector<Piece> pieces;
  for (std::uint64_t range = 0; range + 1 < firsts.size(); ++range) {
    const std::uint64_t end = firsts[range + 1];
    for (std::uint64_t first = firsts[range]; first < end; first += most)
      pieces.push_back({range, first, std::min(end, first + most), end - firsts[range] <= most});
  }
  return pieces;
}

/// places: of elements in a range, whose counters these are.
void count_piece(std::span<const std::uint16_t> places, bool is_whole, std::uint64_t* counts) {
  if (is_whole) {
    for (const std::uint16_t place : places) ++counts[place];
    return;
  }
  std::array<std::uint32_t, kRangeColumns> own{};  // a piece is less than a batch
  for (const std::uint16_t place : places) ++own[place];
  for (std::uint64_t i = 0; i < kRangeColumns; ++i)
    if (own[i] > 0) __atomic_fetch_add(counts + i, own[i], __ATOMIC_RELAXED);
}

/// Counters of very many columns fit no cache, and each element would move a line of memory to and fro. So
/// elements are put into ranges of columns first, a batch at a time, and those of a range counted together.
void count_by_ranges(std::span<const VertexId> columns, Buffer<std::uint64_t>& counts) {
  const auto num_columns = static_cast<std::int64_t>(counts.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t c = 0; c < num_columns; ++c) counts[c] = 0;
  Buffer<std::uint16_t> places(std::min<std::uint64_t>(columns.size(), kBatch));
  for (std::uint64_t done = 0; done < columns.size(); done += places.size()) {
    const auto batch = columns.subspan(done, std::min<std::uint64_t>(places.size(), columns.size() - done));
    const auto firsts = place_in_buckets(
        batch.size(), ceil_div<std::uint64_t>(counts.size(), kRangeColumns),
        [column = batch.data()](std::uint64_t i) { return column[i] >> kRangeBits; },
        [column = batch.data(), place = places.data()](std::uint64_t at, std::uint64_t i) {
          place[at] = static_cast<std::uint16_t>(column[i]);
        });
    const std::vector<Piece> pieces = pieces_of(firsts);
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const Piece& piece = pieces[p];
      count_piece(std::as_const(places).span().subspan(piece.first, piece.end - piece.first), piece.is_whole,
                  counts.data() + piece.range * kRangeColumns);
    }
  }
}

}  // namespace

Buffer<std::uint64_t> column_counts(std::span<const VertexId> columns, std::uint64_t num_columns) {
  Buffer<std::uint64_t> counts(num_columns);
  if (num_columns > kMostOwnColumns || columns.size() > std::numeric_limits<std::uint32_t>::max()) {
    count_by_ranges(columns, counts);
    return counts;
  }
  const auto small =
      sums_by_column<std::uint32_t>(columns, num_columns, [](std::uint32_t& sum, std::uint64_t) { ++sum; });
  const auto count = static_cast<std::int64_t>(num_columns);
#pragma omp parallel for
  for (std::int64_t c = 0; c < count; ++c) counts[c] = small[c];
  return counts;
}

}  // namespace tessera
