#include "kernels/cuda/run_windows.hpp"

#include <algorithm>

namespace tessera::cuda {
namespace {

/// What an input of a window costs, in elements. Half or twice of it changes steps by up to 5 %, as the
/// slowest block counts (docs/performance.md).
constexpr double kInputCost = 2;

/// What the rows before one cost together, in elements.
class CostBefore {
 public:
  /// windows: with one more.
  CostBefore(std::span<const EdgeOffset> row_offsets, double row_cost, std::span<const RunWindow> windows)
      : row_offsets_(row_offsets), row_cost_(row_cost), windows_(windows) {
    double cost = 0;
    for (std::size_t w = 0; w + 1 < windows.size(); ++w) {
      const auto elements = static_cast<double>(windows[w + 1].first_element - windows[w].first_element);
      before_.push_back(cost);
      of_element_.push_back(1 + kInputCost * windows[w].num_inputs / std::max(elements, 1.0));
      cost += of_element_.back() * elements;
    }
  }
  double operator()(VertexId row) const {
    const auto behind =
        std::upper_bound(windows_.begin(), windows_.end() - 1, row,
                         [](VertexId before, const RunWindow& window) { return before < window.first_row; });
    const auto w = static_cast<std::size_t>(behind - windows_.begin() - 1);
    return before_[w] + of_element_[w] * static_cast<double>(row_offsets_[row] - windows_[w].first_element) +
           row_cost_ * row;
  }

 private:
  std::span<const EdgeOffset> row_offsets_;
  double row_cost_;
  std::span<const RunWindow> windows_;
  std::vector<double> before_, of_element_;  // of windows: elements, with inputs
};

/// The row from `least` on whose rows before cost as near to `cost` as can be.
VertexId border_at(double cost, VertexId least, VertexId end, const CostBefore& cost_before) {
  while (least < end) {
    const VertexId middle = least + (end - least) / 2;
    if (cost_before(middle) + cost_before(middle + 1) <= 2 * cost)
      least = middle + 1;
    else
      end = middle;
  }
  return least;
}

}  // namespace

WindowSizes most_of(std::span<const RunWindow> windows) {
  WindowSizes most;
  for (std::size_t w = 0; w + 1 < windows.size(); ++w) {
    most.rows = std::max(most.rows, windows[w + 1].first_row - windows[w].first_row);
    most.elements = std::max(
        most.elements, static_cast<std::uint32_t>(windows[w + 1].first_element - windows[w].first_element));
    most.inputs = std::max(most.inputs, windows[w].num_inputs);
    most.chunks = std::max(most.chunks, windows[w].num_chunks);
  }
  return most;
}

std::vector<RunWindow> deal_windows(std::span<const EdgeOffset> row_offsets, unsigned num_blocks,
                                    double row_cost, std::span<const RunWindow> counted) {
  const auto num_rows = static_cast<VertexId>(row_offsets.size() - 1);
  const RunWindow end{.first_element = row_offsets.back(), .first_row = num_rows};
  const RunWindow whole[] = {{.first_element = row_offsets.front()}, end};
  const CostBefore cost_before(row_offsets, row_cost,
                               counted.empty() ? std::span<const RunWindow>(whole) : counted);
  const double all = cost_before(num_rows);
  std::vector<RunWindow> windows;
  VertexId row = 0;
  for (unsigned block = 0; block < num_blocks && row < num_rows; ++block) {
    windows.push_back({.first_element = row_offsets[row], .first_row = row});
    row = border_at(all * (block + 1) / num_blocks, row + 1, num_rows, cost_before);
  }
  windows.push_back(end);
  return windows;
}

void place_chunks(std::span<RunWindow> windows) {
  for (std::size_t w = 0; w + 1 < windows.size(); ++w)
    windows[w + 1].first_chunk = windows[w].first_chunk + windows[w].num_chunks;
}

}  // namespace tessera::cuda
