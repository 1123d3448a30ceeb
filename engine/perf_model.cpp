#include "engine/perf_model.hpp"

#include <algorithm>
#include <limits>

namespace tessera {

Workload next_workload(std::uint64_t first_length, std::uint64_t rows_left, std::uint64_t workload_size,
                       std::uint32_t warp_width) {
  const std::uint64_t rows = std::clamp<std::uint64_t>(workload_size / first_length, 1, rows_left);
  Workload w;
  w.num_rows = static_cast<VertexId>(rows);
  if (first_length > rows) {
    w.layout = Layout::row_major;
    w.width = static_cast<std::uint32_t>(round_up<std::uint64_t>(first_length, warp_width));
    w.height = static_cast<std::uint32_t>(rows);
  } else {
    w.layout = Layout::column_major;
    w.width = static_cast<std::uint32_t>(first_length);
    w.height = static_cast<std::uint32_t>(round_up<std::uint64_t>(rows, warp_width));
  }
  return w;
}

double predict_tile_seconds(std::span<const std::uint32_t> lengths, std::uint64_t workload_size,
                            const TilingLimits& limits, const PerfTable& table) {
  double total_seconds = 0, performance = 0;
  std::uint64_t size = 0, count = 0;
  auto finish_iteration = [&] {  // equations 2 to 5: one wave of warps that run at once
    if (count == 0) return;
    const double mean_performance = performance / static_cast<double>(count);
    total_seconds += static_cast<double>(size) / (mean_performance * static_cast<double>(count));
    performance = 0;
    size = count = 0;
  };
  for (std::uint64_t row = 0; row < lengths.size();) {
    const Workload w = next_workload(lengths[row], lengths.size() - row, workload_size, limits.warp_width);
    performance += table.elements_per_second(w.width, w.height);
    size += stored_elements(w);
    row += w.num_rows;
    if (++count == limits.max_active_warps) finish_iteration();
  }
  finish_iteration();
  return total_seconds;
}

WorkloadChoice choose_workload_size(std::span<const std::uint32_t> lengths, const TilingLimits& limits,
                                    const PerfTable& table) {
  constexpr std::uint64_t kSmallest = 512, kLargest = std::uint64_t{1} << 18;
  WorkloadChoice best{.workload_size = kSmallest,
                      .predicted_seconds = std::numeric_limits<double>::infinity()};
  if (lengths.empty()) return {};
  std::uint64_t nonzeros = 0;
  for (std::uint32_t length : lengths) nonzeros += length;
  const std::uint64_t longest = lengths.front();
  const std::uint64_t upper = std::max(kSmallest, nonzeros / limits.max_active_warps);
  for (std::uint64_t size = kSmallest; size <= std::min(upper, kLargest); size *= 2) {
    const std::uint64_t candidate = size >= longest ? round_up(size, longest) : size;
    const double seconds = predict_tile_seconds(lengths, candidate, limits, table);
    if (seconds < best.predicted_seconds) best = {candidate, seconds};
  }
  return best;
}

}  // namespace tessera
