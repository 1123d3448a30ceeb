// Graphs made of graphs: every edge turned round, or in both directions (declared in graph_builder.hpp).
#include "engine/graph_builder.hpp"
#include "engine/graph_rows.hpp"

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

Graph remade(const Graph& graph, const EdgeRules& rules, Duplicates duplicates, Communicator& comm) {
  Graph result;
  result.num_vertices = graph.num_vertices;
  result.weighted = graph.weighted;
  result.facts = graph.facts;
  run_together(comm, [&] { result.labels = copy_of(graph.labels); });
  GraphSource source(graph);
  make_rows(source, rules, duplicates, nullptr, result, comm);
  return result;
}

}  // namespace

Graph transposed(const Graph& graph, Communicator& comm) {
  return remade(graph, {.reverse = true}, Duplicates::keep, comm);
}

Graph symmetrised(const Graph& graph, Duplicates duplicates, Communicator& comm) {
  Graph result = remade(graph, {.undirected = true}, duplicates, comm);
  result.facts.undirected = true;
  return result;
}

}  // namespace tessera
