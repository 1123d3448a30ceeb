// Bitonic partitioning (paper 3.2): a stable counting sort by length, then rounds dealt to and fro.
#include "partition/row_partition.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

constexpr int kDigitBits = 11;

/// Row numbers by descending length; equal lengths keep the order of the rows.
std::vector<VertexId> longest_first(std::span<const std::uint64_t> lengths) {
  std::vector<VertexId> order(lengths.size()), next(lengths.size());
  std::iota(order.begin(), order.end(), VertexId{0});
  const std::uint64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  for (int shift = 0; shift < static_cast<int>(std::bit_width(longest)); shift += kDigitBits) {
    constexpr std::uint64_t kMask = (1u << kDigitBits) - 1;
    std::array<std::uint64_t, kMask + 1> position{};
    auto digit = [&](VertexId row) { return kMask - ((lengths[row] >> shift) & kMask); };
    for (VertexId row : order) ++position[digit(row)];
    std::exclusive_scan(position.begin(), position.end(), position.begin(), std::uint64_t{0});
    for (VertexId row : order) next[position[digit(row)]++] = row;
    order.swap(next);
  }
  return order;
}

}  // namespace

RowPartition bitonic_partition(std::span<const std::uint64_t> row_lengths, int num_ranks) {
  require(num_ranks > 0, "bitonic_partition: no ranks");
  RowPartition partition;
  partition.rows.resize(num_ranks);
  if (num_ranks == 1) {
    partition.rows[0].resize(row_lengths.size());
    std::iota(partition.rows[0].begin(), partition.rows[0].end(), VertexId{0});
    return partition;
  }
  const std::vector<VertexId> order = longest_first(row_lengths);
  std::vector<std::uint32_t> owner(order.size());
  const std::uint64_t ranks = num_ranks;
  for (std::uint64_t i = 0; i < order.size(); ++i) {
    const std::uint64_t round = i / ranks, place = i % ranks;
    owner[order[i]] = static_cast<std::uint32_t>(round % 2 == 0 ? place : ranks - 1 - place);
  }
  for (auto& rows : partition.rows) rows.reserve(ceil_div<std::uint64_t>(order.size(), ranks));
  for (std::uint64_t row = 0; row < owner.size(); ++row)
    partition.rows[owner[row]].push_back(static_cast<VertexId>(row));
  return partition;
}

PartitionBalance partition_balance(const RowPartition& partition,
                                   std::span<const std::uint64_t> row_lengths) {
  std::uint64_t most_rows = 0, most_nonzeros = 0, all_rows = 0, all_nonzeros = 0;
  for (const auto& rows : partition.rows) {
    std::uint64_t nonzeros = 0;
    for (VertexId row : rows) nonzeros += row_lengths[row];
    most_rows = std::max<std::uint64_t>(most_rows, rows.size());
    most_nonzeros = std::max(most_nonzeros, nonzeros);
    all_rows += rows.size();
    all_nonzeros += nonzeros;
  }
  const auto ranks = static_cast<double>(partition.rows.size());
  auto imbalance = [&](std::uint64_t most, std::uint64_t all) {
    return all == 0 ? 1.0 : static_cast<double>(most) * ranks / static_cast<double>(all);
  };
  return {imbalance(most_rows, all_rows), imbalance(most_nonzeros, all_nonzeros)};
}

}  // namespace tessera
