// tessera convert
#include "tools/all_commands.hpp"
#include "tools/exit_code.hpp"
#include "tools/graph_input.hpp"
#include "tools/graph_output.hpp"
#include "tools/output_paths.hpp"

namespace tessera::cli {
namespace {

class ConvertCommand : public Command {
 public:
  ConvertCommand();
  void check_options() const override;
  NamedPaths outputs() const override { return {{"OUT", out_}, {"--report", general_.report}}; }
  int run(Session& session) override;

 private:
  GraphOptions graph_;
  std::string out_;
};

ConvertCommand::ConvertCommand()
    : Command("convert",
              "Writes a graph as the binary cache (.tsr), an edge list (.tsv .txt .el .csv) or Matrix Market "
              "(.mtx).\n"
              "Labels and weights are kept; the rules for duplicates, self-loops and direction are applied.\n"
              "Nodes without edges stay in .tsr and .mtx; for an edge list, which would lose them, "
              "the graph is refused.",
              {"tessera convert links.txt.gz links.tsr", "tessera convert links.tsr links.csv",
               "tessera convert links.mtx - | sort"}) {
  add_graph_options(options_, graph_);
  options_.positional("out", out_, "file to write, or - (edge list)").placeholder = "OUT";
  add_general_options(false);
}

void ConvertCommand::check_options() const {
  check_graph_options(graph_);
  graph_file_kind(out_);
  check_distinct_outputs(outputs());
  check_inputs_are_kept({{"GRAPH", graph_.path}}, outputs());
}

int ConvertCommand::run(Session& session) {
  check_writable_outputs(outputs(), session.comm());
  const Graph graph = load_input(graph_, session);
  write_graph(graph, out_, session);
  session.write_report();
  return kExitFine;
}

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace tessera::cli
