#include "engine/spmv_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "engine/device_model.hpp"
#include "engine/region_failure.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

/// Elements of a workload that a row piece is assumed to be packed into.
constexpr double kTypicalWorkloadSize = 8192;
constexpr const char* kNoRoomForTiles = "this GPU's blocks have too little shared memory for tiles";
/// Tiling must promise at least this much: on a CPU because the prediction does not see natural locality, on
/// a GPU where there are values, because short rows wait for them in ways that the rates do not know; of
/// several vectors, which tiles take one by one, because each then ends in an update of its own, which is not
/// in the prediction (5 % of a walk's step at R-MAT 22).
double required_gain(const TilingLimits& limits, bool weighted, unsigned num_vectors) {
  if (!limits.prefers_messages) return 1.05;
  if (num_vectors > 1) return 1.1;
  return weighted ? 1.25 : 1;
}

/// Lengths in descending order, as runs of equal length.
using LengthCounts = std::map<std::uint64_t, std::uint64_t, std::greater<>>;

LengthCounts length_counts(std::span<const std::uint64_t> lengths) {
  constexpr std::uint64_t kShort = 4096;  // threads have counters of their own for these
  std::uint64_t counts_of_short[kShort] = {};
  LengthCounts counts;
  RegionFailure failure;
  const auto n = static_cast<std::int64_t>(lengths.size());
#pragma omp parallel for reduction(+ : counts_of_short[:kShort])
  for (std::int64_t i = 0; i < n; ++i) {
    if (lengths[i] < kShort)
      ++counts_of_short[lengths[i]];
    else
#pragma omp critical
      failure.guard([&] { ++counts[lengths[i]]; });
  }
  failure.rethrow();
  for (std::uint64_t length = 1; length < kShort; ++length)
    if (counts_of_short[length] > 0) counts[length] = counts_of_short[length];
  return counts;
}

/// Share of all elements in each tile of `tile_columns` columns; narrow: there is no remainder.
std::vector<double> tile_shares(const LengthCounts& columns, std::uint32_t tile_columns,
                                const TilingLimits& limits, double num_nonzeros, bool narrow,
                                std::uint64_t& num_dense_tiles) {
  std::vector<double> shares;
  double elements = 0, remainder = 0;
  std::uint64_t in_tile = 0;
  num_dense_tiles = 0;
  for (auto [length, count] : columns) {
    while (count > 0) {
      // No further tile, unless all are narrow.
      if (!narrow && in_tile == 0 && (length <= 1 || shares.size() >= limits.max_dense_tiles)) {
        remainder += static_cast<double>(count) * static_cast<double>(length);
        break;
      }
      const std::uint64_t taken = std::min<std::uint64_t>(count, tile_columns - in_tile);
      elements += static_cast<double>(taken) * static_cast<double>(length);
      in_tile += taken;
      count -= taken;
      if (in_tile < tile_columns) continue;
      shares.push_back(elements / num_nonzeros);
      elements = 0;
      in_tile = 0;
    }
  }
  if (in_tile > 0) shares.push_back(elements / num_nonzeros);
  num_dense_tiles = shares.size();
  if (remainder > 0) shares.push_back(remainder / num_nonzeros);
  return shares;
}

/// Elements of a row fall into tiles independently: a row of length L has a piece in a tile of share s with
/// probability 1 - (1 - s)^L.
double piece_probability(std::uint64_t length, double share) {
  return -std::expm1(static_cast<double>(length) * std::log1p(-std::min(share, 1 - 1e-12)));
}

/// Of each tile.
std::vector<double> expected_pieces(const LengthCounts& rows, const std::vector<double>& shares) {
  std::vector<double> pieces;
  for (double share : shares) {
    double of_tile = 0;
    for (auto [length, count] : rows)
      of_tile += static_cast<double>(count) * piece_probability(length, share);
    pieces.push_back(of_tile);
  }
  return pieces;
}

double expected_tiled_seconds(const LengthCounts& rows, const std::vector<double>& shares,
                              const PerfTable& table) {
  double ns = 0;
  for (double share : shares)
    for (auto [length, count] : rows) {
      const double elements = share * static_cast<double>(length);
      const double pieces = piece_probability(length, share);
      constexpr double kWidest = std::numeric_limits<std::uint32_t>::max();
      const double width = std::clamp(elements / pieces, 1.0, kWidest);
      const double height = std::max(1.0, kTypicalWorkloadSize / width);
      ns += static_cast<double>(count) * elements * 1e9 /
            table.elements_per_second(static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height));
    }
  return ns * 1e-9;
}

