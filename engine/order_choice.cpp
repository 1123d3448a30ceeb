#include "engine/order_choice.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/device_model.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t kSampledEdges = std::uint64_t{1} << 22;
constexpr double kRequiredGain = 1.1;

/// Tiles of columns by length, from their slots.
class LengthTiles {
 public:
  explicit LengthTiles(const ColumnOrder& columns)
      : slots_(columns.slot_of_column),
        stride_(static_cast<std::uint32_t>(columns.tile_stride())),
        count_(columns.tiles.size()) {}
  std::size_t count() const { return count_; }
  /// Of a column with elements.
  std::size_t operator()(VertexId column) const { return slots_[column] / stride_; }

 private:
  const Buffer<VertexId>& slots_;
  std::uint32_t stride_;  // a division of 64 bits would take longer
  std::size_t count_;
};

/// Those of order_columns_as_given(), whose columns ascend: found by blocks of columns, in each of which one
/// tile begins at most, without a slot for each column.
class GivenTiles {
 public:
  GivenTiles(std::span<const std::uint64_t> lengths, std::uint32_t tile_columns)
      : shift_(static_cast<unsigned>(std::bit_width(tile_columns)) - 1),
        blocks_(ceil_div(lengths.size(), std::uint64_t{1} << shift_)) {
    const auto in_block = [&](std::size_t b) {
      const std::size_t first = b << shift_;
      return lengths.subspan(first, std::min(lengths.size() - first, std::size_t{1} << shift_));
    };
    std::vector<std::uint64_t> firsts(blocks_.size() + 1, 0);  // of columns with elements
#pragma omp parallel for schedule(static)
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (const std::uint64_t length : in_block(b)) firsts[b + 1] += length > 0;
    std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
    count_ = ceil_div<std::uint64_t>(firsts.back(), tile_columns);
#pragma omp parallel for schedule(static)
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::uint64_t tile = firsts[b] / tile_columns, next = (tile + 1) * tile_columns;
      blocks_[b] = {static_cast<std::uint32_t>(tile), kNoVertex};
      if (next >= firsts[b + 1]) continue;
      std::size_t column = b << shift_;
      for (std::uint64_t place = firsts[b]; place < next || lengths[column] == 0; ++column)
        place += lengths[column] > 0;
      blocks_[b].next_tile = static_cast<VertexId>(column);
    }
  }
  std::size_t count() const { return count_; }
  std::size_t operator()(VertexId column) const {
    const Block& block = blocks_[column >> shift_];
    return block.tile + std::size_t{column >= block.next_tile};
  }

 private:
  struct Block {
    std::uint32_t tile;  ///< of its first column with elements
    VertexId next_tile;  ///< where the next one begins
  };
  unsigned shift_;  // blocks are no larger than tiles
  std::vector<Block> blocks_;
  std::size_t count_ = 0;
};

/// Pieces of rows, as one thread sees these.
class TilePieces {
 public:
  explicit TilePieces(std::size_t num_tiles) : last_rows_(num_tiles, ~std::uint64_t{0}), counts_(num_tiles) {}
  void add(std::size_t tile, std::uint64_t row) {
    counts_[tile] += last_rows_[tile] != row;
    last_rows_[tile] = row;
  }
  void add_to(std::vector<std::uint64_t>& all) const {
    for (std::size_t t = 0; t < counts_.size(); ++t) all[t] += counts_[t];
  }

 private:
  // Apart: as pairs they would be written together and read one by one, for which a core waits.
  std::vector<std::uint64_t> last_rows_, counts_;
};

/// About every `step`-th row, whatever pattern the ids have.
bool is_sampled(std::uint64_t row, std::uint64_t step) {
  return row * 0x9e3779b97f4a7c15u <= ~std::uint64_t{0} / step;
}

