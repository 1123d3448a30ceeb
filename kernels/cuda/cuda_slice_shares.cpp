#include "kernels/cuda/cuda_slice_shares.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>
#include <span>

#include "kernels/base/error.hpp"

namespace tessera::cuda {
namespace {

/// The parts of the work that rounds of blocks take, for one round or more.
constexpr std::array<std::array<double, 4>, 4> kRounds = {
    {{1}, {0.86, 0.14}, {0.72, 0.21, 0.07}, {0.55, 0.27, 0.13, 0.05}}};
/// From so many steps a block on, times the bytes of an input, a second round is worth the windows that it
/// loads, a third, a fourth.
constexpr std::array<double, 3> kStepsOfRounds = {80e3, 190e3, 440e3};
/// From so many windows a block on, a second round loads few of them again.
constexpr std::uint64_t kWindowsOfRounds = 4;

/// In steps of a warp: words of 32 rows.
double cost_of(const Slice& s, const SliceCosts& costs) {
  const double lanes = costs.lanes * words_of(s) / kSliceLanes;
  if (is_joint(s)) return costs.slice + costs.joint_row + costs.word * s.num_words + lanes;
  const double more = is_single(s) ? costs.single_rows : 0, words = is_single(s) ? 1 : s.num_words;
  return costs.slice + blocks_of(s) * (costs.word * words + more) + lanes;
}

constexpr double kStepBytes = 128;  // what moves in the time of a step
/// Of loading a window, in steps.
double cost_of(const Window& window, std::uint32_t input_bytes) {
  return window.size * input_bytes / kStepBytes;
}

class Dealer {
 public:
  Dealer(const PassOutline& pass, unsigned num_warps, std::uint32_t input_bytes)
      : pass_(pass),
        first_slice_(pass.first_window == pass.end_window ? 0 : pass.windows[pass.first_window].first_slice),
        num_warps_(num_warps),
        input_bytes_(input_bytes),
        cost_before_{0} {
    const std::uint64_t end_slice =
        pass.first_window == pass.end_window ? 0 : pass.windows[pass.end_window].first_slice;
    cost_before_.reserve(end_slice - first_slice_ + 1);
    for (std::uint64_t i = first_slice_; i < end_slice; ++i)
      cost_before_.push_back(cost_before_.back() + cost_of(pass.slices[i], pass.costs));
    for (std::uint64_t w = pass.first_window; w < pass.end_window; ++w) {
      largest_blocks_.push_back(0);
      for (std::uint64_t i = pass.windows[w].first_slice; i < pass.windows[w + 1].first_slice; ++i)
        largest_blocks_.back() = std::max(largest_blocks_.back(), cost(i, i + 1) / blocks_of(pass.slices[i]));
    }
  }

  /// Runs of slices to block after block; a block of round r costs about parts[r] * scale at most, if a slice
  /// and its window cost no more. Each round has `at_once` blocks, the last the rest.
  BlockShares deal(double scale, std::span<const double> parts, std::uint32_t at_once) const {
    constexpr double kLeastPart = 0.125;  // of a block's cost: a smaller rest of it stays idle
    BlockShares result;
    result.first_of_block.push_back(0);
    double done = 0;
    const auto end_block = [&] {
      result.first_of_block.push_back(static_cast<std::uint32_t>(result.shares.size()));
      done = 0;
    };
    for (std::uint64_t w = pass_.first_window; w < pass_.end_window; ++w) {
      const std::uint64_t end = pass_.windows[w + 1].first_slice;
      const double load = load_of(w);
      for (std::uint64_t from = pass_.windows[w].first_slice; from < end;) {
        const std::size_t round = std::min<std::size_t>(parts.size() - 1, result.num_blocks() / at_once);
        const double most = scale * parts[round], least = most * kLeastPart, rest = cost(from, end);
        const double room = most - done - load;
        if (done > 0 && room < std::max(std::min(rest, least), slowest_warp(w))) {
          end_block();
          continue;
        }
        const std::uint64_t to =
            rest <= room ? end
                         : std::clamp(first_at(cost_before(from) + std::max(room, least)), from + 1, end);
        add_share(w, from, to, result);
        done += load + std::max(cost(from, to), slowest_warp(w));
        if (rest > room) end_block();
        from = to;
      }
    }
    if (result.first_of_block.back() < result.shares.size()) end_block();
    return result;
  }

