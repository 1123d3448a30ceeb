#include "tools/node_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "algorithms/vertex_values.hpp"
#include "engine/io/label_file.hpp"
#include "kernels/base/error.hpp"

namespace tessera::cli {
namespace {

std::vector<std::string> labels_of(const std::vector<LabelValue>& entries) {
  std::vector<std::string> labels;
  for (const LabelValue& entry : entries) labels.push_back(entry.label);
  return labels;
}

[[noreturn]] void throw_twice(const std::string& path, const LabelValue& entry, const LabelValue& before) {
  throw InputError(fmt::format("{}:{}: expected each label once, found \"{}\" again (first in line {})", path,
                               entry.line, entry.label, before.line));
}

}  // namespace

double NodeValues::sum() const { return accurate_sum(values); }

NodeValues read_node_values(const std::string& path, std::string_view column, const Graph& graph,
                            UnknownLabels unknown, Communicator& comm, std::optional<double> value_if_none) {
  const std::vector<LabelValue> entries = read_label_values(path, column, comm, value_if_none);
  const std::vector<VertexId> ids = find_labels(labels_of(entries), graph.labels, comm);
  NodeValues result;
  result.values.assign(graph.num_vertices, 0.0);
  result.is_given.assign(graph.num_vertices, false);
  std::unordered_map<VertexId, std::size_t> first;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (ids[i] == kNoVertex) {
      if (unknown == UnknownLabels::error)
        throw InputError(
            fmt::format("{}:{}: expected the label of a node of the graph, found \"{}\"; labels are "
                        "compared as they are written in the graph's file",
                        path, entries[i].line, entries[i].label));
      ++result.num_unknown;
      continue;
    }
    const auto [found, is_new] = first.emplace(ids[i], i);
    if (!is_new) throw_twice(path, entries[i], entries[found->second]);
    result.values[ids[i]] = entries[i].value;
    result.is_given[ids[i]] = true;
    ++result.num_given;
  }
  if (!std::isfinite(result.sum()))
    throw InputError(path + ": the sum of the values is too large for a double; scale them down");
  if (result.num_given == 0)
    throw InputError(fmt::format("{}: expected labels of nodes, found none among {} label{}", path,
                                 entries.size(), entries.size() == 1 ? "" : "s"));
  if (!(result.sum() > 0))
    throw InputError(fmt::format("{}: expected values with a sum above 0, found {} nodes with sum 0", path,
                                 result.num_given));
  return result;
}

std::vector<VertexId> find_queries(const std::vector<PlacedLabel>& queries, const Graph& graph,
                                   Communicator& comm) {
  constexpr std::size_t kNamed = 20;
  std::vector<std::string> labels;
  for (const PlacedLabel& query : queries) labels.push_back(query.label);
  const std::vector<VertexId> ids = find_labels(labels, graph.labels, comm);
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == kNoVertex) unknown.push_back(i);
  if (unknown.empty()) return ids;
  const PlacedLabel& first = queries[unknown.front()];
  std::string others;
  if (unknown.size() > 1) {
    for (std::size_t k = 0; k < std::min(unknown.size(), kNamed); ++k)
      others += fmt::format("{}\"{}\"", k == 0 ? "" : ", ", labels[unknown[k]]);
    if (unknown.size() > kNamed) others += fmt::format(" and {} more", unknown.size() - kNamed);
    others = fmt::format("; {} of {} queries are no nodes: {}", unknown.size(), labels.size(), others);
  }
  throw InputError(fmt::format(
      "{}: expected the label of a node of the graph, found \"{}\"{}; labels are compared as they "
      "are written in the graph's file",
      first.place, first.label, others));
}

}  // namespace tessera::cli
