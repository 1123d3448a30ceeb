#include "tools/graph_output.hpp"

#include <array>
#include <utility>

#include "engine/io/atomic_file.hpp"
#include "engine/io/binary_cache.hpp"
#include "engine/io/graph_writer.hpp"
#include "tools/log.hpp"
#include "tools/report.hpp"
#include "tools/text_output.hpp"

namespace tessera::cli {

GraphFileKind graph_file_kind(const std::string& path) {
  constexpr std::array<std::pair<const char*, GraphFileKind>, 6> kSuffixes{
      {{".tsr", GraphFileKind::cache},
       {".tsv", GraphFileKind::edge_list},
       {".txt", GraphFileKind::edge_list},
       {".el", GraphFileKind::edge_list},
       {".csv", GraphFileKind::edge_list},
       {".mtx", GraphFileKind::matrix_market}}};
  for (const auto& [suffix, kind] : kSuffixes)
    if (path.ends_with(suffix)) return kind;
  if (path == "-" || path.starts_with("/dev/")) return GraphFileKind::edge_list;
  throw OptionError(
      fmt::format("expected an output file that ends in .tsr (cache), .tsv, .txt, .el, .csv (edge list) "
                  "or .mtx (Matrix Market), or -, found \"{}\"",
                  path));
}

void write_graph(const Graph& graph, const std::string& path, Session& session) {
  session.progress().phase("writing");
  session.timed("write", [&] {
    write_to_reader(path, session.comm(), [&] {
      switch (graph_file_kind(path)) {
        case GraphFileKind::cache:
          return write_binary_cache(graph, path, session.comm());
        case GraphFileKind::edge_list:
          return write_edge_list(graph, path, session.comm());
        case GraphFileKind::matrix_market:
          return write_matrix_market(graph, path, session.comm());
      }
    });
  });
  session.progress().done();
  if (!has_temporary(path)) return;  // it has no size
  log_info(fmt::format("{}: {} nodes, {} edges, {} bytes", path, graph.num_vertices, graph.num_edges,
                       file_size_bytes(path)));
}

}  // namespace tessera::cli
