#include "tools/node_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

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

double NodeValues::sum() const {
  double total = 0;
  for (double value : values) total += value;
  return total;
}

NodeValues read_node_values(const std::string& path, std::string_view column, const Graph& graph,
                            UnknownLabels unknown, Communicator& comm) {
  const std::vector<LabelValue> entries = read_label_values(path, column, comm);
  const std::vector<VertexId> ids = find_labels(labels_of(entries), graph.labels, comm);
  NodeValues result;
  result.values.assign(graph.num_vertices, 0.0);
  result.is_given.assign(graph.num_vertices, false);
  std::unordered_map<VertexId, std::size_t> first;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (ids[i] == kNoVertex) {
      if (unknown == UnknownLabels::error)
        throw InputError(fmt::format("{}:{}: expected the label of a node, found \"{}\"", path,
                                     entries[i].line, entries[i].label));
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
  if (!(result.sum() > 0))
    throw InputError(fmt::format("{}: expected values with a sum above 0, found {} nodes with sum 0", path,
                                 result.num_given));
  return result;
}

std::vector<VertexId> find_all_labels(const std::vector<std::string>& labels, const Graph& graph,
                                      Communicator& comm) {
  constexpr std::size_t kNamed = 20;
  const std::vector<VertexId> ids = find_labels(labels, graph.labels, comm);
  std::string unknown;
  std::size_t num_unknown = 0;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == kNoVertex && ++num_unknown <= kNamed)
      unknown += fmt::format("{}\"{}\"", unknown.empty() ? "" : ", ", labels[i]);
  if (num_unknown > kNamed) unknown += fmt::format(" and {} more", num_unknown - kNamed);
  if (num_unknown != 0)
    throw InputError(fmt::format("expected query labels that are nodes of the graph; {} of {} are not: {}",
                                 num_unknown, labels.size(), unknown));
  return ids;
}

}  // namespace tessera::cli
