#include "kernels/cuda/cuda_slice_shares.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::cuda {
namespace {

/// In steps of a warp (a word a lane): what a slice, and 32 rows of it, cost beside their words.
constexpr double kSliceSteps = 1, kRowsSteps = 1, kJointSteps = 4;

/// A block that takes fewer steps spends its time on loading windows.
constexpr double kStepsOfBlock = 5000, kMostRounds = 6;

double cost_of(const Slice& s) {
  if (is_joint(s)) return kSliceSteps + kJointSteps + s.num_words;
  if (is_single(s)) return kSliceSteps + (s.num_rows + 2 * kSliceLanes - 1) / (2 * kSliceLanes) * 2.0;
  const std::uint32_t blocks = (s.num_rows + kSliceLanes - 1) / kSliceLanes;
  return kSliceSteps + blocks * (s.num_words + kRowsSteps);
}

/// Of loading a window, in the same unit.
double cost_of(const Window& window, std::uint32_t input_bytes) { return window.size * input_bytes / 128.0; }

class Dealer {
 public:
  Dealer(const Window* windows, std::uint64_t first_window, std::uint64_t end_window, const Slice* slices,
         unsigned num_warps, std::uint32_t input_bytes)
      : windows_(windows),
        first_window_(first_window),
        end_window_(end_window),
        first_slice_(first_window == end_window ? 0 : windows[first_window].first_slice),
        num_warps_(num_warps),
        input_bytes_(input_bytes),
        cost_before_{0} {
    const std::uint64_t end_slice = first_window == end_window ? 0 : windows[end_window].first_slice;
    cost_before_.reserve(end_slice - first_slice_ + 1);
    for (std::uint64_t i = first_slice_; i < end_slice; ++i)
      cost_before_.push_back(cost_before_.back() + cost_of(slices[i]));
  }

  /// Blocks of at most this cost, if a slice and its window cost no more.
  BlockShares deal(double most) const {
    BlockShares result;
    result.first_of_block.push_back(0);
    double done = 0;
    const auto end_block = [&] {
      result.first_of_block.push_back(static_cast<std::uint32_t>(result.shares.size()));
      done = 0;
    };
    for (std::uint64_t w = first_window_; w < end_window_; ++w) {
      const double load = cost_of(windows_[w], input_bytes_);
      for (std::uint64_t first = windows_[w].first_slice; first < windows_[w + 1].first_slice;) {
        if (done > 0 && done + 1.25 * load > most) end_block();
        const std::uint64_t end = std::clamp(first_at(cost_before(first) + most - done - load) - 1, first + 1,
                                             windows_[w + 1].first_slice);
        result.shares.push_back({.window = static_cast<std::uint32_t>(w)});
        result.shares.back().first_slice[0] = first;
        result.shares.back().first_slice[num_warps_] = end;
        done += load + cost_before(end) - cost_before(first);
        first = end;
      }
    }
    if (done > 0) end_block();
    return result;
  }

  double total() const {
    double sum = cost_before_.back();
    for (std::uint64_t w = first_window_; w < end_window_; ++w) sum += cost_of(windows_[w], input_bytes_);
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
  }

 private:
  double cost_before(std::uint64_t slice) const { return cost_before_[slice - first_slice_]; }
  /// The first slice that has at least this much before it.
  std::uint64_t first_at(double cost) const {
    return first_slice_ +
           static_cast<std::uint64_t>(std::lower_bound(cost_before_.begin(), cost_before_.end(), cost) -
                                      cost_before_.begin());
  }

  const Window* windows_;
  const std::uint64_t first_window_, end_window_, first_slice_;
  const unsigned num_warps_;
  const std::uint32_t input_bytes_;
  std::vector<double> cost_before_;  // from first_slice_ on, and of all
};

}  // namespace

BlockShares share_slices(const Window* windows, std::uint64_t first_window, std::uint64_t end_window,
                         const Slice* slices, unsigned num_multiprocessors, unsigned num_warps,
                         std::uint32_t input_bytes) {
  const Dealer dealer(windows, first_window, end_window, slices, num_warps, input_bytes);
  const std::uint32_t at_once = num_multiprocessors * (kMostWarps / num_warps);
  const double rounds = std::clamp(std::floor(dealer.total() / at_once / kStepsOfBlock), 1.0, kMostRounds);
  BlockShares result = dealer.deal(dealer.least_cost(at_once * static_cast<std::uint32_t>(rounds)));
  for (WindowShare& share : result.shares) dealer.split_among_warps(share);
  return result;
}

}  // namespace tessera::cuda
