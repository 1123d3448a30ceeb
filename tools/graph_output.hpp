// A graph to a file, in the format that its suffix names.
#pragma once
#include <string>

#include "engine/graph.hpp"
#include "tools/session.hpp"

namespace tessera::cli {

enum class GraphFileKind { cache, edge_list, matrix_market };

/// .tsr: cache; .tsv .txt .el .csv, "-" and what is in /dev: edge list; .mtx: Matrix Market.
/// Throws OptionError naming these.
GraphFileKind graph_file_kind(const std::string& path);

/// Collective; atomic.
void write_graph(const Graph& graph, const std::string& path, Session& session);

}  // namespace tessera::cli