  /// Whole windows, each to the block of num_blocks that has least to do; `more`: cost of each beside its
  /// own.
  BlockShares deal_whole(std::uint32_t num_blocks, const std::vector<double>& more) const {
    struct Task {
      double cost;
      std::uint64_t number;  // of a window, or of a block
      bool operator>(const Task& other) const { return cost > other.cost; }
    };
    std::vector<Task> windows;
    for (std::uint64_t w = pass_.first_window; w < pass_.end_window; ++w) {
      const std::uint64_t first = pass_.windows[w].first_slice, end = pass_.windows[w + 1].first_slice;
      if (first < end)
        windows.push_back(
            {cost_of(pass_.windows[w], input_bytes_) + cost(first, end) + more[w - pass_.first_window], w});
    }
    std::stable_sort(windows.begin(), windows.end(), std::greater<>());
    num_blocks = std::min(num_blocks, static_cast<std::uint32_t>(windows.size()));
    std::vector<std::vector<std::uint64_t>> of_block(num_blocks);
    std::priority_queue<Task, std::vector<Task>, std::greater<>> least;
    for (std::uint32_t b = 0; b < num_blocks; ++b) least.push({0, b});
    for (const Task& window : windows) {
      const Task block = least.top();
      least.pop();
      of_block[block.number].push_back(window.number);
      least.push({block.cost + window.cost, block.number});
    }
    BlockShares result;
    result.first_of_block.push_back(0);
    for (const std::vector<std::uint64_t>& own : of_block) {
      for (const std::uint64_t w : own)
        add_share(w, pass_.windows[w].first_slice, pass_.windows[w + 1].first_slice, result);
      result.first_of_block.push_back(static_cast<std::uint32_t>(result.shares.size()));
    }
    return result;
  }

  std::uint64_t num_windows() const { return pass_.end_window - pass_.first_window; }
  double total() const {
    double sum = cost_before_.back();
    for (std::uint64_t w = pass_.first_window; w < pass_.end_window; ++w)
      if (pass_.windows[w].first_slice < pass_.windows[w + 1].first_slice) sum += load_of(w);
    return sum;
  }

  /// The least scale with which there are no more rounds than parts, found by halving.
  double least_scale(std::span<const double> parts, std::uint32_t at_once) const {
    const auto fits = [&](double scale) {
      return deal(scale, parts, at_once).num_blocks() <= parts.size() * at_once;
    };
    double low = total() / at_once, high = 2 * low + 1;
    while (!fits(high)) high *= 2;
    for (int i = 0; i < 12; ++i) {
      const double middle = (low + high) / 2;
      (fits(middle) ? high : low) = middle;
    }
    return high;
  }

  void split_among_warps(WindowShare& share) const {
    const double first = cost_before(share.first_slice[0]);
    const double each = (cost_before(share.first_slice[num_warps_]) - first) / num_warps_;
    for (unsigned warp = 1; warp < num_warps_; ++warp) begin_warp(share, warp, first + each * warp);
    for (unsigned warp = 0; warp <= num_warps_; ++warp) {
      const std::uint64_t i = share.first_slice[warp];
      share.first_word[warp] = pass_.num_words;
      if (i < pass_.num_slices) {
        const Slice& slice = pass_.slices[i];
        share.first_word[warp] = slice.first_word + share.first_block[warp] * words_of_block(slice);
      }
    }
  }

