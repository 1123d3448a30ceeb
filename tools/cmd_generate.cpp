// tessera generate
#include <algorithm>
#include <cmath>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "tools/all_commands.hpp"
#include "tools/exit_code.hpp"
#include "tools/graph_output.hpp"
#include "tools/memory.hpp"
#include "tools/output_paths.hpp"
#include "tools/report.hpp"

namespace tessera::cli {
namespace {

class GenerateCommand : public Command {
 public:
  GenerateCommand();
  void check_options() const override;
  NamedPaths outputs() const override { return {{"--output", output_}, {"--report", general_.report}}; }
  int run(Session& session) override;

 private:
  GeneratorOptions generator_;
  GraphOptions graph_;  // the rules for edges only
  std::string kind_, output_;
  bool keep_ids_ = false;
};

/// Pairs of ids and the rows made of them, on one rank; what generating and sorting took, rounded up.
std::uint64_t generating_bytes(const GeneratorOptions& options, bool undirected, Communicator& comm) {
  constexpr double kBytesAnEdge = 10, kBytesAReverseEdge = 5, kBytesANode = 32;
  const double a_node = options.edge_factor * (kBytesAnEdge + (undirected ? kBytesAReverseEdge : 0));
  return static_cast<std::uint64_t>(std::ldexp(a_node / comm.size() + kBytesANode, options.scale));
}

GenerateCommand::GenerateCommand()
    : Command("generate",
              "Makes a synthetic graph: rmat (power law, as in Graph500) or uniform.\n"
              "The same for any number of threads and processes.",
              {"tessera generate rmat --scale 20 --edge-factor 16 --seed 1 -o g.tsr",
               "tessera generate uniform --scale 10 --edge-factor 4 -o g.tsv"}) {
  options_.positional("kind", kind_, "rmat or uniform").placeholder = "rmat|uniform";
  options_.group("Graph");
  options_.count("scale", generator_.scale, 1, 31, "2^N nodes");
  options_.number("edge-factor", generator_.edge_factor, {.low = 0, .high = 1e6, .low_open = true},
                  "edges a node, before repeated ones are merged");
  options_.count("seed", generator_.seed, 0, std::numeric_limits<std::uint64_t>::max(),
                 "another number, another graph");
  const Range quadrant{.low = 0, .high = 1};
  options_.number("a", generator_.a, quadrant,
                  "R-MAT: share of the first quadrant; the fourth has what is left");
  options_.number("b", generator_.b, quadrant, "R-MAT: second quadrant");
  options_.number("c", generator_.c, quadrant, "R-MAT: third quadrant");
  options_.flag("keep-ids", keep_ids_, "R-MAT: do not scatter node ids, hubs come first");
  options_.flag("undirected", graph_.undirected, "add the reverse of each edge");
  options_.choice<Duplicates>(
      "duplicates", graph_.duplicates,
      {{"merge", Duplicates::merge}, {"keep", Duplicates::keep}, {"drop", Duplicates::drop}},
      "repeated edges");
  options_.choice<SelfLoops>("self-loops", graph_.self_loops,
                             {{"keep", SelfLoops::keep}, {"drop", SelfLoops::drop}},
                             "edges from a node to itself");
  options_
      .text("output", "FILE", output_,
            ".tsr, .tsv, .txt, .el, .csv or .mtx, or - (edge list); in an edge list nodes without "
            "edges do not occur")
      .letter = 'o';
  add_general_options(false);
}

void GenerateCommand::check_options() const {
  const std::vector<std::string> kinds{"rmat", "uniform"};
  if (kind_ != "rmat" && kind_ != "uniform")
    throw OptionError(
        fmt::format("generate: expected rmat or uniform, found \"{}\"{}", kind_, did_you_mean(kind_, kinds)));
  const std::vector<std::string> of_rmat{"a", "b", "c", "keep-ids"};
  for (const Option& option : options_.options())
    if (kind_ == "uniform" && option.source == "command line" &&
        std::find(of_rmat.begin(), of_rmat.end(), option.name) != of_rmat.end())
      throw OptionError(fmt::format("generate uniform: --{} is for rmat", option.name));
  if (output_.empty()) throw OptionError("generate: missing --output FILE");
  graph_file_kind(output_);
  check_distinct_outputs(outputs());
  if (generator_.a + generator_.b + generator_.c > 1)
    throw OptionError(fmt::format("generate: expected --a, --b and --c with a sum of at most 1, found {}",
                                  generator_.a + generator_.b + generator_.c));
}

int GenerateCommand::run(Session& session) {
  check_writable_outputs(outputs(), session.comm());
  GeneratorOptions options = generator_;
  options.kind = kind_ == "rmat" ? GeneratorKind::rmat : GeneratorKind::uniform;
  options.scramble_ids = !keep_ids_;
  check_memory(generating_bytes(options, graph_.undirected, session.comm()), "generating",
               "more machines, a smaller --scale or --edge-factor", session.comm());
  session.progress().phase("generating");
  ParsedEdges edges = session.timed("generate", [&] { return generate_edges(options, session.comm()); });
  edges.undirected = graph_.undirected;
  if (graph_file_kind(output_) == GraphFileKind::edge_list) {
    // An edge list cannot hold nodes without edges: let the nodes be the labels that occur.
    edges.kind = LabelKind::integer;
    edges.max_key = edges.declared_vertices - 1;
  }
  const Graph graph =
      session.timed("build", [&] { return build_graph(std::move(edges), graph_, session.comm()); });
  session.report()["graph"] = graph_json(graph);
  write_graph(graph, output_, session);
  session.write_report();
  return kExitFine;
}

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace tessera::cli
