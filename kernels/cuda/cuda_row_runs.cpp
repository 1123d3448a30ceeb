#include "kernels/cuda/cuda_row_runs.hpp"

#include <algorithm>

namespace tessera::cuda {
namespace {

/// Groups that a multiprocessor should have, if there are elements for so many: twice as many as it runs of
/// 32 threads at a time.
constexpr std::uint64_t kRunsEach = 64;
constexpr std::uint64_t kFewestElements = 32, kMostElements = kSumChunk, kMostElementsInFours = 2 * kSumChunk;
constexpr VertexId kMostRows = 32;

/// Rows of more than most_whole elements, the longest first: each as many runs as num_chunks(length) says.
template <class Count>
void deal_long_rows(std::span<const EdgeOffset> row_offsets, EdgeOffset most_whole, const Count& num_chunks,
                    RunDeal& deal) {
  const auto length = [&](VertexId row) { return row_offsets[row + 1] - row_offsets[row]; };
  std::vector<VertexId> long_rows;
  for (VertexId row = 0; row + 1 < row_offsets.size(); ++row)
    if (length(row) > most_whole) long_rows.push_back(row);
  std::stable_sort(long_rows.begin(), long_rows.end(),
                   [&](VertexId a, VertexId b) { return length(a) > length(b); });
  for (const VertexId row : long_rows) {
    const std::uint32_t count = num_chunks(length(row));
    if (count == 1) {
      deal.runs.push_back({.first_row = row, .end_row = row + 1});
      continue;
    }
    const auto which = static_cast<std::uint32_t>(deal.cut_rows.size());
    for (std::uint32_t chunk = 0; chunk < count; ++chunk) deal.runs.push_back({row, row + 1, chunk, which});
    deal.cut_rows.push_back({static_cast<std::uint32_t>(deal.num_sums), count});
    deal.num_sums += count;
  }
}

/// Rows of 1 to most_whole elements: runs of rows_at_once of them, or of more in multiples of that while they
/// have up to most_of_run elements (of small matrices fewer, so that there are enough runs). Fewer before
/// other rows and at the end.
void deal_whole_rows(std::span<const EdgeOffset> row_offsets, EdgeOffset most_whole, EdgeOffset most_of_run,
                     VertexId rows_at_once, unsigned num_multiprocessors, RunDeal& deal) {
  const EdgeOffset most =
      std::clamp((row_offsets.back() - row_offsets.front()) / (kRunsEach * num_multiprocessors),
                 kFewestElements, most_of_run);
  const auto num_rows = static_cast<VertexId>(row_offsets.size() - 1);
  const auto is_whole = [&](VertexId row) {
    const EdgeOffset length = row_offsets[row + 1] - row_offsets[row];
    return length > 0 && length <= most_whole;
  };
  for (VertexId row = 0; row < num_rows;) {
    const VertexId first = row++;
    if (!is_whole(first)) continue;
    while (row < num_rows && row - first < kMostRows && is_whole(row) &&
           (row - first < rows_at_once || row_offsets[row + 1] - row_offsets[first] <= most))
      ++row;
    if (row - first > rows_at_once) row -= (row - first) % rows_at_once;
    deal.runs.push_back({.first_row = first, .end_row = row});
  }
}

}  // namespace

RunDeal deal_runs(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors) {
  RunDeal deal;
  if (row_offsets.empty()) return deal;
  deal_long_rows(
      row_offsets, kMostOfRun,
      [](EdgeOffset length) { return static_cast<std::uint32_t>(ceil_div<EdgeOffset>(length, kSumChunk)); },
      deal);
  deal_whole_rows(row_offsets, kMostOfRun, kMostElements, 1, num_multiprocessors, deal);
  return deal;
}

RunDeal deal_runs_in_fours(std::span<const EdgeOffset> row_offsets, std::uint32_t most,
                           unsigned num_multiprocessors) {
  RunDeal deal;
  if (row_offsets.empty()) return deal;
  deal_long_rows(
      row_offsets, most, [&](EdgeOffset length) { return pieces_in_fours(length, most).num_runs; }, deal);
  deal_whole_rows(row_offsets, most, kMostElementsInFours, kFour, num_multiprocessors, deal);
  return deal;
}

}  // namespace tessera::cuda