/// Plain CSR in the order as given: the k-th longest column competes for cache with the k - 1 longer ones,
/// each in a line of its own.
double predict_csr_seconds(const LengthCounts& columns, std::uint64_t num_rows, std::uint64_t num_columns,
                           const PerfTable& table) {
  constexpr double kLineBytes = 64;
  const double x_bytes = static_cast<double>(num_columns) * sizeof(float);
  double ns = static_cast<double>(num_rows) * table.csr_ns_per_row, before = 0;
  for (auto [length, count] : columns) {
    const double footprint = std::min(x_bytes, (before + static_cast<double>(count) / 2) * kLineBytes);
    ns += static_cast<double>(count) * static_cast<double>(length) * table.csr_ns_per_element(footprint);
    before += static_cast<double>(count);
  }
  return ns * 1e-9;
}

/// The tiled form that the backend is best at.
KernelKind tiled_kernel(const TilingLimits& limits) {
  return limits.prefers_messages ? KernelKind::tile_messages : KernelKind::tile_composite;
}

std::vector<PlanPart> parts_of(const SpmvPlan& plan, const DeviceWork& work, const TilingLimits& limits,
                               const DeviceRates& gpu) {
  if (work.num_nonzeros == 0) return {};
  if (plan.kernel == KernelKind::csr) return {{"product", plan.predicted_csr_seconds}};
  if (plan.kernel != tiled_kernel(limits)) return {};
  if (plan.kernel == KernelKind::tile_composite) return {{"product", plan.predicted_tile_seconds}};
  return {{"tiles", predict_tiles_seconds(work, gpu)}, {"bins", predict_bins_seconds(work, gpu)}};
}

DeviceWork work_of(const LengthCounts& rows, std::size_t num_rows, std::size_t num_columns,
                   double num_nonzeros, const TilingLimits& limits, const GraphFindings* findings) {
  const std::uint64_t longest = rows.empty() ? 0 : rows.begin()->first;
  DeviceWork work{.num_rows = static_cast<double>(num_rows),
                  .num_columns = static_cast<double>(num_columns),
                  .num_nonzeros = num_nonzeros,
                  .longest_row = static_cast<double>(longest),
                  .value_bytes = static_cast<double>(limits.value_bytes)};
  if (findings == nullptr) return work;
  work.num_adjacent = findings->num_adjacent;
  work.num_near = findings->num_near;
  work.weighted = findings->weighted;
  return work;
}

/// pieces: of each tile. Completes `work`.
void predict_on_device(std::span<const double> pieces, const TilingLimits& limits, unsigned num_vectors,
                       const DeviceRates& gpu, DeviceWork& work, SpmvPlan& plan) {
  const BinLimits bins = limits.bins_for(static_cast<EdgeOffset>(work.num_nonzeros), false);
  plan.predicted_cells = expected_cells(pieces, bins);
  work.num_messages = plan.predicted_messages;
  work.num_cells = plan.predicted_cells;
  // Vectors go through tile-messages one by one.
  plan.predicted_tile_seconds =
      num_vectors * (predict_tiles_seconds(work, gpu) + predict_bins_seconds(work, gpu));
  plan.predicted_csr_seconds = num_vectors > 1 ? predict_csr_block_seconds(work, num_vectors, gpu)
                                               : predict_device_csr_seconds(work, gpu);
}

std::string reason_text(const SpmvPlan& plan, bool asked, const TilingLimits& limits, double gain,
                        unsigned num_vectors) {
  std::string reason = asked ? "asked for" : "predicted to be faster";
  if (!asked && !limits.holds_tiles)
    reason = kNoRoomForTiles;
  else if (!asked && plan.kernel == KernelKind::csr &&
           plan.predicted_csr_seconds > gain * plan.predicted_tile_seconds)
    reason = "so small that one GPU may make many steps at once";
  else if (!asked && plan.kernel == KernelKind::csr &&
           plan.predicted_csr_seconds > plan.predicted_tile_seconds)
    reason = fmt::format("tiling is predicted to gain less than {:.0f} %", (gain - 1) * 100);
  const std::string what = num_vectors > 1 && limits.prefers_messages
                               ? fmt::format("a product with {} vectors", num_vectors)
                               : "one product";
  return fmt::format("{}: {}; {} on one {}: {} {:.3g} ms, plain CSR {:.3g} ms", to_string(plan.kernel),
                     reason, what, limits.prefers_messages ? "GPU" : "thread",
                     to_string(tiled_kernel(limits)), plan.predicted_tile_seconds * 1e3,
                     plan.predicted_csr_seconds * 1e3);
}

