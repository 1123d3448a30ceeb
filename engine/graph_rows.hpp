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

/// Fills rows and num_edges of `graph`, whose num_vertices and `weighted` are set, from `source` (consumed),
/// whose edges are those of this rank's rows. `keys`: see LabelAssignment; null when edges hold ids.
/// Collective.
template <class Source>
RowCounts make_own_rows(Source& source, const EdgeRules& rules, Duplicates duplicates, const KeySet* keys,
                        Graph& graph, Communicator& comm) {
  const auto boundaries = block_boundaries(graph.num_vertices, comm.size());
  graph.first_row = static_cast<VertexId>(boundaries[comm.rank()]);
  graph.num_local_rows = boundaries[comm.rank() + 1] - boundaries[comm.rank()];
  RowSortOptions options{
      rules, duplicates, graph.weighted, graph.first_row, graph.num_local_rows, graph.num_vertices, keys};
  if (keys != nullptr) options.num_rows = options.num_sources = keys->universe();
  SortedRows rows;
  run_together(comm, [&] { rows = sort_rows(source, options); });
  graph.row_offsets = std::move(rows.row_offsets);
  graph.col_indices = std::move(rows.col_indices);
  graph.weights = std::move(rows.weights);
  std::uint64_t sums[] = {rows.self_loops, rows.duplicate_edges, graph.col_indices.size()};
  comm.all_sum(std::span<std::uint64_t>(sums));
  graph.num_edges = sums[2];
  return {sums[0], sums[1]};
}

/// The same from edges that may be any rank's; `keys` on one rank alone.
template <class Source>
RowCounts make_rows(Source& source, const EdgeRules& rules, Duplicates duplicates, const KeySet* keys,
                    Graph& graph, Communicator& comm) {
  if (comm.size() == 1) return make_own_rows(source, rules, duplicates, keys, graph, comm);
  std::uint64_t self_loops = 0;
  PairSource received(exchange_edges(source, rules, graph.weighted, graph.num_vertices, self_loops, comm));
  const RowCounts counts = make_own_rows(received, {}, duplicates, nullptr, graph, comm);
  return {all_sum(comm, self_loops), counts.duplicate_edges};
}

}  // namespace tessera
