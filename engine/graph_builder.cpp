// See graph_builder.hpp. Labels to ids (label_assignment), edges to owners (edge_exchange), rows sorted
// (row_sorter).
#include "engine/graph_builder.hpp"

#include "engine/graph_rows.hpp"
#include "engine/label_assignment.hpp"

namespace tessera {
namespace {

/// Counts of all ranks; texts are the same everywhere already.
GraphFacts global_facts(const ParsedEdges& parsed, Communicator& comm) {
  GraphFacts facts = parsed.facts;
  std::uint64_t sums[] = {facts.lines_read, facts.edges_read, facts.zero_weights, facts.extra_columns};
  comm.all_sum(std::span<std::uint64_t>(sums));
  facts.lines_read = sums[0];
  facts.edges_read = sums[1];
  facts.zero_weights = sums[2];
  facts.extra_columns = sums[3];
  facts.undirected = parsed.undirected;
  facts.reversed = parsed.reverse;
  return facts;
}

}  // namespace

Graph build_graph(ParsedEdges parsed, const GraphOptions& options, Communicator& comm) {
  Graph graph;
  graph.facts = global_facts(parsed, comm);
  graph.facts.duplicates = options.duplicates;
  LabelAssignment assignment = assign_labels(parsed, comm);
  graph.num_vertices = assignment.num_vertices;
  graph.weighted = parsed.weighted;
  graph.labels = std::move(assignment.labels);
  const EdgeRules rules{parsed.undirected, parsed.reverse, options.self_loops == SelfLoops::drop};
  PairSource source(std::move(parsed.chunks));
  const RowCounts counts = make_rows(source, rules, options.duplicates,
                                     assignment.keys ? &*assignment.keys : nullptr, graph, comm);
  graph.facts.self_loops = counts.self_loops;
  graph.facts.self_loops_dropped = rules.drop_loops ? counts.self_loops : 0;
  graph.facts.duplicate_edges = counts.duplicate_edges;
  return graph;
}

}  // namespace tessera
