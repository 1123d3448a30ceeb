// tessera hits
#include "algorithms/hits.hpp"

#include <algorithm>
#include <limits>

#include "algorithms/vertex_values.hpp"
#include "tools/all_commands.hpp"
#include "tools/log.hpp"
#include "tools/node_values.hpp"
#include "tools/ranking_command.hpp"

namespace tessera::cli {
namespace {

/// Of a warm start: what a graph that has changed may come to, old scores may have nothing of.
constexpr double kEvenPart = 1e-3;
/// A last change of no more says little of those to come.
constexpr double kRoundings = 64;
/// From here on scores are ten last changes or more from where they go.
constexpr double kSlowRate = 0.91;

class HitsCommand : public RankingCommand {
 public:
  HitsCommand();
  int run(Session& session) override;
  void check_options() const override;
  NamedPaths more_inputs() const override { return {{"--warm-start", warm_start_}}; }

 private:
  HitsOptions hits_options(const Graph& graph, Session& session) const;
  OperatorOptions product_options(const Graph& graph, Session& session);
  template <class S>
  HitsResult solve(Graph& graph, HitsOptions& options, Session& session);
  void warn_of_zeros(const HitsResult& result) const;
  void say_if_slow(const HitsResult& result, Session& session) const;

  HitsUpdate update_ = HitsUpdate::alternating;
  ScoreNorm normalize_ = ScoreNorm::sum;
  std::string warm_start_;
};

HitsCommand::HitsCommand()
    : RankingCommand(
          "hits", "Scores nodes as authorities and hubs: a = A^T h, h = A a. Sorted by authority.",
          {"tessera hits links.txt --top 20", "tessera hits links.txt --update block -o scores.csv"}) {
  stop_ = HitsOptions().stop;
  options_.group("HITS");
  options_.choice<HitsUpdate>(
      "update", update_, {{"alternating", HitsUpdate::alternating}, {"block", HitsUpdate::block}},
      "alternating: a from h, then h from the new a; block: both at once from one matrix of "
      "twice the size (the change is the larger of two steps, each compared with the last but one)");
  options_.choice<ScoreNorm>("normalize", normalize_,
                             {{"sum", ScoreNorm::sum}, {"max", ScoreNorm::max}, {"l2", ScoreNorm::l2}},
                             "what is 1 of authorities and of hubs");
  options_.text("warm-start", "FILE", warm_start_,
                "hub scores to start from: label, hub (our own output); a thousandth of them is spread over "
                "all nodes, for what the graph has come to since");
  add_graph_options(options_, graph_);
  add_solver_options();
  add_output_options();
  add_general_options(true);
}

void HitsCommand::check_options() const {
  RankingCommand::check_options();
  check_one_stdin({{"GRAPH", graph_.path}, {"--warm-start", warm_start_}});
}

HitsOptions HitsCommand::hits_options(const Graph& graph, Session& session) const {
  HitsOptions options;
  options.stop = stop_;
  options.normalize = normalize_;
  if (warm_start_.empty()) return options;
  NodeValues start = read_warm_start(warm_start_, "hub", graph, session);
  for (std::uint64_t v = 0; v < graph.num_vertices; ++v)
    if (!start.is_given[v]) start.values[v] = 1.0 / static_cast<double>(graph.num_vertices);
  options.start_hubs = with_even_part(start.values, kEvenPart, "start of the hubs");
  return options;
}

OperatorOptions HitsCommand::product_options(const Graph& graph, Session& session) {
  OperatorOptions how = operator_options(graph, session);
  how.for_updates = normalize_ == ScoreNorm::sum;  // other norms are looked up in the product first
  return how;
}

template <class S>
HitsResult HitsCommand::solve(Graph& graph, HitsOptions& options, Session& session) {
  const auto backend = make_run_backend<S>();
  if (update_ == HitsUpdate::block) {
    auto block = session.timed("pack", [&] {
      const OperatorOptions how = product_options(graph, session);
      return naming_graph(graph_,
                          [&] { return SpmvOperator<S>::hits_block(graph, how, *backend, session.comm()); });
    });
    release_edges(graph);
    describe<S>(session, {{"block", &block}});
    options.observer = observer(session);
    return iterate<S>(session, {&block}, [&] { return hits_block(block, options); });
  }
  auto pair = session.timed("pack", [&] {
    const OperatorOptions how = product_options(graph, session);
    return naming_graph(
        graph_, [&] { return SpmvOperator<S>::in_and_out_edges(graph, how, *backend, session.comm()); });
  });
  release_edges(graph);
  describe<S>(session, {{"in_edges", &pair.first}, {"out_edges", &pair.second}});
  options.observer = observer(session);
  return iterate<S>(session, {&pair.first, &pair.second},
                    [&] { return hits(pair.first, pair.second, options); });
}

/// An interrupted run has no scores yet. In the block form without a link that counts, authorities stay what
/// they start from, and hubs alone are 0.
void HitsCommand::warn_of_zeros(const HitsResult& result) const {
  if (result.report.interrupted || result.has_hubs) return;
  if (result.has_authorities)
    log_warning("all hub scores are 0: no link has a weight above 0; use --unweighted");
  else
    log_warning("all scores are 0: no link has a weight above 0; use --unweighted");
}

/// Steps that shrink by a rate come to rate / (1 - rate) last changes together.
void HitsCommand::say_if_slow(const HitsResult& result, Session& session) const {
  const double rate = result.convergence_rate;
  const double rounding = kRoundings * unit_roundoff(precision_);
  const bool is_looked_at = result.report.converged && stop_.fixed_iterations == 0;
  if (!is_looked_at || !(rate > 0 && rate < 1) || result.report.residual_l1 <= rounding) return;
  const double left = result.report.residual_l1 * rate / (1 - rate);
  session.report()["hits"]["estimated_error"] = left;
  if (rate > kSlowRate)
    log_info(fmt::format(
        "changes shrink slowly, by {:.2g} % a step: scores are about {:.2g} from their end (L1); a "
        "smaller --tolerance brings them nearer",
        100 * (1 - rate), left));
}

int HitsCommand::run(Session& session) {
  for_runs_ = update_ == HitsUpdate::alternating && normalize_ == ScoreNorm::sum;
  Graph graph = load(session);
  HitsOptions options = hits_options(graph, session);
  options.top = top_of_all(graph, session.comm());
  const bool is_block = update_ == HitsUpdate::block;
  const bool keeps_all = !options.top || is_block || normalize_ == ScoreNorm::max;
  // The best alone need a vector of all where many scores are equal.
  const MemoryShape shape{
      .num_matrices = 2, .is_block = is_block, .num_vectors = 2, .num_results = keeps_all ? 2u : 1u};
  if (general_.dry_run) return finish_dry_run(session, graph, shape);
  prepare_to_solve(graph, shape, session);
  const HitsResult result =
      with_precision(precision_, [&](auto zero) { return solve<decltype(zero)>(graph, options, session); });
  session.report()["hits"] = {{"unique", result.unique}, {"convergence_rate", result.convergence_rate}};
  say_if_slow(result, session);
  if (result.report.interrupted) session.report()["hits"]["unique"] = nullptr;
  if (!result.unique)
    log_warning(
        "the dominant pair of scores is not unique, as far as these steps tell: several components tie, or "
        "nearly so, and the result depends on the start; a smaller --tolerance, with more steps, parts those "
        "that only nearly do");
  warn_of_zeros(result);
  const Ranking ranking = options.top
                              ? Ranking{{},
                                        {{"authority", result.best.scores}, {"hub", result.hubs_of_best}},
                                        result.best.vertices}
                              : Ranking{{}, {{"authority", result.authority}, {"hub", result.hub}}};
  return finish(session, result.report, std::numeric_limits<double>::quiet_NaN(), {&ranking, 1},
                graph.labels);
}

}  // namespace

std::unique_ptr<Command> make_hits_command() { return std::make_unique<HitsCommand>(); }

}  // namespace tessera::cli
