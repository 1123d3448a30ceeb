#include "engine/io/cache_rules.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "engine/graph_builder.hpp"
#include "kernels/base/error.hpp"

namespace tessera {
namespace {

const char* name_of(Duplicates rule) {
  return rule == Duplicates::merge ? "merge" : rule == Duplicates::keep ? "keep" : "drop";
}

/// Merging and dropping differ in the weights alone, and no rule matters where nothing was repeated.
bool same_edges(Duplicates asked, const GraphFacts& facts, bool weighted) {
  if (asked == facts.duplicates || facts.duplicate_edges == 0) return true;
  return !weighted && asked != Duplicates::keep && facts.duplicates != Duplicates::keep;
}

/// The edges of the rows without u -> u.
void drop_self_loops(Graph& graph, Communicator& comm) {
  const std::uint64_t num_rows = graph.num_local_rows;
  const auto is_loop = [&](std::uint64_t row, EdgeOffset e) {
    return graph.col_indices[e] == graph.first_row + row;
  };
  Buffer<EdgeOffset> row_offsets(num_rows + 1);
  row_offsets[0] = 0;
  for (std::uint64_t row = 0; row < num_rows; ++row) {
    const VertexId* begin = graph.col_indices.data() + graph.row_offsets[row];
    const VertexId* end = graph.col_indices.data() + graph.row_offsets[row + 1];
    const auto [first, last] = std::equal_range(begin, end, static_cast<VertexId>(graph.first_row + row));
    row_offsets[row + 1] = row_offsets[row] + static_cast<EdgeOffset>((first - begin) + (end - last));
  }
  const EdgeOffset kept = row_offsets[num_rows];
  const EdgeOffset dropped = all_sum(comm, graph.row_offsets[num_rows] - kept);
  if (dropped == 0) return;
  Buffer<VertexId> columns(kept);
  Buffer<double> weights(graph.weighted ? kept : 0);
  tbb::parallel_for(std::uint64_t{0}, num_rows, [&](std::uint64_t row) {
    EdgeOffset to = row_offsets[row];
    for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e) {
      if (is_loop(row, e)) continue;
      columns[to] = graph.col_indices[e];
      if (graph.weighted) weights[to] = graph.weights[e];
      ++to;
    }
  });
  graph.row_offsets = std::move(row_offsets);
  graph.col_indices = std::move(columns);
  graph.weights = std::move(weights);
  graph.mapped.reset();
  graph.num_edges -= dropped;
  graph.facts.self_loops_dropped += dropped;
}

}  // namespace

void check_cache_options(const GraphOptions& options, bool weighted, LabelKind labels,
                         const GraphFacts& facts) {
  const auto refuse = [&](const std::string& what) { throw OptionError(options.path + ": " + what); };
  if (options.weighted && !weighted)
    refuse("--weighted: the cache holds no weights; make it again from the original file with --weighted");
  if (options.directed && facts.undirected)
    refuse(
        "--directed: the cache holds both directions of each edge; make it again from the original file "
        "with --directed");
  if (options.labels != LabelChoice::automatic &&
      (options.labels == LabelChoice::string) != (labels == LabelKind::string))
    refuse(std::string("--labels: the cache was made with ") +
           (labels == LabelKind::string ? "string" : "integer") +
           " labels; leave the option out, or make the cache "
           "again from the original file");
  if (!same_edges(options.duplicates, facts, weighted && !options.unweighted))
    refuse(std::string("--duplicates ") + name_of(options.duplicates) +
           ": the cache was made with --duplicates " + name_of(facts.duplicates) +
           "; ask for that, or make the cache again from the original file");
  if (options.undirected && !facts.undirected && weighted && !options.unweighted &&
      options.duplicates == Duplicates::drop)
    refuse(
        "--duplicates drop: which direction of an edge came first, whose weight would stay, is not in a "
        "cache; make it again from the original file with --undirected");
}

Graph apply_cache_options(Graph graph, const GraphOptions& options, Communicator& comm) {
  if (options.unweighted && graph.weighted) {
    graph.weighted = false;
    graph.weights = {};
  }
  if (options.self_loops == SelfLoops::drop) drop_self_loops(graph, comm);
  if (options.reverse) {
    const bool reversed = graph.facts.reversed;
    graph = transposed(graph, comm);
    graph.facts.reversed = !reversed;
  }
  if (options.undirected && !graph.facts.undirected) {
    const bool may_use_device = options.may_use_device && options.may_use_device(graph.num_edges);
    graph = symmetrised(graph, options.duplicates, comm, may_use_device);
    graph.facts.undirected = true;
  }
  return graph;
}

}  // namespace tessera
