#include "kernels/message_bins.hpp"

#include <algorithm>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"

namespace tessera {
namespace {

/// Rows by equal shares of the messages; bins without any are left out.
std::vector<BinEdge> share_out(std::uint64_t num_bins, const BinEdge& end, const FindRows& find) {
  std::vector<std::uint32_t> targets;
  for (std::uint64_t b = 1; b < num_bins; ++b)
    targets.push_back(static_cast<std::uint32_t>(b * end.messages_before / num_bins));
  std::vector<BinEdge> edges = {{}};
  for (const BinEdge& edge : find(targets))
    if (edge.messages_before > edges.back().messages_before && edge.messages_before < end.messages_before)
      edges.push_back(edge);
  edges.push_back(end);
  return edges;
}

std::uint64_t count_too_large(const std::vector<BinEdge>& edges, std::uint64_t most) {
  std::uint64_t count = 0;
  for (std::size_t b = 0; b + 1 < edges.size(); ++b)
    count += edges[b + 1].messages_before - edges[b].messages_before > most ? 1 : 0;
  return count;
}

/// Bins that are too large give their last rows, as many as a bin takes, to one behind them.
std::vector<BinEdge> split_too_large(std::vector<BinEdge> edges, std::uint64_t most, const FindRows& find) {
  while (count_too_large(edges, most) > 0) {
    std::vector<std::uint32_t> targets;
    for (std::size_t b = 0; b + 1 < edges.size(); ++b)
      if (edges[b + 1].messages_before - edges[b].messages_before > most)
        targets.push_back(static_cast<std::uint32_t>(edges[b + 1].messages_before - most));
    for (const BinEdge& edge : find(targets)) edges.push_back(edge);
    std::sort(edges.begin(), edges.end(), [](const BinEdge& a, const BinEdge& b) {
      return a.messages_before != b.messages_before ? a.messages_before < b.messages_before : a.row < b.row;
    });
  }
  return edges;
}

}  // namespace

std::vector<BinEdge> cut_bins(std::uint64_t num_rows, std::uint32_t num_messages, std::uint64_t longest_row,
                              const FindRows& find, const BinLimits& limits) {
  require(limits.at_once > 0 && limits.least_messages > 0, "bins have limits");
  require(limits.most_messages > 0 && limits.most_messages <= 65535, "a bin has at most 65,535 messages");
  if (longest_row > limits.most_messages)
    throw ResourceError("a row has elements in " + std::to_string(longest_row) + " tiles, expected at most " +
                        std::to_string(limits.most_messages) + "; use --kernel csr");
  const std::uint64_t fewest =
      std::max<std::uint64_t>(1, ceil_div<std::uint64_t>(num_messages, limits.most_messages));
  const auto in_whole_rounds = [&](std::uint64_t bins) {
    return ceil_div<std::uint64_t>(bins, limits.at_once) * limits.at_once;
  };
  std::uint64_t num_bins = std::min(in_whole_rounds(fewest),
                                    std::max<std::uint64_t>(fewest, num_messages / limits.least_messages));
  // Whole rows exceed a share by up to a row. Few bins that are too large for that are split; for many there
  // are more bins: with a share of one message a bin is one row.
  for (;;) {
    std::vector<BinEdge> edges = share_out(num_bins, {num_rows, num_messages}, find);
    if (count_too_large(edges, limits.most_messages) <= std::max<std::uint64_t>(1, num_bins / 16))
      return split_too_large(std::move(edges), limits.most_messages, find);
    num_bins += std::max<std::uint64_t>(1, num_bins / 16);
    if (num_bins > limits.at_once) num_bins = in_whole_rounds(num_bins);
  }
}

std::vector<std::uint64_t> cut_bins(std::span<const std::uint32_t> messages_before, const BinLimits& limits) {
  require(!messages_before.empty(), "there is an end");
  std::uint64_t longest_row = 0;
  for (std::size_t row = 0; row + 1 < messages_before.size(); ++row)
    longest_row = std::max<std::uint64_t>(longest_row, messages_before[row + 1] - messages_before[row]);
  const FindRows find = [&](std::span<const std::uint32_t> targets) {
    std::vector<BinEdge> edges;
    for (const std::uint32_t target : targets) {
      const auto row = std::lower_bound(messages_before.begin(), messages_before.end(), target);
      edges.push_back({static_cast<std::uint64_t>(row - messages_before.begin()), *row});
    }
    return edges;
  };
  std::vector<std::uint64_t> rows;
  for (const BinEdge& edge :
       cut_bins(messages_before.size() - 1, messages_before.back(), longest_row, find, limits))
    rows.push_back(edge.row);
  return rows;
}

}  // namespace tessera
