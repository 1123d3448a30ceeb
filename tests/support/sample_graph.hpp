// Small graphs made by hand or at random for tests of readers and writers, whole or as a rank's block.
#pragma once
#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph.hpp"
#include "partition/communicator.hpp"

namespace tessera::test {

template <class T, class Values>
Buffer<T> buffer_of(const Values& values) {
  Buffer<T> buffer(values.size());
  std::copy(values.begin(), values.end(), buffer.begin());
  return buffer;
}

inline LabelTable range_labels(std::uint64_t count, std::uint64_t first_label) {
  LabelTable table;
  table.count = count;
  table.first_label = first_label;
  return table;
}

/// `labels` ascending.
inline LabelTable integer_labels(const std::vector<std::uint64_t>& labels) {
  LabelTable table;
  table.kind = LabelKind::integer;
  table.count = labels.size();
  table.integers = buffer_of<std::uint64_t>(labels);
  return table;
}

/// `labels` ascending.
inline LabelTable string_labels(const std::vector<std::string>& labels) {
  LabelTable table;
  table.kind = LabelKind::string;
  table.count = labels.size();
  std::string bytes;
  std::vector<std::uint64_t> offsets{0};
  for (const std::string& label : labels) {
    bytes += label;
    offsets.push_back(bytes.size());
  }
  table.string_offsets = buffer_of<std::uint64_t>(offsets);
  table.string_bytes = buffer_of<char>(bytes);
  return table;
}

/// This rank's block of `whole`, which has all ids.
inline LabelTable block_of(const LabelTable& whole, Communicator& comm) {
  const std::vector<std::uint64_t> blocks = block_boundaries(whole.count, comm.size());
  const std::uint64_t first = blocks[comm.rank()], last = blocks[comm.rank() + 1];
  LabelTable block;
  block.kind = whole.kind;
  block.first_label = whole.first_label;
  block.first_id = static_cast<VertexId>(first);
  block.count = last - first;
  if (whole.kind == LabelKind::integer)
    block.integers = buffer_of<std::uint64_t>(whole.integers.span().subspan(first, last - first));
  if (whole.kind != LabelKind::string) return block;
  const std::uint64_t begin = whole.string_offsets[first], end = whole.string_offsets[last];
  block.string_offsets =
      buffer_of<std::uint64_t>(whole.string_offsets.span().subspan(first, last - first + 1));
  for (std::uint64_t& offset : block.string_offsets) offset -= begin;
  block.string_bytes = buffer_of<char>(whole.string_bytes.span().subspan(begin, end - begin));
  return block;
}

/// Edges (source, target); weights 0.5, 1.5, ... in row order when `weighted`.
inline Graph sample_graph(std::vector<std::pair<VertexId, VertexId>> edges, LabelTable labels,
                          bool weighted = false) {
  std::sort(edges.begin(), edges.end(),
            [](auto a, auto b) { return std::pair(a.second, a.first) < std::pair(b.second, b.first); });
  Graph graph;
  graph.num_vertices = graph.num_local_rows = labels.count;
  graph.num_edges = edges.size();
  graph.weighted = weighted;
  graph.row_offsets = buffer_of<EdgeOffset>(std::vector<EdgeOffset>(labels.count + 1));
  graph.col_indices = Buffer<VertexId>(edges.size());
  if (weighted) graph.weights = Buffer<double>(edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    ++graph.row_offsets[edges[e].second + 1];
    graph.col_indices[e] = edges[e].first;
    if (weighted) graph.weights[e] = 0.5 + static_cast<double>(e);
  }
  for (std::size_t v = 0; v < labels.count; ++v) graph.row_offsets[v + 1] += graph.row_offsets[v];
  graph.labels = std::move(labels);
  graph.facts.format = "edge list";
  graph.facts.compression = "none";
  graph.facts.edges_read = edges.size();
  return graph;
}

/// Every vertex has an edge, so that text forms can hold the graph.
inline Graph random_graph(LabelTable labels, std::uint64_t num_edges, bool weighted, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t n = labels.count;
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (VertexId v = 0; v < n; ++v) edges.emplace_back(v, static_cast<VertexId>((v + 1) % n));
  while (n > 0 && edges.size() < num_edges) edges.emplace_back(random() % n, random() % n);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return sample_graph(edges, std::move(labels), weighted);
}

inline Graph block_of(const Graph& whole, Communicator& comm) {
  const std::vector<std::uint64_t> blocks = block_boundaries(whole.num_vertices, comm.size());
  const std::uint64_t first = blocks[comm.rank()], last = blocks[comm.rank() + 1];
  const EdgeOffset begin = whole.row_offsets[first], end = whole.row_offsets[last];
  Graph block;
  block.num_vertices = whole.num_vertices;
  block.num_edges = whole.num_edges;
  block.weighted = whole.weighted;
  block.first_row = static_cast<VertexId>(first);
  block.num_local_rows = last - first;
  block.row_offsets = buffer_of<EdgeOffset>(whole.row_offsets.span().subspan(first, last - first + 1));
  for (EdgeOffset& offset : block.row_offsets) offset -= begin;
  block.col_indices = buffer_of<VertexId>(whole.col_indices.span().subspan(begin, end - begin));
  if (whole.weighted) block.weights = buffer_of<double>(whole.weights.span().subspan(begin, end - begin));
  block.labels = block_of(whole.labels, comm);
  block.facts = whole.facts;
  return block;
}

/// As of a file that all ranks have mapped. `whole` must stay.
inline Graph mapped_block_of(const Graph& whole, Communicator& comm) {
  Graph block = block_of(whole, comm);
  block.mapped = {std::make_shared<const MappedRows>(
      MappedRows{unowned(whole.row_offsets), unowned(whole.col_indices), unowned(whole.weights)})};
  return block;
}

/// Rows, columns, weights and labels as text: equal texts are equal graphs (facts aside).
inline std::string describe(const Graph& graph) {
  std::ostringstream text;
  text.precision(17);
  text << graph.num_vertices << ' ' << graph.num_edges << ' ' << graph.weighted << " rows from "
       << graph.first_row << '\n';
  for (std::uint64_t row = 0; row < graph.num_local_rows; ++row) {
    text << graph.labels.text(static_cast<VertexId>(graph.first_row + row)) << ':';
    for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e) {
      text << ' ' << graph.col_indices[e];
      if (graph.weighted) text << '*' << graph.weights[e];
    }
    text << '\n';
  }
  return text.str();
}

}  // namespace tessera::test
