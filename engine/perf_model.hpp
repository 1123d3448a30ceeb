// The performance model of the paper (3.3, algorithms 2 and 3) and the packing rule it simulates: how the
// ranked rows of a tile are cut into workloads, and which workload size is predicted to be fastest.
#pragma once
#include <cstdint>
#include <span>

#include "engine/perf_table.hpp"
#include "kernels/backend.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera {

/// Shape of the workload that starts at the longest of the remaining rows: as many rows as fit into
/// `workload_size` elements at the length of the first (at least one), row-major when wider than high,
/// padded to the warp width (paper 3.1, solution 3). first_element and first_row are left 0.
Workload next_workload(std::uint64_t first_length, std::uint64_t rows_left, std::uint64_t workload_size,
                       std::uint32_t warp_width);

/// Stored elements of a workload, padding included.
inline std::uint64_t stored_elements(const Workload& w) { return std::uint64_t{w.width} * w.height; }

/// Predicted seconds for one tile (algorithm 3). `lengths`: row lengths, longest first.
double predict_tile_seconds(std::span<const std::uint32_t> lengths, std::uint64_t workload_size,
                            const TilingLimits& limits, const PerfTable& table);

struct WorkloadChoice {
  std::uint64_t workload_size = 1;
  double predicted_seconds = 0;
};

/// The size with the smallest predicted time (algorithm 2). Two departures from the paper, both because a
/// CPU row may be far longer than a good task: sizes below the longest row are tried too (such a row then
/// is a workload by itself), and sizes grow by doubling, each rounded up to a multiple of the longest row.
WorkloadChoice choose_workload_size(std::span<const std::uint32_t> lengths, const TilingLimits& limits,
                                    const PerfTable& table);

}  // namespace tessera