 private:
  /// The warp begins with the block of rows in which the work before it reaches `border`, or with the next.
  void begin_warp(WindowShare& share, unsigned warp, double border) const {
    std::uint64_t slice = first_at(border);
    std::uint32_t block = 0;
    if (slice > share.first_slice[0] && cost_before(slice) > border) {
      const Slice& cut = pass_.slices[--slice];
      const double part = (border - cost_before(slice)) / cost(slice, slice + 1);
      block = static_cast<std::uint32_t>(std::lround(part * blocks_of(cut)));
      if (block == blocks_of(cut)) {
        ++slice;
        block = 0;
      }
    }
    share.first_slice[warp] = std::min(slice, share.first_slice[num_warps_]);
    share.first_block[warp] = static_cast<std::uint8_t>(slice < share.first_slice[num_warps_] ? block : 0);
  }
  void add_share(std::uint64_t window, std::uint64_t first, std::uint64_t end, BlockShares& result) const {
    result.shares.push_back({.first_in = pass_.windows[window].first_in,
                             .size = pass_.windows[window].size,
                             .window = static_cast<std::uint32_t>(window)});
    result.shares.back().first_slice[0] = first;
    result.shares.back().first_slice[num_warps_] = end;
  }
  double cost_before(std::uint64_t slice) const { return cost_before_[slice - first_slice_]; }
  double cost(std::uint64_t first, std::uint64_t end) const { return cost_before(end) - cost_before(first); }
  /// Of a window that is one of few of its block: as measured. (With all of its bytes small windows are given
  /// too many slices.)
  double load_of(std::uint64_t window) const { return 0.5 * cost_of(pass_.windows[window], input_bytes_); }
  /// What all warps of a share of this window wait for, if one of them has its largest block of rows.
  double slowest_warp(std::uint64_t window) const {
    return num_warps_ * largest_blocks_[window - pass_.first_window];
  }
  /// The first slice that has at least this much before it.
  std::uint64_t first_at(double cost) const {
    return first_slice_ +
           static_cast<std::uint64_t>(std::lower_bound(cost_before_.begin(), cost_before_.end(), cost) -
                                      cost_before_.begin());
  }

  const PassOutline& pass_;
  const std::uint64_t first_slice_;
  const unsigned num_warps_;
  const std::uint32_t input_bytes_;
  std::vector<double> cost_before_;     // from first_slice_ on, and of all
  std::vector<double> largest_blocks_;  // of each window: the cost of its largest block of rows
};

}  // namespace

BlockShares share_slices(const PassOutline& pass, unsigned num_multiprocessors, unsigned num_warps,
                         std::uint32_t input_bytes) {
  require(num_multiprocessors > 0, "slices are dealt to one multiprocessor or more");
  const Dealer dealer(pass, num_warps, input_bytes);
  const std::uint32_t at_once = num_multiprocessors * (kMostWarps / num_warps);
  const double steps = dealer.total() / at_once * input_bytes;
  auto more =
      static_cast<std::size_t>(std::ranges::count_if(kStepsOfRounds, [&](double s) { return steps >= s; }));
  if (dealer.num_windows() >= kWindowsOfRounds * at_once) more = std::max(more, std::size_t{1});
  const std::span<const double> parts(kRounds[more].data(), more + 1);
  BlockShares result = dealer.deal(dealer.least_scale(parts, at_once), parts, at_once);
  for (WindowShare& share : result.shares) dealer.split_among_warps(share);
  return result;
}

BlockShares share_whole_windows(const PassOutline& pass, unsigned num_multiprocessors, unsigned num_warps,
                                std::uint32_t input_bytes, const std::uint32_t* first_rows,
                                std::uint32_t row_bytes) {
  require(num_multiprocessors > 0, "windows are dealt to one multiprocessor or more");
  const Dealer dealer(pass, num_warps, input_bytes);
  std::vector<double> of_rows;
  for (std::uint64_t w = pass.first_window; w < pass.end_window; ++w)
    of_rows.push_back((first_rows[w + 1] - first_rows[w]) * (row_bytes / kStepBytes));
  BlockShares result = dealer.deal_whole(num_multiprocessors * (kMostWarps / num_warps), of_rows);
  for (WindowShare& share : result.shares) dealer.split_among_warps(share);
  return result;
}

}  // namespace tessera::cuda
