#include "kernels/message_bins.hpp"

#include <algorithm>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"

namespace tessera {
namespace {

/// Rows go to a bin while they fit.
std::vector<std::uint64_t> filled_bins(std::span<const std::uint32_t> before, std::uint64_t capacity) {
  const std::uint64_t num_rows = before.size() - 1;
  std::vector<std::uint64_t> first_rows = {0};
  for (std::uint64_t row = 0; row < num_rows;) {
    const auto end = std::upper_bound(before.begin() + static_cast<std::ptrdiff_t>(row), before.end(),
                                      std::uint64_t{before[row]} + capacity);
    const auto next = static_cast<std::uint64_t>(end - before.begin()) - 1;
    if (next == row)
      throw ResourceError("a row has elements in " + std::to_string(before[row + 1] - before[row]) +
                          " tiles, expected at most " + std::to_string(capacity) + "; use --kernel csr");
    first_rows.push_back(row = next);
  }
  if (num_rows == 0) first_rows.push_back(0);
  return first_rows;
}

std::uint64_t longest_row(std::span<const std::uint32_t> before) {
  std::uint64_t longest = 0;
  for (std::size_t row = 0; row + 1 < before.size(); ++row)
    longest = std::max<std::uint64_t>(longest, before[row + 1] - before[row]);
  return longest;
}

}  // namespace

std::vector<std::uint64_t> cut_bins(std::span<const std::uint32_t> messages_before, const BinLimits& limits) {
  require(!messages_before.empty() && limits.at_once > 0 && limits.least_messages > 0, "bins have limits");
  require(limits.most_messages <= 65535, "a bin has at most 65,535 messages");
  std::vector<std::uint64_t> bins = filled_bins(messages_before, limits.most_messages);
  const std::uint64_t total = messages_before.back(), fewest = bins.size() - 1;
  const std::uint64_t whole_rounds = ceil_div<std::uint64_t>(fewest, limits.at_once) * limits.at_once;
  const std::uint64_t wanted = std::min(whole_rounds, std::max(fewest, total / limits.least_messages));
  // The least capacity that needs no more bins, found by halving.
  std::uint64_t low = std::max(ceil_div<std::uint64_t>(total, wanted), longest_row(messages_before));
  std::uint64_t high = limits.most_messages;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    std::vector<std::uint64_t> cut = filled_bins(messages_before, middle);
    if (cut.size() - 1 <= wanted) {
      high = middle;
      bins = std::move(cut);
    } else {
      low = middle + 1;
    }
  }
  return bins;
}

}  // namespace tessera
