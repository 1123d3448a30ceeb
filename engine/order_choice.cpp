#include "engine/order_choice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera {
namespace {

constexpr std::uint64_t kSampledEdges = std::uint64_t{1} << 22;
constexpr double kRequiredGain = 1.1;

/// Tile of every column; that of an empty one is not asked for.
std::vector<std::uint32_t> tile_of_column(const ColumnOrder& columns) {
  std::vector<std::uint32_t> result(columns.slot_of_column.size());
  const std::uint64_t stride = columns.tiles.size() > 1 ? columns.tiles[1].first_slot : columns.num_slots + 1;
  for (std::size_t c = 0; c < result.size(); ++c)
    result[c] = static_cast<std::uint32_t>(columns.slot_of_column[c] / stride);
  return result;
}

/// About every `step`-th row, whatever pattern the ids have.
bool is_sampled(std::uint64_t row, std::uint64_t step) {
  return step == 1 || (row * 0x9e3779b97f4a7c15u >> 32) % step == 0;
}

/// Calls look(row, columns) for this rank's sampled rows.
template <class Look>
void each_sampled_row(const Graph& graph, std::uint64_t step, const Look& look) {
  for (std::uint64_t row = 0; row < graph.num_local_rows; ++row)
    if (is_sampled(graph.first_row + row, step))
      look(row, graph.col_indices.span().subspan(graph.row_offsets[row],
                                                 graph.row_offsets[row + 1] - graph.row_offsets[row]));
}

std::uint64_t count_local(const Graph& graph, const ColumnOrder& columns, std::uint64_t step) {
  const std::vector<std::uint32_t> tiles = tile_of_column(columns);
  std::vector<std::uint64_t> last_row(columns.tiles.size(), ~std::uint64_t{0});
  std::uint64_t pieces = 0;
  each_sampled_row(graph, step, [&](std::uint64_t row, std::span<const VertexId> row_columns) {
    for (const VertexId column : row_columns) {
      std::uint64_t& last = last_row[tiles[column]];
      pieces += last != row;
      last = row;
    }
  });
  return pieces;
}

}  // namespace

PieceCounts count_pieces(const Graph& graph, OrderRequest asked,
                         std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns,
                         std::uint64_t num_sampled, Communicator& comm) {
  const std::uint64_t step = std::max<std::uint64_t>(1, graph.num_edges / num_sampled);
  std::uint64_t by_length = 0, as_given = 0, num_edges = 0;
  if (asked != OrderRequest::as_given)
    by_length = count_local(
        graph, order_columns_by_length(column_lengths, tile_columns, ~std::uint32_t{0}, Remainder::narrow),
        step);
  if (asked != OrderRequest::by_length)
    as_given = count_local(graph, order_columns_as_given(column_lengths, tile_columns), step);
  each_sampled_row(graph, step,
                   [&](std::uint64_t, std::span<const VertexId> row) { num_edges += row.size(); });
  std::uint64_t counts[] = {by_length, as_given, num_edges};
  comm.all_sum(std::span<std::uint64_t>(counts));
  return {counts[0], counts[1], counts[2]};
}

std::optional<GraphFindings> look_at(const Graph& graph, OrderRequest asked,
                                     std::span<const std::uint64_t> column_lengths,
                                     std::uint32_t tile_columns, std::uint64_t num_sampled,
                                     Communicator& comm) {
  const PieceCounts pieces = count_pieces(graph, asked, column_lengths, tile_columns, num_sampled, comm);
  if (pieces.num_edges == 0) return std::nullopt;
  const bool saves =
      static_cast<double>(pieces.by_length) >= kRequiredGain * static_cast<double>(pieces.as_given);
  const bool as_given = asked == OrderRequest::automatic ? saves : asked == OrderRequest::as_given;
  const auto found = static_cast<double>(as_given ? pieces.as_given : pieces.by_length);
  return GraphFindings{
      .order = as_given ? ColumnOrderKind::as_given : ColumnOrderKind::by_length,
      .num_pieces = found * static_cast<double>(graph.num_edges) / static_cast<double>(pieces.num_edges),
      .weighted = graph.weighted};
}

SpmvPlan plan_for_graph(const Graph& graph, KernelKind kernel, OrderRequest order,
                        std::span<const std::uint64_t> row_lengths,
                        std::span<const std::uint64_t> column_lengths, const TilingLimits& limits,
                        const PerfTable& table, Communicator& comm) {
  const bool looks =
      kernel == KernelKind::tile_messages || (kernel == KernelKind::automatic && limits.prefers_messages);
  std::optional<GraphFindings> findings;
  if (looks && graph.num_edges > 0)
    findings = look_at(graph, order, column_lengths.last(graph.num_vertices), limits.tile_columns,
                       kSampledEdges, comm);
  if (looks && !findings && order == OrderRequest::as_given)
    findings = GraphFindings{.order = ColumnOrderKind::as_given};
  if (!findings) return choose_plan(kernel, row_lengths, column_lengths, limits, table);
  // A block matrix has the edges twice.
  findings->num_pieces *=
      static_cast<double>(column_lengths.size()) / static_cast<double>(graph.num_vertices);
  return choose_plan(kernel, row_lengths, column_lengths, limits, table, &*findings);
}

}  // namespace tessera
