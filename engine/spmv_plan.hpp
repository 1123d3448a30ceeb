// What is decided before a matrix is built: kernel, column order, tiles. From global facts alone, so that
// every rank decides alike and the bits of a result do not depend on the number of ranks.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/column_order.hpp"
#include "engine/perf_table.hpp"
#include "kernels/backend.hpp"

namespace tessera {

enum class KernelKind { automatic, tile_composite, tile_messages, csr };
/// Whether a plan may take tile-messages.
inline bool may_take_messages(KernelKind asked, const TilingLimits& limits) {
  return asked == KernelKind::tile_messages ||
         (limits.prefers_messages && asked != KernelKind::tile_composite);
}

/// A part of a product by the name that Matrix::time_parts() gives it, and what one is predicted to take.
struct PlanPart {
  const char* name;
  double seconds = 0;
};

struct SpmvPlan {
  KernelKind kernel = KernelKind::tile_composite;
  ColumnOrderKind order = ColumnOrderKind::by_length;  ///< of columns and rows
  std::uint32_t tile_columns = 0;
  std::uint64_t num_dense_tiles = 0;
  double predicted_messages = 0;  ///< (row, tile) pairs, expected or counted
  double predicted_cells = 0;     ///< non-empty (tile, bin) pairs of tile-messages, expected
  /// One product on one thread, by the table; on one GPU, where it computes, of all vectors at a time.
  double predicted_tile_seconds = 0;
  double predicted_csr_seconds = 0;
  std::vector<PlanPart> parts;  ///< of the kernel; none where nothing predicts it (tile-composite on a GPU)
  std::string reason;           ///< one sentence for reports
};

/// What a look at the graph adds to the lengths: for tile-messages, and for CSR on devices.
struct GraphFindings {
  ColumnOrderKind order = ColumnOrderKind::by_length;
  std::vector<double> pieces_of_tile = {};  ///< (row, tile) pairs in that order
  double num_adjacent = 0, num_near = 0;    ///< elements (device_model.hpp)
  bool weighted = false;
};

/// Automatic: the kernel that is predicted to be faster (tiling only where it promises 5 % or more on a CPU,
/// on a GPU 25 % with values, 10 % of several vectors), but CSR of one vector where steps may run by
/// themselves (TilingLimits::run_nonzeros). Row and column lengths of the whole matrix. Without
/// findings (null) neighbours are taken to lie anywhere, and the order is by length. num_vectors: that are
/// multiplied at a time, mostly; counts on devices that prefer messages. Throws ResourceError for tiles that
/// the device does not hold.
SpmvPlan choose_plan(KernelKind asked, std::span<const std::uint64_t> row_lengths,
                     std::span<const std::uint64_t> column_lengths, const TilingLimits& limits,
                     const PerfTable& table, const GraphFindings* findings = nullptr,
                     unsigned num_vectors = 1);

const char* to_string(KernelKind kind);
const char* to_string(ColumnOrderKind kind);

}  // namespace tessera
