// The input that every command but generate and tune begins with: its options, and loading it.
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/graph.hpp"
#include "engine/graph_options.hpp"
#include "kernels/base/error.hpp"
#include "tools/option_table.hpp"
#include "tools/session.hpp"

namespace tessera::cli {

/// GRAPH and the group "Input"; `options` is what the table sets.
void add_graph_options(OptionTable& table, GraphOptions& options);
/// Contradictions between them; throws OptionError.
void check_graph_options(const GraphOptions& options);

/// Loads the graph with progress, puts input, sizes and times into the report and notes on stderr.
/// Collective.
Graph load_input(const GraphOptions& options, Session& session);

/// Throws InputError for a graph that cannot be ranked because it has no edges.
void require_edges(const Graph& graph, const GraphOptions& options);

/// Throws OptionError when more than one of `paths` is "-": there is one standard input.
void check_one_stdin(const std::vector<std::pair<std::string, std::string>>& name_and_path);

/// PATH as messages name it: "standard input" for "-".
std::string input_name(const std::string& path);

/// run(); what it finds wrong with the graph is told with its name.
template <class F>
auto naming_graph(const GraphOptions& options, F&& run) {
  try {
    return run();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", input_name(options.path), error.what()));
  }
}

}  // namespace tessera::cli
