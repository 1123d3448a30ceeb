#include "kernels/cuda/cuda_row_runs.hpp"

#include <algorithm>

namespace tessera::cuda {
namespace {

/// Groups that a multiprocessor should have, if there are elements for so many: twice as many as it runs of
/// 32 threads at a time.
constexpr std::uint64_t kRunsEach = 64;
constexpr std::uint64_t kFewestElements = 32, kMostElements = kSumChunk;
constexpr VertexId kMostRows = 32;

}  // namespace

RunDeal deal_runs(std::span<const EdgeOffset> row_offsets, unsigned num_multiprocessors) {
  RunDeal deal;
  if (row_offsets.empty()) return deal;
  const auto num_rows = static_cast<VertexId>(row_offsets.size() - 1);
  const auto length = [&](VertexId row) { return row_offsets[row + 1] - row_offsets[row]; };
  std::vector<VertexId> long_rows;
  for (VertexId row = 0; row < num_rows; ++row)
    if (length(row) > kMostOfRun) long_rows.push_back(row);
  std::stable_sort(long_rows.begin(), long_rows.end(),
                   [&](VertexId a, VertexId b) { return length(a) > length(b); });
  for (const VertexId row : long_rows) {
    const auto num_chunks = static_cast<std::uint32_t>(ceil_div<EdgeOffset>(length(row), kSumChunk));
    const auto which = static_cast<std::uint32_t>(deal.cut_rows.size());
    for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk)
      deal.runs.push_back({row, row + 1, chunk, which});
    deal.cut_rows.push_back({static_cast<std::uint32_t>(deal.num_sums), num_chunks});
    deal.num_sums += num_chunks;
  }

  const EdgeOffset most =
      std::clamp((row_offsets.back() - row_offsets.front()) / (kRunsEach * num_multiprocessors),
                 kFewestElements, kMostElements);
  for (VertexId row = 0; row < num_rows;) {
    const VertexId first = row;
    if (length(row) == 0 || length(row) > kMostOfRun) {
      ++row;
      continue;
    }
    const EdgeOffset begin = row_offsets[first];
    do ++row;
    while (row < num_rows && row - first < kMostRows && length(row) > 0 && length(row) <= kMostOfRun &&
           row_offsets[row + 1] - begin <= most);
    deal.runs.push_back({.first_row = first, .end_row = row});
  }
  return deal;
}

}  // namespace tessera::cuda
