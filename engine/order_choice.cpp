#include "engine/order_choice.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/device_model.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t kSampledEdges = std::uint64_t{1} << 22;
constexpr double kRequiredGain = 1.1;

/// Tile of every column; that of an empty one is not asked for.
Buffer<std::uint32_t> tile_of_column(const ColumnOrder& columns) {
  Buffer<std::uint32_t> result(columns.slot_of_column.size());
  const std::uint64_t stride = columns.tile_stride();
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < result.size(); ++c)
    result[c] = static_cast<std::uint32_t>(columns.slot_of_column[c] / stride);
  return result;
}

/// About every `step`-th row, whatever pattern the ids have.
bool is_sampled(std::uint64_t row, std::uint64_t step) {
  return row * 0x9e3779b97f4a7c15u <= ~std::uint64_t{0} / step;
}

struct LocalCount {
  std::vector<std::uint64_t> pieces;  // of each tile
  NearCounts near;
  EdgeOffset num_edges = 0;
};

/// Of this rank's sampled rows.
LocalCount count_local(const Graph& graph, const ColumnOrder& columns, std::uint64_t step) {
  const Buffer<std::uint32_t> tiles = tile_of_column(columns);
  std::uint64_t adjacent = 0, near = 0;
  EdgeOffset num_edges = 0;
  struct TileCount {
    std::uint64_t last_row = ~std::uint64_t{0}, pieces = 0;
  };
  const std::size_t num_tiles = columns.tiles.size();
  std::vector<TileCount> counts_of_threads(num_tiles * static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel reduction(+ : adjacent, near, num_edges)
  {
    NearCounts counts;
    TileCount* const count_of =
        counts_of_threads.data() + num_tiles * static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(dynamic, 16384)
    for (std::uint64_t row = 0; row < graph.num_local_rows; ++row) {
      const std::uint64_t global_row = graph.first_row + row;
      if (!is_sampled(global_row, step)) continue;
      num_edges += graph.row_offsets[row + 1] - graph.row_offsets[row];
      for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e) {
        TileCount& count = count_of[tiles[graph.col_indices[e]]];
        count.pieces += count.last_row != row;
        count.last_row = row;
        counts.add(global_row, graph.col_indices[e]);
      }
    }
    adjacent += counts.adjacent;
    near += counts.near;
  }
  LocalCount found{std::vector<std::uint64_t>(num_tiles, 0), {adjacent, near}, num_edges};
  for (std::size_t i = 0; i < counts_of_threads.size(); ++i)
    found.pieces[i % num_tiles] += counts_of_threads[i].pieces;
  return found;
}

/// The graph's, of what was counted in a sample.
std::vector<double> scaled(const std::vector<std::uint64_t>& counts, double times) {
  std::vector<double> result;
  for (const std::uint64_t count : counts) result.push_back(static_cast<double>(count) * times);
  return result;
}

}  // namespace

PieceCounts count_pieces(const Graph& graph, OrderRequest asked,
                         std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns,
                         std::uint64_t num_sampled, Communicator& comm) {
  const std::uint64_t step = std::max<std::uint64_t>(1, graph.num_edges / num_sampled);
  LocalCount by_length, as_given;
  if (asked != OrderRequest::as_given)
    by_length = count_local(
        graph, order_columns_by_length(column_lengths, tile_columns, ~std::uint32_t{0}, Remainder::narrow),
        step);
  if (asked != OrderRequest::by_length)
    as_given = count_local(graph, order_columns_as_given(column_lengths, tile_columns), step);
  const LocalCount& either = asked == OrderRequest::as_given ? as_given : by_length;
  std::uint64_t sums[] = {either.near.adjacent, either.near.near, either.num_edges};
  comm.all_sum(std::span<std::uint64_t>(by_length.pieces));
  comm.all_sum(std::span<std::uint64_t>(as_given.pieces));
  comm.all_sum(std::span<std::uint64_t>(sums));
  return {std::move(by_length.pieces), std::move(as_given.pieces), sums[0], sums[1], sums[2]};
}

std::optional<GraphFindings> look_at(const Graph& graph, OrderRequest asked,
                                     std::span<const std::uint64_t> column_lengths,
                                     std::uint32_t tile_columns, std::uint64_t num_sampled,
                                     Communicator& comm) {
  if (graph.num_edges == 0) return std::nullopt;
  PieceCounts pieces = count_pieces(graph, asked, column_lengths, tile_columns, num_sampled, comm);
  if (pieces.num_edges == 0)  // a few rows have all edges, none of them in the sample
    pieces = count_pieces(graph, asked, column_lengths, tile_columns, graph.num_edges, comm);
  const auto total = [](const std::vector<std::uint64_t>& counts) {
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  };
  const bool saves = total(pieces.by_length) >= kRequiredGain * total(pieces.as_given);
  const bool as_given = asked == OrderRequest::automatic ? saves : asked == OrderRequest::as_given;
  const double times = static_cast<double>(graph.num_edges) / static_cast<double>(pieces.num_edges);
  return GraphFindings{.order = as_given ? ColumnOrderKind::as_given : ColumnOrderKind::by_length,
                       .pieces_of_tile = scaled(as_given ? pieces.as_given : pieces.by_length, times),
                       .num_adjacent = static_cast<double>(pieces.adjacent) * times,
                       .num_near = static_cast<double>(pieces.near) * times,
                       .weighted = graph.weighted};
}

SpmvPlan plan_for_graph(const Graph& graph, KernelKind kernel, OrderRequest order,
                        std::span<const std::uint64_t> row_lengths,
                        std::span<const std::uint64_t> column_lengths, const TilingLimits& of_this_rank,
                        const PerfTable& table, Communicator& comm, unsigned num_vectors) {
  TilingLimits limits = of_this_rank;  // the smallest device decides, as all ranks must have one plan
  limits.holds_tiles = all_max(comm, std::uint64_t{!of_this_rank.holds_tiles}) == 0;
  const bool looks = may_take_messages(kernel, limits);
  std::optional<GraphFindings> findings;
  if (looks)
    findings = look_at(graph, order, column_lengths.last(graph.num_vertices), limits.tile_columns,
                       kSampledEdges, comm);
  if (!findings) return choose_plan(kernel, row_lengths, column_lengths, limits, table, nullptr, num_vectors);
  // A block matrix has the edges twice.
  const double times = static_cast<double>(column_lengths.size()) / static_cast<double>(graph.num_vertices);
  for (double& pieces : findings->pieces_of_tile) pieces *= times;
  findings->num_adjacent *= times;
  findings->num_near *= times;
  return choose_plan(kernel, row_lengths, column_lengths, limits, table, &*findings, num_vectors);
}

}  // namespace tessera
