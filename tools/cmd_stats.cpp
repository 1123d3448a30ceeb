// tessera stats
#include <algorithm>

#include "engine/graph_stats.hpp"
#include "partition/run_together.hpp"
#include "tools/all_commands.hpp"
#include "tools/backend_choice.hpp"
#include "tools/exit_code.hpp"
#include "tools/graph_input.hpp"
#include "tools/memory.hpp"
#include "tools/memory_plan.hpp"
#include "tools/output_paths.hpp"
#include "tools/precision.hpp"
#include "tools/report.hpp"
#include "tools/text_output.hpp"

namespace tessera::cli {
namespace {

class StatsCommand : public Command {
 public:
  StatsCommand();
  void check_options() const override {
    check_graph_options(graph_);
    check_inputs_are_kept({{"GRAPH", graph_.path}}, outputs());
  }
  int run(Session& session) override;

 private:
  template <class S>
  std::string tiling_text(const Graph& graph, Session& session) const;

  GraphOptions graph_;
  Precision precision_ = Precision::f64;
};

StatsCommand::StatsCommand()
    : Command("stats",
              "Sizes, degree skew, dangling nodes, duplicates, self-loops, tiling and time of a graph.",
              {"tessera stats links.txt", "tessera stats links.tsr --report facts.json"}) {
  add_graph_options(options_, graph_);
  options_.group("Matrix");
  options_.choice<Precision>("precision", precision_, {{"f32", Precision::f32}, {"f64", Precision::f64}},
                             "of the ranking that tiling and times are for");
  add_general_options(false);
}

void add_line(std::string& text, const std::string& name, const std::string& value) {
  text += fmt::format("{:<24}{}\n", name, value);
}

std::string facts_text(const GraphFacts& facts) {
  std::string text;
  add_line(text, "format", facts.format);
  add_line(text, "compression", facts.compression);
  add_line(text, "labels", facts.label_choice);
  add_line(text, "lines read", std::to_string(facts.lines_read));
  add_line(text, "edges read", std::to_string(facts.edges_read));
  add_line(text, "self-loops", fmt::format("{} ({} dropped)", facts.self_loops, facts.self_loops_dropped));
  add_line(text, "duplicate edges", std::to_string(facts.duplicate_edges));
  add_line(text, "zero weights", std::to_string(facts.zero_weights));
  add_line(text, "lines with more columns", std::to_string(facts.extra_columns));
  add_line(text, "made undirected", facts.undirected ? "yes" : "no");
  return text;
}

std::string shape_text(const GraphStats& stats, bool weighted) {
  std::string text;
  add_line(text, "nodes", std::to_string(stats.num_vertices));
  add_line(text, "edges", std::to_string(stats.num_edges));
  add_line(text, "weighted", weighted ? "yes" : "no");
  add_line(text, "symmetric", stats.symmetric ? "yes" : "no");
  add_line(text, "mean degree", fmt::format("{:.3f}", stats.mean_degree));
  add_line(text, "largest in-degree", std::to_string(stats.max_in_degree));
  add_line(text, "largest out-degree", std::to_string(stats.max_out_degree));
  add_line(text, "Gini in / out", fmt::format("{:.3f} / {:.3f}", stats.gini_in, stats.gini_out));
  add_line(text, "top 1 % in / out",
           fmt::format("{:.1f} % / {:.1f} % of edges", 100 * stats.top_1_percent_in,
                       100 * stats.top_1_percent_out));
  add_line(text, "dangling (no out-edge)", std::to_string(stats.dangling));
  add_line(text, "no in-edge", std::to_string(stats.sources_only));
  add_line(text, "isolated", std::to_string(stats.isolated));
  return text;
}

std::string histogram_text(const GraphStats& stats) {
  std::string text = fmt::format("\n{:<24}{:>14}{:>14}\n", "degree", "nodes (in)", "nodes (out)");
  const auto& in = stats.in_degree_histogram;
  const auto& out = stats.out_degree_histogram;
  const auto at = [](const std::vector<std::uint64_t>& bins, std::size_t k) {
    return k < bins.size() ? bins[k] : 0;
  };
  for (std::size_t k = 0; k < std::max(in.size(), out.size()); ++k) {
    const std::uint64_t low = k == 0 ? 0 : std::uint64_t{1} << (k - 1);
    const std::string range = k < 2 ? std::to_string(low) : fmt::format("{} .. {}", low, 2 * low - 1);
    text += fmt::format("{:<24}{:>14}{:>14}\n", range, at(in, k), at(out, k));
  }
  return text;
}

std::string milliseconds(const nlohmann::ordered_json& seconds) {
  return seconds.is_null() ? "not" : fmt::format("{:.3g} ms", 1e3 * seconds.get<double>());
}

/// Packs the matrix as pagerank would, to know tiles and padding.
template <class S>
std::string StatsCommand::tiling_text(const Graph& graph, Session& session) const {
  check_memory(plan_memory(graph, {}, precision_, session.comm()).more_bytes(), "packing",
               memory_remedy({}, precision_), session.comm());
  const std::string name = backend_for("auto", session.comm());
  const auto backend = make_backend<S>(name);
  const auto op = session.timed("pack", [&] {
    const OperatorOptions how{.table = load_tables(name, session.comm())};
    return naming_graph(graph_,
                        [&] { return SpmvOperator<S>::in_edges(graph, how, *backend, session.comm()); });
  });
  const SpmvPlan& plan = op.plan();
  const OperatorStats& stats = op.stats();
  session.report()["plan"] = plan_json(plan);
  session.report()["operators"]["in_edges"] = operator_json(stats);
  const nlohmann::ordered_json parts = parts_json(plan, measured_parts(session, op));
  session.report()["operators"]["in_edges"]["parts"] = parts;
  std::string text;
  add_line(text, "kernel", fmt::format("{} ({})", to_string(plan.kernel), plan.reason));
  const char* threads = backend->memory_is_host() ? " (one thread)" : "";
  for (const auto& part : parts)
    add_line(text, "time of " + part["name"].get<std::string>(),
             fmt::format("{} predicted{}, {} measured", milliseconds(part["predicted_seconds"]), threads,
                         milliseconds(part["measured_seconds"])));
  add_line(text, "dense tiles", fmt::format("{} of {} columns", plan.num_dense_tiles, plan.tile_columns));
  add_line(text, "workloads", std::to_string(stats.num_workloads));
  add_line(text, "padding",
           fmt::format("{:.2f} % of {} elements", 100 * stats.padding_ratio, stats.num_nonzeros));
  add_line(text, sizeof(S) == 4 ? "matrix bytes (f32)" : "matrix bytes (f64)",
           std::to_string(stats.matrix_bytes));
  add_line(text, "imbalance over ranks",
           fmt::format("rows {:.3f}, edges {:.3f} ({} ranks)", stats.row_imbalance, stats.nonzero_imbalance,
                       session.comm().size()));
  return text;
}

int StatsCommand::run(Session& session) {
  Communicator& comm = session.comm();
  check_writable_outputs(outputs(), comm);
  const Graph graph = load_input(graph_, session);
  const GraphStats stats = session.timed("stats", [&] { return graph_stats(graph, comm); });
  session.report()["stats"] = stats_json(stats);
  std::string text = facts_text(graph.facts) + shape_text(stats, graph.weighted);
  if (graph.num_edges != 0)
    text +=
        with_precision(precision_, [&](auto zero) { return tiling_text<decltype(zero)>(graph, session); });
  text += histogram_text(stats);
  session.progress().done();
  run_together(comm, [&] {
    if (session.is_root() && general_.report != "-") write_stdout(text);  // one of the two goes to stdout
  });
  session.write_report();
  return kExitFine;
}

}  // namespace

std::unique_ptr<Command> make_stats_command() { return std::make_unique<StatsCommand>(); }

}  // namespace tessera::cli