/// Rows of a rank's that are sampled, of [first, last): up to kMost at a time, whose elements are asked for
/// before they are looked at, as those of rows that lie apart are not at hand.
class SampledRows {
 public:
  static constexpr std::size_t kMost = 64;
  SampledRows(const Graph& graph, std::uint64_t step, std::uint64_t first, std::uint64_t last)
      : graph_(graph), step_(step), next_(first), last_(last) {}
  /// The next ones; none at the end.
  std::span<const std::uint64_t> take() {
    std::size_t count = 0;
    for (; next_ < last_ && count < kMost; ++next_) {
      if (!is_sampled(graph_.first_row + next_, step_)) continue;
      __builtin_prefetch(graph_.col_indices.data() + graph_.row_offsets[next_]);
      rows_[count++] = next_;
    }
    return std::span(rows_).first(count);
  }

 private:
  const Graph& graph_;
  const std::uint64_t step_;
  std::uint64_t next_;
  const std::uint64_t last_;
  std::array<std::uint64_t, kMost> rows_;
};

/// Of this rank's sampled rows; orders that are null are not looked at.
PieceCounts count_local(const Graph& graph, const LengthTiles* by_length, const GivenTiles* as_given,
                        std::uint64_t step) {
  PieceCounts all{.by_length = std::vector<std::uint64_t>(by_length == nullptr ? 0 : by_length->count()),
                  .as_given = std::vector<std::uint64_t>(as_given == nullptr ? 0 : as_given->count())};
  constexpr std::uint64_t kRowsEach = 16384;
  const auto num_threads = static_cast<std::size_t>(omp_get_max_threads());
  std::vector<TilePieces> by_length_of(num_threads, TilePieces(all.by_length.size())),
      as_given_of(num_threads, TilePieces(all.as_given.size()));
#pragma omp parallel
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    TilePieces &of_length = by_length_of[thread], &of_given = as_given_of[thread];
    NearCounts near;
    EdgeOffset num_edges = 0;
#pragma omp for schedule(dynamic, 1) nowait
    for (std::uint64_t first = 0; first < graph.num_local_rows; first += kRowsEach) {
      SampledRows sample(graph, step, first, std::min(first + kRowsEach, graph.num_local_rows));
      for (auto rows = sample.take(); !rows.empty(); rows = sample.take())
        for (const std::uint64_t row : rows) {
          const EdgeOffset begin = graph.row_offsets[row], end = graph.row_offsets[row + 1];
          num_edges += end - begin;
          for (EdgeOffset e = begin; e < end; ++e) {
            const VertexId column = graph.col_indices[e];
            if (by_length != nullptr) of_length.add((*by_length)(column), row);
            if (as_given != nullptr) of_given.add((*as_given)(column), row);
            near.add(graph.first_row + row, column);
          }
        }
    }
#pragma omp critical
    {
      all.adjacent += near.adjacent;
      all.near += near.near;
      all.num_edges += num_edges;
    }
  }
  for (const TilePieces& pieces : by_length_of) pieces.add_to(all.by_length);
  for (const TilePieces& pieces : as_given_of) pieces.add_to(all.as_given);
  return all;
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
  require(tile_columns > 0, "a tile has columns");
  const std::uint64_t step = std::max<std::uint64_t>(1, graph.num_edges / num_sampled);
  std::optional<ColumnOrder> columns;
  std::optional<LengthTiles> by_length;
  std::optional<GivenTiles> as_given;
  if (asked != OrderRequest::as_given) {
    columns = order_columns_by_length(column_lengths, tile_columns, ~std::uint32_t{0}, Remainder::narrow);
    columns->order = Buffer<VertexId>();  // only slots are looked at
    by_length.emplace(*columns);
  }
  if (asked != OrderRequest::by_length)
    as_given.emplace(column_lengths, std::min(tile_columns, kMostMessageColumns));
  PieceCounts counts =
      count_local(graph, by_length ? &*by_length : nullptr, as_given ? &*as_given : nullptr, step);
  std::uint64_t sums[] = {counts.adjacent, counts.near, counts.num_edges};
  comm.all_sum(std::span<std::uint64_t>(counts.by_length));
  comm.all_sum(std::span<std::uint64_t>(counts.as_given));
  comm.all_sum(std::span<std::uint64_t>(sums));
  counts.adjacent = sums[0];
  counts.near = sums[1];
  counts.num_edges = sums[2];
  return counts;
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
