// tessera pagerank
#include "algorithms/pagerank.hpp"

#include "engine/graph_stats.hpp"
#include "tools/all_commands.hpp"
#include "tools/log.hpp"
#include "tools/node_values.hpp"
#include "tools/ranking_command.hpp"

namespace tessera::cli {
namespace {

class PageRankCommand : public RankingCommand {
 public:
  PageRankCommand();
  int run(Session& session) override;
  void check_options() const override;
  NamedPaths more_inputs() const override {
    return {{"--personalization", personalization_}, {"--warm-start", warm_start_}};
  }

 private:
  PageRankOptions ranking_options(const Graph& graph, Session& session);
  void set_start(const Graph& graph, Session& session, PageRankOptions& options) const;
  PageRankOptions step_options(const Graph& graph) const {
    PageRankOptions options;
    options.damping = damping_;
    options.stop = stop_;
    options.dangling = dangling_;
    options.accelerate = graph.facts.undirected && !plain_steps_;
    return options;
  }

  double damping_ = 0.85;
  Dangling dangling_ = Dangling::uniform;
  std::string personalization_, warm_start_;
  bool plain_steps_ = false;
};

PageRankCommand::PageRankCommand()
    : RankingCommand("pagerank", "Ranks nodes by PageRank: p = c W^T p + (1 - c) v.",
                     {"tessera pagerank links.txt --top 20",
                      "tessera pagerank links.tsr -o scores.csv --report run.json",
                      "mpirun -n 4 tessera pagerank links.txt -o scores.tsv"}) {
  options_.group("PageRank");
  options_.number("damping", damping_, {.low = 0, .high = 1, .high_open = true},
                  "probability to follow a link (c)");
  options_.choice<Dangling>(
      "dangling", dangling_,
      {{"uniform", Dangling::uniform},
       {"personalization", Dangling::personalization},
       {"drop", Dangling::drop},
       {"rescale", Dangling::rescale}},
      "where the mass of nodes without out-links goes: to all alike, where the surfer jumps to, "
      "nowhere (drop: scores sum to less than 1), or nowhere, each step scaled back to a sum of 1");
  options_.text("personalization", "FILE", personalization_,
                "where the surfer jumps to: label, weight (a label alone weighs 1) [all alike]");
  options_.text("warm-start", "FILE", warm_start_, "scores to start from: label, score (our own output)");
  options_.flag(
      "plain-steps", plain_steps_,
      "only steps of the surfer; without, slow scores of an undirected graph are accelerated, to the same "
      "tolerance (--iterations K is K plain ones, and --dangling rescale has plain ones)");
  add_graph_options(options_, graph_);
  add_solver_options();
  add_output_options();
  add_general_options(true);
}

void PageRankCommand::check_options() const {
  RankingCommand::check_options();
  check_one_stdin(
      {{"GRAPH", graph_.path}, {"--personalization", personalization_}, {"--warm-start", warm_start_}});
}

void PageRankCommand::set_start(const Graph& graph, Session& session, PageRankOptions& options) const {
  if (warm_start_.empty()) return;
  const NodeValues start = read_warm_start(warm_start_, "score", graph, session);
  double jump_sum = 0;
  for (double weight : options.personalization) jump_sum += weight;
  options.start = start.values;
  for (std::uint64_t v = 0; v < graph.num_vertices; ++v) {
    if (start.is_given[v]) continue;
    options.start[v] = options.personalization.empty() ? 1.0 / static_cast<double>(graph.num_vertices)
                                                       : options.personalization[v] / jump_sum;
  }
}

PageRankOptions PageRankCommand::ranking_options(const Graph& graph, Session& session) {
  PageRankOptions options = step_options(graph);
  if (!personalization_.empty())
    options.personalization =
        read_node_values(personalization_, "weight", graph, UnknownLabels::error, session.comm(), 1.0).values;
  set_start(graph, session, options);
  return options;
}

int PageRankCommand::run(Session& session) {
  for_runs_ = true;
  Graph graph = load(session);
  const MemoryShape shape{.accelerates = accelerates(step_options(graph))};
  PageRankOptions options = ranking_options(graph, session);
  if (general_.dry_run) return finish_dry_run(session, graph, shape);
  options.top = top_of_all(graph, session.comm());
  prepare_to_solve(graph, shape, session);
  const PageRankResult result = with_precision(precision_, [&](auto zero) {
    using S = decltype(zero);
    const auto backend = make_run_backend<S>();
    Buffer<double> weights;
    auto op = session.timed("pack", [&] {
      OperatorOptions how = operator_options(graph, session);
      weights = out_weights(graph, session.comm(), how.degrees.get());
      how.for_updates = options.personalization.empty();  // with one products do not end in updates
      return naming_graph(graph_,
                          [&] { return SpmvOperator<S>::in_edges(graph, how, *backend, session.comm()); });
    });
    release_edges(graph);
    describe<S>(session, {{"in_edges", &op}});
    options.observer = observer(session);  // its clock starts here
    return iterate<S>(session, {&op}, [&] { return pagerank(op, weights, options); });
  });
  session.report()["score_sum"] = result.sum;
  const Ranking ranking = options.top ? Ranking{{}, {{"score", result.best.scores}}, result.best.vertices}
                                      : Ranking{{}, {{"score", result.scores}}};
  return finish(session, result.report, result.error_bound, {&ranking, 1}, graph.labels);
}

}  // namespace

std::unique_ptr<Command> make_pagerank_command() { return std::make_unique<PageRankCommand>(); }

}  // namespace tessera::cli
