#include "engine/order_choice.hpp"

#include <algorithm>
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

/// Pieces of this rank's rows whose number is a multiple of `step`.
std::uint64_t count_local(const Graph& graph, const ColumnOrder& columns, std::uint64_t step) {
  const std::vector<std::uint32_t> tiles = tile_of_column(columns);
  std::vector<std::uint64_t> last_row(columns.tiles.size(), ~std::uint64_t{0});
  std::uint64_t pieces = 0;
  const std::uint64_t first = (step - graph.first_row % step) % step;
  for (std::uint64_t row = first; row < graph.num_local_rows; row += step)
    for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e) {
      std::uint64_t& last = last_row[tiles[graph.col_indices[e]]];
      pieces += last != row;
      last = row;
    }
  return pieces;
}

}  // namespace

PieceCounts count_pieces(const Graph& graph, std::span<const std::uint64_t> column_lengths,
                         std::uint32_t tile_columns, std::uint64_t num_sampled, Communicator& comm) {
  const std::uint64_t step = std::max<std::uint64_t>(1, graph.num_edges / num_sampled);
  const ColumnOrder by_length =
      order_columns_by_length(column_lengths, tile_columns, ~std::uint32_t{0}, Remainder::narrow);
  std::uint64_t counts[] = {count_local(graph, by_length, step),
                            count_local(graph, order_columns_as_given(column_lengths, tile_columns), step)};
  comm.all_sum(std::span<std::uint64_t>(counts));
  return {counts[0], counts[1]};
}

ColumnOrderKind choose_order(OrderRequest asked, const Graph& graph,
                             std::span<const std::uint64_t> column_lengths, std::uint32_t tile_columns,
                             Communicator& comm) {
  if (asked != OrderRequest::automatic)
    return asked == OrderRequest::as_given ? ColumnOrderKind::as_given : ColumnOrderKind::by_length;
  const PieceCounts pieces = count_pieces(graph, column_lengths, tile_columns, kSampledEdges, comm);
  const bool saves =
      static_cast<double>(pieces.by_length) >= kRequiredGain * static_cast<double>(pieces.as_given);
  return saves && pieces.as_given > 0 ? ColumnOrderKind::as_given : ColumnOrderKind::by_length;
}

}  // namespace tessera
