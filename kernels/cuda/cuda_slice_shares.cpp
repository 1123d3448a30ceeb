#include "kernels/cuda/cuda_slice_shares.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "kernels/base/error.hpp"

namespace tessera::cuda {
namespace {

/// In steps, as costs are: a block that takes fewer spends its time on loading windows. Costs that are lower
/// all over ask for as much less here: with one round instead of two cnr-2000*16 took 10 % longer.
constexpr double kStepsOfBlock = 4300, kMostRounds = 6;

/// In steps of a warp: words of 32 rows.
double cost_of(const Slice& s, const SliceCosts& costs) {
  if (is_joint(s)) return costs.slice + costs.joint_row + s.num_words;
  if (is_single(s))
    return costs.slice + ceil_div<std::uint32_t>(s.num_rows, 2 * kSliceLanes) * costs.single_rows;
  return costs.slice + ceil_div<std::uint32_t>(s.num_rows, kSliceLanes) * (s.num_words + costs.rows);
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
  }

  /// Blocks of about this cost at most, if a slice and its window cost no more.
  BlockShares deal(double most) const {
    BlockShares result;
    result.first_of_block.push_back(0);
    double done = 0;
    const auto end_block = [&] {
      if (done > 0) result.first_of_block.push_back(static_cast<std::uint32_t>(result.shares.size()));
      done = 0;
    };
    for (std::uint64_t w = pass_.first_window; w < pass_.end_window; ++w) {
      const std::uint64_t first = pass_.windows[w].first_slice, end = pass_.windows[w + 1].first_slice;
      if (first == end) continue;
      const double load = cost_of(pass_.windows[w], input_bytes_),
                   work = cost_before(end) - cost_before(first);
      if (done > 0 && done + load + work > most) end_block();
      if (load + work <= most) {
        add_share(w, first, end, result);
        done += load + work;
        continue;
      }
      const double parts = std::max(1.0, std::ceil(work / std::max(most - load, most / 8)));
      std::uint64_t from = first;
      for (double part = 1; from < end; ++part) {
        const std::uint64_t to =
            part >= parts ? end
                          : std::clamp(first_at(cost_before(first) + work * part / parts), from + 1, end);
        add_share(w, from, to, result);
        done = load + work / parts;
        end_block();
        from = to;
      }
    }
    end_block();
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
        windows.push_back({cost_of(pass_.windows[w], input_bytes_) + cost_before(end) - cost_before(first) +
                               more[w - pass_.first_window],
                           w});
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

  double total() const {
    double sum = cost_before_.back();
    for (std::uint64_t w = pass_.first_window; w < pass_.end_window; ++w)
      sum += cost_of(pass_.windows[w], input_bytes_);
    return sum;
  }

  /// The least cost that num_blocks blocks can keep to, found by halving.
  double least_cost(std::uint32_t num_blocks) const {
    double low = total() / num_blocks, high = 2 * low + 1;
    while (deal(high).num_blocks() > num_blocks) high *= 2;
    for (int i = 0; i < 12; ++i) {
      const double middle = (low + high) / 2;
      (deal(middle).num_blocks() > num_blocks ? low : high) = middle;
    }
    return high;
  }

  /// A slice goes to the warp in whose part its middle lies.
  void split_among_warps(WindowShare& share) const {
    const double first = cost_before(share.first_slice[0]);
    const double each = (cost_before(share.first_slice[num_warps_]) - first) / num_warps_;
    for (unsigned warp = 1; warp < num_warps_; ++warp) {
      const double border = first + each * warp;
      std::uint64_t slice = first_at(border);
      if (slice > first_slice_ && cost_before(slice - 1) + cost_before(slice) > 2 * border) --slice;
      share.first_slice[warp] = std::clamp(slice, share.first_slice[warp - 1], share.first_slice[num_warps_]);
    }
    for (unsigned warp = 0; warp <= num_warps_; ++warp) {
      const std::uint64_t slice = share.first_slice[warp];
      share.first_word[warp] = slice < pass_.num_slices ? pass_.slices[slice].first_word : pass_.num_words;
    }
  }

 private:
  void add_share(std::uint64_t window, std::uint64_t first, std::uint64_t end, BlockShares& result) const {
    result.shares.push_back({.first_in = pass_.windows[window].first_in,
                             .size = pass_.windows[window].size,
                             .window = static_cast<std::uint32_t>(window)});
    result.shares.back().first_slice[0] = first;
    result.shares.back().first_slice[num_warps_] = end;
  }
  double cost_before(std::uint64_t slice) const { return cost_before_[slice - first_slice_]; }
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
  std::vector<double> cost_before_;  // from first_slice_ on, and of all
};

}  // namespace

BlockShares share_slices(const PassOutline& pass, unsigned num_multiprocessors, unsigned num_warps,
                         std::uint32_t input_bytes) {
  require(num_multiprocessors > 0, "slices are dealt to one multiprocessor or more");
  const Dealer dealer(pass, num_warps, input_bytes);
  const std::uint32_t at_once = num_multiprocessors * (kMostWarps / num_warps);
  const double rounds = std::clamp(std::floor(dealer.total() / at_once / kStepsOfBlock), 1.0, kMostRounds);
  BlockShares result = dealer.deal(dealer.least_cost(at_once * static_cast<std::uint32_t>(rounds)));
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