/// Whether steps may follow one another without the host. Of HITS, the columns of one matrix are the rows of
/// the other, and what both need must have room.
bool may_run(const LengthCounts& rows, const LengthCounts& columns, double num_nonzeros,
             std::uint64_t num_rows, const TilingLimits& limits) {
  const auto longest = [](const LengthCounts& lengths) {
    return lengths.empty() ? 0 : lengths.begin()->first;
  };
  const auto [least, most] = std::minmax({longest(rows), longest(columns)});
  return num_nonzeros <= static_cast<double>(limits.run_nonzeros) && num_rows <= limits.run_rows &&
         most <= limits.run_longest_row && least <= limits.run_longest_row / 2;
}

/// Blocks of vectors read hubs from cache where those lie together.
void choose_order(const GraphFindings* findings, bool has_blocks, SpmvPlan& plan) {
  if (plan.kernel == KernelKind::csr && !has_blocks)
    plan.order = ColumnOrderKind::original;
  else if (plan.kernel != KernelKind::tile_composite && findings != nullptr)
    plan.order = findings->order;
}

}  // namespace

const char* to_string(KernelKind kind) {
  switch (kind) {
    case KernelKind::automatic:
      return "auto";
    case KernelKind::tile_composite:
      return "tile-composite";
    case KernelKind::tile_messages:
      return "tile-messages";
    case KernelKind::csr:
      return "csr";
  }
  throw InternalError("unknown kernel");
}

const char* to_string(ColumnOrderKind kind) {
  return kind == ColumnOrderKind::by_length ? "length" : "given";
}

SpmvPlan choose_plan(KernelKind asked, std::span<const std::uint64_t> row_lengths,
                     std::span<const std::uint64_t> column_lengths, const TilingLimits& limits,
                     const PerfTable& table, const GraphFindings* findings, unsigned num_vectors) {
  const auto columns = length_counts(column_lengths), rows = length_counts(row_lengths);
  double num_nonzeros = 0;
  for (auto [length, count] : columns)
    num_nonzeros += static_cast<double>(length) * static_cast<double>(count);
  SpmvPlan plan;
  plan.kernel = asked;
  const bool narrow = may_take_messages(asked, limits);
  plan.tile_columns = narrow ? std::min(limits.tile_columns, kMostMessageColumns) : limits.tile_columns;
  DeviceWork work = work_of(rows, row_lengths.size(), column_lengths.size(), num_nonzeros, limits, findings);
  if (num_nonzeros > 0) {
    const auto shares =
        tile_shares(columns, plan.tile_columns, limits, num_nonzeros, narrow, plan.num_dense_tiles);
    const std::vector<double> pieces =
        findings == nullptr ? expected_pieces(rows, shares) : findings->pieces_of_tile;
    plan.predicted_messages = std::accumulate(pieces.begin(), pieces.end(), 0.0);
    if (limits.prefers_messages) {
      predict_on_device(pieces, limits, num_vectors, table.gpu, work, plan);
    } else {
      plan.predicted_tile_seconds = expected_tiled_seconds(rows, shares, table);
      plan.predicted_csr_seconds =
          predict_csr_seconds(columns, row_lengths.size(), column_lengths.size(), table);
    }
  }
  const double gain = required_gain(limits, work.weighted, num_vectors);
  const bool runs = num_vectors == 1 && may_run(rows, columns, num_nonzeros, row_lengths.size(), limits);
  if (asked == KernelKind::automatic)
    plan.kernel =
        limits.holds_tiles && !runs && plan.predicted_csr_seconds > gain * plan.predicted_tile_seconds
            ? tiled_kernel(limits)
            : KernelKind::csr;
  else if (asked != KernelKind::csr && !limits.holds_tiles)
    throw ResourceError(fmt::format("{}: {}; use --kernel csr", to_string(asked), kNoRoomForTiles));
  const bool has_blocks =
      num_vectors > 1 && limits.prefers_messages && plan.kernel != KernelKind::tile_messages;
  choose_order(findings, has_blocks, plan);
  if (!has_blocks) plan.parts = parts_of(plan, work, limits, table.gpu);
  plan.reason = reason_text(plan, asked != KernelKind::automatic, limits, gain, num_vectors);
  return plan;
}

}  // namespace tessera
