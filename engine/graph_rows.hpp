// The last steps that building and turning round share: edges of all ranks to the rows of a Graph.
#pragma once
#include "engine/edge_exchange.hpp"
#include "engine/row_sorter.hpp"
#include "partition/run_together.hpp"

namespace tessera {

/// Counts of all ranks together.
struct RowCounts {
  std::uint64_t self_loops = 0, duplicate_edges = 0;
};

/// Fills rows and num_edges of `graph`, whose num_vertices and `weighted` are set, from `source` (consumed).
/// `keys`: see LabelAssignment; null when edges hold ids. Collective.
template <class Source>
RowCounts make_rows(Source& source, const EdgeRules& rules, Duplicates duplicates, const KeySet* keys,
                    Graph& graph, Communicator& comm) {
  const auto boundaries = block_boundaries(graph.num_vertices, comm.size());
  graph.first_row = static_cast<VertexId>(boundaries[comm.rank()]);
  graph.num_local_rows = boundaries[comm.rank() + 1] - boundaries[comm.rank()];
  RowSortOptions options{
      rules, duplicates, graph.weighted, graph.first_row, graph.num_local_rows, graph.num_vertices, keys};
  SortedRows rows;
  RowCounts counts;
  if (comm.size() == 1) {
    if (keys != nullptr) options.num_rows = options.num_sources = keys->universe();
    run_together(comm, [&] { rows = sort_rows(source, options); });
    counts.self_loops = rows.self_loops;
  } else {
    PairSource received(
        exchange_edges(source, rules, graph.weighted, graph.num_vertices, counts.self_loops, comm));
    options.rules = {};
    run_together(comm, [&] { rows = sort_rows(received, options); });
  }
  graph.row_offsets = std::move(rows.row_offsets);
  graph.col_indices = std::move(rows.col_indices);
  graph.weights = std::move(rows.weights);
  std::uint64_t sums[] = {counts.self_loops, rows.duplicate_edges, graph.col_indices.size()};
  comm.all_sum(std::span<std::uint64_t>(sums));
  graph.num_edges = sums[2];
  return {sums[0], sums[1]};
}

}  // namespace tessera
