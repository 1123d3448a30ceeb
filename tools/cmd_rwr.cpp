// tessera rwr
#include <algorithm>
#include <unordered_set>

#include "algorithms/random_walk_restart.hpp"
#include "engine/graph_stats.hpp"
#include "engine/io/label_file.hpp"
#include "tools/all_commands.hpp"
#include "tools/log.hpp"
#include "tools/node_values.hpp"
#include "tools/ranking_command.hpp"
#include "tools/report.hpp"

namespace tessera::cli {
namespace {

class RwrCommand : public RankingCommand {
 public:
  RwrCommand();
  int run(Session& session) override;
  void check_options() const override;
  NamedPaths more_inputs() const override { return {{"--query-file", query_file_}}; }

 private:
  std::vector<PlacedLabel> queries(Session& session) const;
  template <class S>
  std::vector<RwrResult> solve(Graph& graph, const std::vector<VertexId>& queries, Session& session);

  std::vector<std::string> queries_;
  std::string query_file_;
  double continue_probability_ = 0.9;
  unsigned batch_ = 32;
  bool plain_steps_ = false;
  std::optional<std::uint64_t> top_of_all_;  // what is written, where that is little
};

RwrCommand::RwrCommand()
    : RankingCommand(
          "rwr",
          "Scores nodes by random walks with restart from query nodes: r = c W r + (1 - c) e.\n"
          "The walk is on the undirected graph: each edge is walked both ways.",
          {"tessera rwr links.txt --query 17 --top 20", "tessera rwr links.txt --query=-5 --query b",
           "tessera rwr links.tsr --query-file nodes.txt -o near.csv --top 100"}) {
  graph_.undirected = true;
  stop_ = RwrOptions().stop;
  options_.group("Random walk with restart");
  options_
      .texts("query", "LABEL", queries_,
             "a node to start from; may be repeated (--query=-5 for labels with -)")
      .opposite = "query-file";
  options_
      .text("query-file", "FILE", query_file_,
            "one label a line, quotes as in CSV; lines that begin with #, % or // are comments (\"#1\" in "
            "quotes is a label)")
      .opposite = "query";
  options_.number("continue-probability", continue_probability_, {.low = 0, .high = 1, .high_open = true},
                  "probability to walk on instead of restarting (c); the paper calls it restart probability");
  options_.count(
      "batch", batch_, 1, 1024,
      fmt::format("queries that share one pass over the matrix, at most; more than {} never do", kMostWalks));
  options_.flag(
      "plain-steps", plain_steps_,
      "only steps of the walk itself; without, slow walks take half as many or fewer to the same tolerance "
      "(--iterations K is K plain ones)");
  add_graph_options(options_, graph_);
  add_solver_options();
  add_output_options();
  add_general_options(true);
}

void RwrCommand::check_options() const {
  if (!graph_.undirected || graph_.directed)
    throw OptionError("rwr walks on the undirected graph; --undirected=no and --directed are not possible");
  RankingCommand::check_options();
  if (queries_.empty() && query_file_.empty())
    throw OptionError("rwr: expected --query LABEL or --query-file FILE");
  check_one_stdin({{"GRAPH", graph_.path}, {"--query-file", query_file_}});
}

/// Of options, then of the file, each once.
std::vector<PlacedLabel> RwrCommand::queries(Session& session) const {
  std::vector<PlacedLabel> all;
  for (const std::string& label : queries_) all.push_back({label, "--query"});
  if (!query_file_.empty()) {
    const auto entries = read_label_list(query_file_, session.comm());
    if (entries.empty() && all.empty())
      throw InputError(input_name(query_file_) + ": expected at least one label, found none");
    for (const LabelValue& entry : entries)
      all.push_back({entry.label, fmt::format("{}:{}", input_name(query_file_), entry.line)});
  }
  std::unordered_set<std::string> seen;
  const std::size_t given = all.size();
  std::erase_if(all, [&](const PlacedLabel& query) { return !seen.insert(query.label).second; });
  if (all.size() != given)
    log_info(
        fmt::format("{} of {} queries were given before; each is answered once", given - all.size(), given));
  return all;
}

template <class S>
std::vector<RwrResult> RwrCommand::solve(Graph& graph, const std::vector<VertexId>& queries,
                                         Session& session) {
  const auto backend = make_run_backend<S>();
  Buffer<double> weights;
  auto op = session.timed("pack", [&] {
    const OperatorOptions how = operator_options(graph, session);
    weights = out_weights(graph, session.comm(), how.degrees.get());
    return naming_graph(graph_,
                        [&] { return SpmvOperator<S>::in_edges(graph, how, *backend, session.comm()); });
  });
  const auto num_lost =
      std::count_if(queries.begin(), queries.end(), [&](VertexId v) { return weights[v] == 0; });
  if (num_lost > 0)
    log_warning(
        fmt::format("{} of {} queries have no link with a weight above 0: their walks go nowhere, so that "
                    "their scores sum to less than 1",
                    num_lost, queries.size()));
  release_edges(graph);
  describe<S>(session, {{"in_edges", &op}});
  const RwrOptions options{.continue_probability = continue_probability_,
                           .stop = stop_,
                           .batch_size = batch_,
                           .accelerate = !plain_steps_,
                           .top = top_of_all_,
                           .observer = observer(session)};
  return iterate<S>(session, {&op}, [&] { return random_walk_restart(op, weights, queries, options); });
}

/// What the results of queries take, in vectors of all scores: of the best alone at most 16 bytes each.
std::uint64_t vectors_of_results(std::uint64_t num_queries, std::optional<std::uint64_t> top,
                                 std::uint64_t num_vertices) {
  return top ? ceil_div(checked_mul(num_queries, 2 * *top), num_vertices) : num_queries;
}

/// All queries together: the slowest decides.
IterationReport worst_of(const std::vector<RwrResult>& results) {
  IterationReport worst = results.front().report;
  for (const RwrResult& result : results) {
    const IterationReport& report = result.report;
    const bool is_worse =
        std::pair(!report.converged, report.iterations) > std::pair(!worst.converged, worst.iterations);
    const bool interrupted = worst.interrupted || report.interrupted;
    if (is_worse) worst = report;
    worst.interrupted = interrupted;
  }
  return worst;
}

int RwrCommand::run(Session& session) {
  const std::vector<PlacedLabel> asked = queries(session);
  Graph graph = load(session, asked.size());
  const std::vector<VertexId> vertices = find_queries(asked, graph, session.comm());
  const auto batch =
      static_cast<unsigned>(std::min<std::size_t>({batch_, vertices.size(), std::size_t{kMostWalks}}));
  top_of_all_ = top_of_all(graph, session.comm());
  const MemoryShape shape{.batch = batch,
                          .num_results = vectors_of_results(vertices.size(), top_of_all_, graph.num_vertices),
                          .accelerates = !plain_steps_ && stop_.fixed_iterations == 0};
  num_vectors_ = batch;
  if (general_.dry_run) return finish_dry_run(session, graph, shape);
  prepare_to_solve(graph, shape, session);
  const std::vector<RwrResult> results =
      with_precision(precision_, [&](auto zero) { return solve<decltype(zero)>(graph, vertices, session); });
  std::vector<Ranking> rankings;
  double error_bound = 0;
  for (std::size_t q = 0; q < results.size(); ++q) {
    auto query = iteration_json(results[q].report);
    query["query"] = asked[q].label;
    query["error_bound"] = results[q].error_bound;
    session.report()["queries"].push_back(std::move(query));
    error_bound = std::max(error_bound, results[q].error_bound);
    const BestScores& best = results[q].best;
    if (top_of_all_)
      rankings.push_back({asked[q].label, {{"score", best.scores}}, best.vertices});
    else
      rankings.push_back({asked[q].label, {{"score", results[q].scores}}});
  }
  return finish(session, worst_of(results), error_bound, rankings, graph.labels);
}

}  // namespace

std::unique_ptr<Command> make_rwr_command() { return std::make_unique<RwrCommand>(); }

}  // namespace tessera::cli
