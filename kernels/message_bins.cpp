#include "kernels/message_bins.hpp"

#include <algorithm>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"

namespace tessera {
namespace {

struct PieceSizes {
  std::uint32_t least = ~std::uint32_t{0}, most = 0;
};
PieceSizes sizes_of(const std::vector<BinEdge>& edges) {
  PieceSizes sizes;
  for (std::size_t b = 0; b + 1 < edges.size(); ++b) {
    const std::uint32_t size = edges[b + 1].messages_before - edges[b].messages_before;
    sizes.least = std::min(sizes.least, size);
    sizes.most = std::max(sizes.most, size);
  }
  return sizes;
}

/// Pieces that are too large for a bin give their last rows, as many as one takes, to a piece behind them.
void split_too_large(std::vector<BinEdge>& edges, std::uint64_t most, const FindRows& find) {
  std::vector<std::uint32_t> targets;
  for (std::size_t b = 0; b + 1 < edges.size(); ++b)
    if (edges[b + 1].messages_before - edges[b].messages_before > most)
      targets.push_back(edges[b + 1].messages_before - static_cast<std::uint32_t>(most));
  for (const BinEdge& edge : find.of_targets(targets)) edges.push_back(edge);
  std::sort(edges.begin(), edges.end(), [](const BinEdge& a, const BinEdge& b) {
    return a.messages_before != b.messages_before ? a.messages_before < b.messages_before : a.row < b.row;
  });
}

/// Rows by equal parts of the messages, in order, from the first on, each small enough for a bin. Behind the
/// last lie no messages.
std::vector<BinEdge> cut_pieces(std::uint64_t num_pieces, std::uint64_t most, const FindRows& find) {
  std::vector<BinEdge> edges = find.of_parts(num_pieces);
  PieceSizes sizes = sizes_of(edges);
  if (sizes.least == 0) {  // a look at all is cheap beside moving them
    const auto end = std::unique(edges.begin(), edges.end(), [](const BinEdge& a, const BinEdge& b) {
      return a.messages_before == b.messages_before;
    });
    edges.erase(end, edges.end());
  }
  for (; sizes.most > most; sizes = sizes_of(edges)) split_too_large(edges, most, find);
  return edges;
}

/// Joins pieces that follow each other: up to `most_cost` in messages and rows, and most_messages.
class PieceJoiner {
 public:
  PieceJoiner(std::vector<BinEdge> pieces, const BinLimits& limits)
      : pieces_(std::move(pieces)), most_messages_(limits.most_messages) {
    if (limits.row_messages == 0) return;  // pieces cost their messages
    // Of very many rows, most without messages, some are enough: they are no reason to join all others.
    constexpr std::uint64_t kRowsOfMessage = 4;
    cost_before_.resize(pieces_.size());
    std::uint64_t* const cost_before = cost_before_.data();
    std::uint64_t cost = 0;  // not read back from what was just stored
    BinEdge last;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const BinEdge edge = pieces_[i];
      const std::uint64_t messages = edge.messages_before - last.messages_before;
      cost += messages +
              limits.row_messages * std::min<std::uint64_t>(edge.row - last.row, kRowsOfMessage * messages);
      cost_before[i] = cost;
      last = edge;
    }
  }
  /// Bins of about equal cost: up to num_bins, or as few as can be.
  std::vector<BinEdge> join_evenly(std::uint64_t num_bins) const {
    if (cost_before_.empty())
      return join_evenly(num_bins,
                         [&](std::size_t i) -> std::uint64_t { return pieces_[i].messages_before; });
    return join_evenly(num_bins, [&](std::size_t i) { return cost_before_[i]; });
  }

