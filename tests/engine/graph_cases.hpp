// Small graphs and a naive builder for the tests of building and of what is derived from graphs.
#pragma once
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/graph_builder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {

/// An edge as it stands in a file.
struct FileEdge {
  std::string source, target;
  double weight = 1;
};

struct Case {
  LabelKind kind = LabelKind::integer;
  bool weighted = false, undirected = false, reverse = false;
  std::uint64_t declared_vertices = 0;  // kind range
  Duplicates duplicates = Duplicates::merge;
  SelfLoops self_loops = SelfLoops::keep;
  bool wide = false;  // kind integer: 64-bit keys
  std::vector<FileEdge> edges;
};

/// A whole graph, as plain as possible.
struct PlainGraph {
  std::vector<std::string> labels;
  std::vector<std::uint64_t> row_offsets{0};
  std::vector<VertexId> col_indices;
  std::vector<double> weights;
  std::uint64_t num_edges = 0, self_loops = 0, self_loops_dropped = 0, duplicate_edges = 0;
  bool operator==(const PlainGraph&) const = default;
};

inline void PrintTo(const PlainGraph& g, std::ostream* out) {
  *out << g.num_edges << " edges, " << g.self_loops << " loops (" << g.self_loops_dropped << " dropped), "
       << g.duplicate_edges << " duplicates; labels";
  for (const auto& label : g.labels) *out << ' ' << label;
  for (std::size_t v = 0; v + 1 < g.row_offsets.size(); ++v) {
    *out << "; " << v << " <-";
    for (auto e = g.row_offsets[v]; e < g.row_offsets[v + 1]; ++e) {
      *out << ' ' << g.col_indices[e];
      if (!g.weights.empty()) *out << '*' << g.weights[e];
    }
  }
}

inline std::vector<std::string> labels_in_order(const Case& c) {
  std::vector<std::string> labels;
  if (c.kind == LabelKind::range) {
    for (std::uint64_t i = 0; i < c.declared_vertices; ++i) labels.push_back(std::to_string(i + 1));
    return labels;
  }
  for (const FileEdge& e : c.edges) labels.insert(labels.end(), {e.source, e.target});
  if (c.kind == LabelKind::integer)
    std::sort(labels.begin(), labels.end(),
              [](const auto& a, const auto& b) { return std::stoull(a) < std::stoull(b); });
  else
    std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

/// What build_graph must give.
inline PlainGraph naive_graph(const Case& c) {
  PlainGraph g;
  g.labels = labels_in_order(c);
  std::map<std::string, VertexId> id;
  for (const std::string& label : g.labels) id.emplace(label, static_cast<VertexId>(id.size()));
  std::vector<std::tuple<VertexId, VertexId, double>> directed;  // target, source
  for (const FileEdge& e : c.edges) {
    VertexId u = id.at(e.source), v = id.at(e.target);
    if (c.reverse) std::swap(u, v);
    if (u == v) {
      ++g.self_loops;
      if (c.self_loops == SelfLoops::drop) {
        ++g.self_loops_dropped;
        continue;
      }
    }
    directed.emplace_back(v, u, e.weight);
    if (c.undirected && u != v) directed.emplace_back(u, v, e.weight);
  }
  std::stable_sort(directed.begin(), directed.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  g.row_offsets.assign(g.labels.size() + 1, 0);
  for (std::size_t i = 0; i < directed.size(); ++i) {
    const auto [v, u, w] = directed[i];
    const bool repeats = i > 0 && std::get<0>(directed[i - 1]) == v && std::get<1>(directed[i - 1]) == u;
    g.duplicate_edges += repeats;
    if (repeats && c.duplicates != Duplicates::keep) {
      if (c.weighted && c.duplicates == Duplicates::merge) g.weights.back() += w;
      continue;
    }
    g.col_indices.push_back(u);
    if (c.weighted) g.weights.push_back(w);
    for (std::size_t row = v + 1; row < g.row_offsets.size(); ++row) ++g.row_offsets[row];
  }
  g.num_edges = g.col_indices.size();
  return g;
}

inline std::uint32_t intern(StringDictionary& dictionary, const std::string& text) {
  for (std::uint32_t k = 0; k < dictionary.size(); ++k)
    if (dictionary.text(k) == text) return k;
  dictionary.bytes += text;
  dictionary.offsets.push_back(dictionary.bytes.size());
  return static_cast<std::uint32_t>(dictionary.size() - 1);
}

/// What a parser would hand over for this rank's contiguous share, in chunks of `edges_per_chunk` edges;
/// strings alternate between two dictionaries.
inline ParsedEdges parsed_share(const Case& c, Communicator& comm, std::size_t edges_per_chunk = 3) {
  ParsedEdges parsed;
  parsed.kind = c.kind;
  parsed.weighted = c.weighted;
  parsed.undirected = c.undirected;
  parsed.reverse = c.reverse;
  parsed.first_label = c.kind == LabelKind::range ? 1 : 0;
  parsed.declared_vertices = c.declared_vertices;
  if (c.kind == LabelKind::string) parsed.dictionaries.resize(2);
  const std::size_t first = c.edges.size() * comm.rank() / comm.size();
  const std::size_t last = c.edges.size() * (comm.rank() + 1) / comm.size();
  for (std::size_t begin = first; begin < last; begin += edges_per_chunk) {
    const std::size_t count = std::min(edges_per_chunk, last - begin);
    EdgeChunk chunk;
    chunk.dictionary = static_cast<std::uint32_t>(parsed.chunks.size() % 2);
    std::vector<std::uint64_t> keys;
    for (std::size_t i = begin; i < begin + count; ++i)
      for (const std::string& label : {c.edges[i].source, c.edges[i].target}) {
        if (c.kind == LabelKind::string)
          keys.push_back(intern(parsed.dictionaries[chunk.dictionary], label));
        else
          keys.push_back(std::stoull(label) - parsed.first_label);
        parsed.max_key = std::max(parsed.max_key, keys.back());
      }
    if (c.wide) {
      chunk.wide_pairs = Buffer<std::uint64_t>(keys.size());
      std::copy(keys.begin(), keys.end(), chunk.wide_pairs.begin());
    } else {
      chunk.pairs = Buffer<std::uint32_t>(keys.size());
      std::copy(keys.begin(), keys.end(), chunk.pairs.begin());
    }
    if (c.weighted) chunk.weights = Buffer<double>(count);
    for (std::size_t i = 0; c.weighted && i < count; ++i) chunk.weights[i] = c.edges[begin + i].weight;
    parsed.chunks.push_back(std::move(chunk));
  }
  parsed.facts.edges_read = last - first;
  return parsed;
}

/// All ranks' parts of a graph, put together; called by every rank, the result is rank by rank in `whole`.
class GraphCollector {
 public:
  void add(const Graph& graph, Communicator& comm) {
    for (int turn = 0; turn < comm.size(); ++turn) {
      comm.barrier();
      if (turn == comm.rank()) append(graph);
    }
    comm.barrier();
  }
  const PlainGraph& whole() const { return whole_; }

 private:
  void append(const Graph& graph) {
    EXPECT_EQ(graph.first_row, whole_.row_offsets.size() - 1);
    EXPECT_EQ(graph.labels.size(), graph.num_local_rows);
    EXPECT_EQ(graph.labels.first_id, graph.first_row);
    EXPECT_EQ(graph.weights.size(), graph.weighted ? graph.col_indices.size() : 0);
    ASSERT_EQ(graph.row_offsets.size(), graph.num_local_rows + 1);
    EXPECT_EQ(graph.row_offsets[0], 0u);
    const std::uint64_t base = whole_.col_indices.size();
    for (std::uint64_t r = 0; r < graph.num_local_rows; ++r) {
      whole_.row_offsets.push_back(base + graph.row_offsets[r + 1]);
      whole_.labels.push_back(graph.labels.text(static_cast<VertexId>(graph.first_row + r)));
    }
    whole_.col_indices.insert(whole_.col_indices.end(), graph.col_indices.begin(), graph.col_indices.end());
    whole_.weights.insert(whole_.weights.end(), graph.weights.begin(), graph.weights.end());
    whole_.num_edges = graph.num_edges;
    whole_.self_loops = graph.facts.self_loops;
    whole_.self_loops_dropped = graph.facts.self_loops_dropped;
    whole_.duplicate_edges = graph.facts.duplicate_edges;
  }
  PlainGraph whole_;
};

inline GraphOptions options_of(const Case& c) {
  GraphOptions options;
  options.duplicates = c.duplicates;
  options.self_loops = c.self_loops;
  return options;
}

inline PlainGraph built_graph(const Case& c, int num_ranks, int num_threads = 1,
                              std::size_t edges_per_chunk = 3) {
  GraphCollector collector;
  run_ranks(num_ranks, [&](Communicator& comm) {
    omp_set_num_threads(num_threads);
    collector.add(build_graph(parsed_share(c, comm, edges_per_chunk), options_of(c), comm), comm);
  });
  return collector.whole();
}

}  // namespace tessera::test
