#include "tools/graph_input.hpp"

#include "engine/load_graph.hpp"
#include "tools/log.hpp"
#include "tools/memory.hpp"
#include "tools/report.hpp"

namespace tessera::cli {
namespace {

/// What the file is, and what stands in it.
void add_file_options(OptionTable& table, GraphOptions& options) {
  Option& graph =
      table.positional("graph", options.path, "edge list, Matrix Market, cache ... or - (standard input)");
  graph.placeholder = "GRAPH";
  table.choice<InputFormat>("format", options.format,
                            {{"auto", InputFormat::automatic},
                             {"edge-list", InputFormat::edge_list},
                             {"csv", InputFormat::csv},
                             {"konect", InputFormat::konect},
                             {"mtx", InputFormat::matrix_market},
                             {"cache", InputFormat::cache}},
                            "what the file is; auto looks at its content");
  table.add({.name = "delimiter",
             .placeholder = "BYTE",
             .help = "between columns: one byte, or tab, comma, space, semicolon, or auto",
             .set = [&options](const std::string& text) { options.delimiter = parse_delimiter(text); },
             .get = [&options] { return std::vector<std::string>{delimiter_text(options.delimiter)}; }});
  table.choice<HeaderLine>(
      "header", options.header,
      {{"auto", HeaderLine::automatic}, {"yes", HeaderLine::yes}, {"no", HeaderLine::no}},
      "whether the first line names the columns");
  table.text("columns", "SRC,DST[,W]", options.columns,
             "which columns to use: numbers from 1, or names of the header line; SRC and DST must differ");
  table.choice<LabelChoice>(
      "labels", options.labels,
      {{"auto", LabelChoice::automatic}, {"int", LabelChoice::integer}, {"string", LabelChoice::string}},
      "what node labels are; auto: integers when all of them are");
}

/// What becomes of the edges.
void add_edge_options(OptionTable& table, GraphOptions& options) {
  table
      .flag("weighted", options.weighted, "use the third column as weight, or the one that a header calls so")
      .opposite = "unweighted";
  table.flag("unweighted", options.unweighted, "ignore weights that the file declares").opposite = "weighted";
  table.flag("undirected", options.undirected, "add the reverse of each edge").opposite = "directed";
  table.flag("directed", options.directed, "do not, although the file declares the graph undirected")
      .opposite = "undirected";
  table.flag("reverse", options.reverse, "a line \"u v\" means an edge from v to u");
  table.choice<Duplicates>(
      "duplicates", options.duplicates,
      {{"merge", Duplicates::merge}, {"keep", Duplicates::keep}, {"drop", Duplicates::drop}},
      "repeated edges: merge (once; weights are added), keep, or drop (the first stays)");
  table.choice<SelfLoops>("self-loops", options.self_loops,
                          {{"keep", SelfLoops::keep}, {"drop", SelfLoops::drop}},
                          "edges from a node to itself");
}

/// A size line may declare billions of nodes in a few bytes: their rows alone are 8 bytes each, dealt to all.
void check_row_memory(std::uint64_t num_nodes, Communicator& comm) {
  const std::string what = fmt::format("reading a matrix of {} declared rows", num_nodes);
  check_memory(8 * (num_nodes / static_cast<std::uint64_t>(comm.size())), what.c_str(),
               "the true size in the size line, a smaller matrix or more machines", comm);
}

}  // namespace

void add_graph_options(OptionTable& table, GraphOptions& options) {
  table.group("Input");
  add_file_options(table, options);
  add_edge_options(table, options);
  table.text("member", "NAME", options.archive_member, "which file of an archive");
}

void check_graph_options(const GraphOptions& options) {
  if (options.weighted && options.unweighted)
    throw OptionError("--weighted and --unweighted exclude each other");
  if (options.undirected && options.directed)
    throw OptionError("--undirected and --directed exclude each other");
}

Graph load_input(const GraphOptions& options, Session& session) {
  LoadTimes times;
  GraphOptions checked = options;
  checked.check_declared_nodes = [&](std::uint64_t nodes) { check_row_memory(nodes, session.comm()); };
  Graph graph = load_graph(checked, session.comm(), session.progress().reading(), &times);
  session.progress().done();
  session.add_seconds("read", times.read_seconds);
  session.add_seconds("build", times.build_seconds);
  session.report()["input"] = input_json(options.path, graph.facts);
  session.report()["graph"] = graph_json(graph);
  const GraphFacts& facts = graph.facts;
  for (const std::string& note : facts.notes) log_info(note);
  if (facts.extra_columns != 0 && facts.extra_columns != facts.edges_read)
    log_warning(
        fmt::format("{}: {} of {} lines have more columns than the others; if this is a list of neighbours "
                    "or has a line of "
                    "sizes, turn it into one edge a line (see `tessera help formats`)",
                    input_name(options.path), facts.extra_columns, facts.edges_read));
  // As of a symmetric matrix that lists both triangles.
  if (graph.weighted && facts.duplicate_edges != 0 && facts.duplicates == Duplicates::merge)
    log_info(fmt::format(
        "{}: {} edges repeat others, whose weights they were added to (--duplicates drop keeps the first)",
        input_name(options.path), facts.duplicate_edges));
  log_detail(fmt::format("{}: {}, compression {}, labels {}, {} lines, {} edges read",
                         input_name(options.path), facts.format, facts.compression, facts.label_choice,
                         facts.lines_read, facts.edges_read));
  log_detail(fmt::format("{} self-loops ({} dropped), {} duplicate edges, {} zero weights", facts.self_loops,
                         facts.self_loops_dropped, facts.duplicate_edges, facts.zero_weights));
  return graph;
}

void require_edges(const Graph& graph, const GraphOptions& options) {
  if (graph.num_edges != 0) return;
  const char* why = "no edges; expected at least one line with two labels";
  if (graph.facts.edges_read != 0 && options.self_loops == SelfLoops::drop)
    why = "no edges left after dropping self-loops; use --self-loops keep";
  else if (graph.facts.format == "Matrix Market")
    why = "no edges; the matrix has no entries";
  else if (graph.facts.format == "tessera cache")
    why = "no edges; the cache holds none";
  throw InputError(fmt::format("{}: {}", input_name(options.path), why));
}

void check_one_stdin(const std::vector<std::pair<std::string, std::string>>& name_and_path) {
  std::string first;
  for (const auto& [name, path] : name_and_path) {
    if (path != "-") continue;
    if (!first.empty())
      throw OptionError(
          fmt::format("{} and {} are both \"-\", but there is one standard input", first, name));
    first = name;
  }
}

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace tessera::cli