 private:
  template <class CostBefore>
  std::vector<BinEdge> join_evenly(std::uint64_t num_bins, const CostBefore& cost_before) const {
    const auto count_bins_of = [&](std::uint64_t most_cost) {
      std::uint64_t count = 0;
      each_bin_end(most_cost, cost_before, [&](std::size_t) { ++count; });
      return count;
    };
    const std::uint64_t cost = cost_before(pieces_.size() - 1);
    num_bins = std::max(num_bins, count_bins_of(cost));
    // The least cost above the mean that does, to a thousandth, which is not far from it.
    std::uint64_t low = cost / num_bins, step = low / 32 + 1;
    while (count_bins_of(low + step) > num_bins) {
      low += step;
      step *= 2;
    }
    std::uint64_t high = low + step;
    while (high - low > 1 + low / 1024) {
      const std::uint64_t middle = low + (high - low) / 2;
      (count_bins_of(middle) > num_bins ? low : high) = middle;
    }
    std::vector<BinEdge> edges = {pieces_.front()};
    edges.reserve(num_bins + 1);
    each_bin_end(high, cost_before, [&](std::size_t i) { edges.push_back(pieces_[i]); });
    return edges;
  }
  /// body(the piece behind it) of every bin of up to `most_cost`. Bins that follow each other have about as
  /// many pieces, so that the end of each is looked for from there.
  template <class CostBefore, class Body>
  void each_bin_end(std::uint64_t most_cost, const CostBefore& cost_before, const Body& body) const {
    const std::size_t num_pieces = pieces_.size() - 1;
    for (std::size_t first = 0, end = 0, usual = 1; first < num_pieces; usual = end - first, first = end) {
      const std::uint64_t up_to_messages = pieces_[first].messages_before + most_messages_,
                          up_to_cost = cost_before(first) + most_cost;
      const auto fits = [&](std::size_t piece) {
        return pieces_[piece].messages_before <= up_to_messages && cost_before(piece) <= up_to_cost;
      };
      end = std::min(first + usual, num_pieces);
      while (end < num_pieces && fits(end + 1)) ++end;
      while (end > first + 1 && !fits(end)) --end;
      body(end);
    }
  }

  std::vector<BinEdge> pieces_;
  std::uint64_t most_messages_;
  std::vector<std::uint64_t> cost_before_;  // of each piece, and of all; none: messages alone
};

}  // namespace

void check(const BinLimits& limits) {
  require(limits.at_once > 0 && limits.least_messages > 0, "bins have limits");
  require(limits.most_messages > 0 && limits.most_messages <= 65535, "a bin has at most 65,535 messages");
}

std::vector<BinEdge> cut_bins(std::uint64_t num_rows, std::uint32_t num_messages, std::uint64_t longest_row,
                              const FindRows& find, const BinLimits& limits) {
  check(limits);
  std::uint64_t num_bins = count_bins(num_messages, limits);
  if (longest_row > limits.most_messages)
    throw ResourceError("a row has elements in " + std::to_string(longest_row) + " tiles, expected at most " +
                        std::to_string(limits.most_messages) + "; use --kernel csr");
  if (num_messages == 0) return {{}, {static_cast<VertexId>(num_rows), 0}};
  // Long rows leave bins with room to spare. A few bins more are taken; for many more there are more, and so
  // smaller, pieces: with a piece of one message a bin is as full as its rows allow.
  for (;;) {
    const PieceJoiner joiner(cut_pieces(num_bins * kPiecesOfBin, limits.most_messages, find), limits);
    std::vector<BinEdge> edges = joiner.join_evenly(num_bins);
    if (edges.size() - 1 <= num_bins + std::max<std::uint64_t>(1, num_bins / 16)) {
      edges.back() = {static_cast<VertexId>(num_rows), num_messages};
      return edges;
    }
    num_bins += std::max<std::uint64_t>(1, num_bins / 16);
    if (num_bins > limits.at_once) num_bins = round_up<std::uint64_t>(num_bins, limits.at_once);
  }
}

std::vector<std::uint64_t> cut_bins(std::span<const std::uint32_t> messages_before, const BinLimits& limits) {
  require(!messages_before.empty(), "there is an end");
  std::uint64_t longest_row = 0;
  for (std::size_t row = 0; row + 1 < messages_before.size(); ++row)
    longest_row = std::max<std::uint64_t>(longest_row, messages_before[row + 1] - messages_before[row]);
  const std::uint32_t num_messages = messages_before.back();
  const auto edge_of = [&](std::uint32_t target) -> BinEdge {
    const auto row = std::lower_bound(messages_before.begin(), messages_before.end(), target);
    return {static_cast<VertexId>(row - messages_before.begin()), *row};
  };
  const FindRows find{.of_targets =
                          [&](std::span<const std::uint32_t> targets) {
                            std::vector<BinEdge> edges;
                            for (const std::uint32_t target : targets) edges.push_back(edge_of(target));
                            return edges;
                          },
                      .of_parts =
                          [&](std::uint64_t num_parts) {
                            std::vector<BinEdge> edges;
                            for (std::uint64_t i = 0; i <= num_parts; ++i)
                              edges.push_back(edge_of(end_of_part(i, num_parts, num_messages)));
                            return edges;
                          }};
  std::vector<std::uint64_t> rows;
  for (const BinEdge& edge : cut_bins(messages_before.size() - 1, num_messages, longest_row, find, limits))
    rows.push_back(edge.row);
  return rows;
}

}  // namespace tessera
