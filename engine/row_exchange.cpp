#include "engine/row_exchange.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// One row as it lies in its graph.
struct RowSlice {
  const Graph* graph;
  EdgeOffset begin, length;
  VertexId column_shift;
};

/// The loaded rows of one rank, addressed by row number of the whole matrix.
class RowFinder {
 public:
  RowFinder(const LoadedRows& loaded, int rank) : loaded_(loaded), rank_(rank) {}
  std::uint64_t num_vertices() const { return loaded_.first_row.back(); }
  int owner(VertexId row) const {
    const std::uint64_t vertex = row % num_vertices();
    const auto after = std::upper_bound(loaded_.first_row.begin(), loaded_.first_row.end(), vertex);
    return static_cast<int>(after - loaded_.first_row.begin()) - 1;
  }
  bool has(VertexId row) const {
    const std::uint64_t vertex = row % num_vertices();
    return vertex >= loaded_.first_row[rank_] && vertex < loaded_.first_row[rank_ + 1];
  }
  RowSlice slice(VertexId row) const {
    const bool in_first = row < num_vertices();
    const Graph* graph = in_first ? loaded_.first : loaded_.second;
    const std::uint64_t i = row % num_vertices() - loaded_.first_row[rank_];
    const EdgeOffset begin = graph->row_offsets[i];
    return {graph, begin, graph->row_offsets[i + 1] - begin, in_first ? loaded_.first_column_shift : 0};
  }

 private:
  const LoadedRows& loaded_;
  int rank_;
};

/// Elements for every rank, in the order in which the receiver wants its rows.
struct Outgoing {
  std::vector<std::uint64_t> offsets;
  Buffer<VertexId> columns;
  Buffer<double> values;
};

Outgoing pack_rows(const RowFinder& finder, const VertexDistribution& rows, bool weighted) {
  const auto num_rows = static_cast<std::int64_t>(rows.vertices.size());
  Buffer<EdgeOffset> starts(rows.vertices.size() + 1);
  starts[0] = 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < num_rows; ++i) {
    const VertexId row = rows.vertices[i];
    starts[i + 1] = finder.has(row) ? finder.slice(row).length : 0;
  }
  for (std::int64_t i = 0; i < num_rows; ++i) starts[i + 1] += starts[i];
  Outgoing out;
  for (const std::uint64_t first : rows.first_of_rank) out.offsets.push_back(starts[first]);
  out.columns = Buffer<VertexId>(starts[num_rows]);
  if (weighted) out.values = Buffer<double>(starts[num_rows]);
#pragma omp parallel for schedule(dynamic, 4096)
  for (std::int64_t i = 0; i < num_rows; ++i) {
    if (starts[i + 1] == starts[i]) continue;
    const RowSlice slice = finder.slice(rows.vertices[i]);
    for (EdgeOffset k = 0; k < slice.length; ++k)
      out.columns[starts[i] + k] = slice.graph->col_indices[slice.begin + k] + slice.column_shift;
    if (weighted)
      std::copy_n(slice.graph->weights.data() + slice.begin, slice.length, out.values.data() + starts[i]);
  }
  return out;
}

/// Rows of such lengths that begin at such places; values may be null.
LocalRows gathered(const Buffer<EdgeOffset>& lengths, const Buffer<EdgeOffset>& places,
                   const VertexId* columns, const double* values) {
  const auto num_rows = static_cast<std::int64_t>(lengths.size());
  LocalRows rows;
  rows.row_offsets = Buffer<EdgeOffset>(lengths.size() + 1);
  rows.row_offsets[0] = 0;
  for (std::int64_t i = 0; i < num_rows; ++i) rows.row_offsets[i + 1] = rows.row_offsets[i] + lengths[i];
  rows.col_indices = Buffer<VertexId>(rows.row_offsets[num_rows]);
  if (values != nullptr) rows.values = Buffer<double>(rows.row_offsets[num_rows]);
#pragma omp parallel for schedule(dynamic, 4096)
  for (std::int64_t i = 0; i < num_rows; ++i) {
    std::copy_n(columns + places[i], lengths[i], rows.col_indices.data() + rows.row_offsets[i]);
    if (values != nullptr)
      std::copy_n(values + places[i], lengths[i], rows.values.data() + rows.row_offsets[i]);
  }
  return rows;
}

}  // namespace

LoadedRows loaded_rows(const Graph& graph, Communicator& comm) {
  LoadedRows loaded;
  loaded.first = &graph;
  loaded.first_row = all_gather(comm, std::uint64_t{graph.first_row});
  loaded.first_row.push_back(graph.num_vertices);
  return loaded;
}

LocalRows exchange_rows(const LoadedRows& loaded, const VertexDistribution& rows,
                        std::span<const std::uint64_t> row_lengths, Communicator& comm) {
  const RowFinder finder(loaded, comm.rank());
  const bool weighted = loaded.first->weighted;
  Outgoing out = pack_rows(finder, rows, weighted);
  std::vector<std::uint64_t> next, next_value;  // position in what each rank sent
  const Buffer<VertexId> columns = all_to_all<VertexId>(comm, out.columns.span(), out.offsets, next);
  out.columns = {};  // sent: the copies of the edges are what decides the peak of the memory
  Buffer<double> values;
  if (weighted) values = all_to_all<double>(comm, out.values.span(), out.offsets, next_value);
  out.values = {};

  const auto mine = rows.of_rank(comm.rank());
  Buffer<EdgeOffset> lengths(mine.size()), places(mine.size());  // of each row in what has come
  for (std::size_t i = 0; i < mine.size(); ++i) {
    std::uint64_t& place = next[finder.owner(mine[i])];
    lengths[i] = row_lengths[mine[i]];
    places[i] = place;
    place += lengths[i];
  }
  return gathered(lengths, places, columns.data(), weighted ? values.data() : nullptr);
}

LocalRows copied_rows(const CsrView<double>& matrix, std::span<const VertexId> rows) {
  const auto num_rows = static_cast<std::int64_t>(rows.size());
  Buffer<EdgeOffset> lengths(rows.size()), places(rows.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < num_rows; ++i) {
    places[i] = matrix.row_offsets[rows[i]];
    lengths[i] = matrix.row_offsets[rows[i] + 1] - places[i];
  }
  return gathered(lengths, places, matrix.col_indices, matrix.values);
}

}  // namespace tessera
