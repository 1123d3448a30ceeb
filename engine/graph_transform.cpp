// Graphs made of graphs: every edge turned round, or in both directions, or copies (declared in
// graph_builder.hpp).
#include <algorithm>
#include <optional>
#include <utility>

#include "engine/graph_builder.hpp"
#include "engine/graph_rows.hpp"
#include "engine/merged_rows.hpp"
#include "kernels/base/error.hpp"
#include "kernels/symmetric_rows.hpp"

namespace tessera {
namespace {

LabelTable copy_of(const LabelTable& labels) {
  LabelTable copy;
  copy.kind = labels.kind;
  copy.first_label = labels.first_label;
  copy.first_id = labels.first_id;
  copy.count = labels.count;
  copy.integers = labels.integers.clone();
  copy.string_offsets = labels.string_offsets.clone();
  copy.string_bytes = labels.string_bytes.clone();
  return copy;
}

void copy_labels_and_facts(const Graph& graph, Graph& result, Communicator& comm) {
  result.facts = graph.facts;
  run_together(comm, [&] { result.labels = copy_of(graph.labels); });
}

/// Without labels and facts.
Graph turned_edges(const Graph& graph, Communicator& comm) {
  Graph result;
  result.num_vertices = graph.num_vertices;
  result.weighted = graph.weighted;
  if (graph.mapped) result.mapped = {graph.mapped->rows, turned_round(graph.mapped->directions)};
  if (graph.mapped && graph.mapped->directions == Directions::same) {
    GraphSource source(graph.mapped_csr(), graph.first_row, graph.first_row + graph.num_local_rows);
    make_own_rows(source, {.reverse = true}, Duplicates::keep, nullptr, result, comm);
  } else {
    GraphSource source(graph);
    make_rows(source, {.reverse = true}, Duplicates::keep, nullptr, result, comm);
  }
  return result;
}

/// This rank's rows of a graph's edges in both directions, made by devices; on all ranks or none.
std::optional<PatternRows> both_on_devices(const Graph& graph, Communicator& comm) {
  if (comm.size() > 1 && !graph.mapped) return std::nullopt;
  const CsrView<double> all = comm.size() == 1 ? graph.in_edges() : graph.mapped_csr();
  std::optional<PatternRows> rows;
  run_together(comm, [&] { rows = symmetrised_on_device(all, graph.first_row, graph.num_local_rows); });
  if (!all_true(comm, rows.has_value())) rows.reset();
  return rows;
}

void take_rows(PatternRows rows, const Graph& graph, Graph& result, Communicator& comm) {
  result.first_row = graph.first_row;
  result.num_local_rows = graph.num_local_rows;
  result.num_edges = all_sum(comm, rows.col_indices.size());
  result.row_offsets = std::move(rows.row_offsets);
  result.col_indices = std::move(rows.col_indices);
}

}  // namespace

Graph transposed(const Graph& graph, Communicator& comm) {
  Graph result = turned_edges(graph, comm);
  copy_labels_and_facts(graph, result, comm);
  return result;
}

Graph symmetrised(const Graph& graph, Duplicates duplicates, Communicator& comm, bool may_use_device) {
  Graph result;
  result.num_vertices = graph.num_vertices;
  result.weighted = graph.weighted;
  const bool is_plain = !graph.weighted && duplicates != Duplicates::keep;
  std::optional<PatternRows> rows;
  if (may_use_device && is_plain) rows = both_on_devices(graph, comm);
  if (rows)
    take_rows(std::move(*rows), graph, result, comm);
  else
    merge_rows(graph, turned_edges(graph, comm), duplicates, result, comm);
  copy_labels_and_facts(graph, result, comm);
  result.facts.undirected = true;
  result.is_symmetric = true;
  if (is_plain && graph.mapped) result.mapped = {graph.mapped->rows, Directions::both};
  return result;
}

Graph side_by_side(const Graph& graph, std::uint64_t count) {
  const std::uint64_t n = graph.num_vertices, num_edges = graph.num_edges;
  require(graph.num_local_rows == n, "copies are made of a whole graph");
  if (checked_mul(n, count) >= kNoVertex) throw ResourceError("the copies have 2^32 vertices or more");
  Graph all;
  all.num_vertices = all.num_local_rows = n * count;
  all.num_edges = checked_mul(num_edges, count);
  all.weighted = graph.weighted;
  all.row_offsets = Buffer<EdgeOffset>(n * count + 1);
  all.col_indices = Buffer<VertexId>(all.num_edges);
  if (graph.weighted) all.weights = Buffer<double>(all.num_edges);
#pragma omp parallel for schedule(static)
  for (std::uint64_t c = 0; c < count; ++c) {
    for (std::uint64_t v = 0; v < n; ++v) all.row_offsets[c * n + v] = c * num_edges + graph.row_offsets[v];
    for (std::uint64_t e = 0; e < num_edges; ++e)
      all.col_indices[c * num_edges + e] = static_cast<VertexId>(graph.col_indices[e] + c * n);
    if (graph.weighted)
      std::copy(graph.weights.begin(), graph.weights.end(), all.weights.data() + c * num_edges);
  }
  all.row_offsets[n * count] = all.num_edges;
  return all;
}

}  // namespace tessera
