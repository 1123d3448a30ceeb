// What pagerank, hits and rwr share: solver and output options, loading, packing with a memory check,
// writing scores, report and exit code. A command adds its own options and calls the algorithm.
#pragma once
#include <future>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "algorithms/convergence.hpp"
#include "engine/device_ranks.hpp"
#include "engine/io/score_writer.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/base/lost_rank.hpp"
#include "partition/run_together.hpp"
#include "tools/command.hpp"
#include "tools/graph_input.hpp"
#include "tools/memory_plan.hpp"
#include "tools/node_values.hpp"
#include "tools/output_paths.hpp"
#include "tools/precision.hpp"
#include "tools/report.hpp"

namespace tessera::cli {

/// What one step costs, summed over the operators of an algorithm.
struct StepCosts {
  std::uint64_t edges = 0, matrix_bytes = 0, vector_bytes = 0, exchanged_bytes = 0;
};

enum class ExchangeKind { automatic, nccl, mpi };
enum class PackPlace { automatic, host, device };

class RankingCommand : public Command {
 protected:
  using Command::Command;
  void add_solver_options();
  void add_output_options();
  void check_options() const override;
  NamedPaths outputs() const override { return {{"--output", output_}, {"--report", general_.report}}; }
  /// Files that the command reads beside the graph, by the names of their options.
  virtual NamedPaths more_inputs() const { return {}; }

  /// Loads, refuses an empty graph; outputs are checked before, and so is a backend that is asked for, but
  /// for what is known of a GPU only once it has started. num_solved: vectors that are solved for.
  Graph load(Session& session, std::uint64_t num_solved = 1);
  /// The end of --dry-run: prints plan and bytes on rank 0; the exit code.
  int finish_dry_run(Session& session, const Graph& graph, MemoryShape shape);
  /// Begins to link the GPUs of several ranks, which goes on until iterate(). Throws ResourceError when the
  /// matrix and vectors would not fit into memory.
  void prepare_to_solve(const Graph& graph, MemoryShape shape, Session& session);
  /// Degrees of `graph`, the one that is solved; counted once, until release_edges().
  std::shared_ptr<const GraphDegrees> degrees(const Graph& graph, Communicator& comm);
  /// Scores to start from, which log and report speak of; column: of read_node_values.
  static NodeValues read_warm_start(const std::string& path, std::string_view column, const Graph& graph,
                                    Session& session);
  OperatorOptions operator_options(const Graph& graph, Session& session);
  /// Gives back the memory of edges and degrees once the matrix is packed; labels and sizes stay.
  void release_edges(Graph& graph);
  /// What plans are made with; read, and complained about, once. Collective.
  const PerfTable& tables(Communicator& comm);
  SpmvPlan spmv_plan(const Graph& graph, TilingLimits limits, Communicator& comm);
  struct DevicePlan {
    SpmvPlan plan;
    std::uint64_t free_bytes = 0;
  };
  /// Nothing where the host computes.
  std::optional<DevicePlan> device_plan(const Graph& graph, Communicator& comm);
  /// The backend of this run; iterate() waits until it is linked to those of the other ranks.
  template <class S>
  std::unique_ptr<Backend<S>> make_run_backend();
  /// Puts plan, backend and operators into the report and the log.
  template <class S>
  void describe(Session& session,
                std::initializer_list<std::pair<const char*, const SpmvOperator<S>*>> operators);
  void describe_one(Session& session, const char* name, const SpmvPlan& plan, const OperatorStats& stats);
  IterationObserver observer(Session& session);
  /// Runs the algorithm `work`, which multiplies with `operators`, and reports its time and that of the
  /// exchange. What `work` finds wrong is in the graph's weights.
  template <class S, class F>
  auto iterate(Session& session, std::initializer_list<const SpmvOperator<S>*> operators, F&& work) {
    const SpmvOperator<S>& first = **operators.begin();
    if (first.backend().is_linked())
      session.timed("link", [&] {
        session.comm().barrier();  // others may still have packed
        run_together(session.comm(), [&] { first.backend().await_links(); });
      });
    // GPUs keep step: a rank that does not answer is lost.
    if (!first.backend().memory_is_host()) session.comm().set_answer_seconds(kAnswerSeconds);
    auto result = session.timed("iterate", [&] { return naming_graph(graph_, work); });
    session.comm().set_answer_seconds(0);
    double seconds = 0;
    for (const SpmvOperator<S>* op : operators) seconds += op->exchange_seconds();
    first.backend().leave_links_to_exit();
    session.report()["exchange"] = {{"kind", first.exchange_kind()},
                                    {"bytes_per_step", step_costs_.exchanged_bytes},
                                    {"seconds", seconds}};
    return result;
  }
  /// Writes scores and report, says how it went; the exit code. `error_bound` NaN: none known.
  int finish(Session& session, const IterationReport& report, double error_bound,
             std::span<const Ranking> rankings, const LabelTable& labels);

  GraphOptions graph_;
  KernelKind kernel_ = KernelKind::automatic;
  OrderRequest order_ = OrderRequest::automatic;
  unsigned num_vectors_ = 1;      // that are multiplied at a time
  bool for_runs_ = false;         // OperatorOptions::for_runs
  std::optional<SpmvPlan> plan_;  // made for the memory of a device
  std::shared_ptr<const GraphDegrees> degrees_;
  std::optional<PerfTable> tables_;
  Precision precision_ = Precision::f64;
  std::string backend_ = "auto";
  std::future<void> device_start_;  // of a GPU, beside what the host does first; an early end waits for it
  ExchangeKind exchange_ = ExchangeKind::automatic;
  PackPlace pack_ = PackPlace::automatic;
  bool packs_on_device_ = false;  // known once memory is planned
  StopRule stop_;
  std::string output_;
  std::optional<std::uint64_t> top_;
  StepTimes step_times_;
  StepCosts step_costs_;
  /// Once the GPUs are being linked; of the run's precision.
  std::variant<std::monostate, std::unique_ptr<Backend<float>>, std::unique_ptr<Backend<double>>> linked_;
  std::optional<std::uint64_t> free_device_bytes_;  ///< before links took some
  /// How the ranking is written. Collective.
  ScoreWriterOptions writer_options(Communicator& comm) const;
  /// How many nodes are written at most, where that is little beside all: then an algorithm need give no
  /// more. Collective.
  std::optional<std::uint64_t> top_of_all(const Graph& graph, Communicator& comm) const;

 private:
  void add_device_options();
  /// Whether the option stands on the command line.
  bool is_typed(const std::string& name) const;
  void start_linking_devices(Session& session);
  bool asks_for_gpu() const;
  /// Maybe: the same on all ranks.
  bool is_device_starting(Communicator& comm) const;
  /// What computes, and whether that can do what was asked of GPUs.
  void choose_backend(Communicator& comm);
  /// Sets packs_on_device_; the same on all ranks.
  void choose_pack_place(const Graph& graph, const std::optional<DevicePlan>& device, MemoryShape& shape,
                         Communicator& comm);
  /// Option `name` asks for a GPU where there is none. Given for this run it is an error; an options file may
  /// serve machines with and without GPUs, so there a warning.
  void check_request_of_gpu(const std::string& name, const std::string& asked_backend,
                            const std::string& remedy);
  void write_scores(Session& session, std::span<const Ranking> rankings, const LabelTable& labels) const;
  void say_result(const IterationReport& report, double error_bound, Session& session) const;
};

template <class S>
std::unique_ptr<Backend<S>> RankingCommand::make_run_backend() {
  auto* const linked = std::get_if<std::unique_ptr<Backend<S>>>(&linked_);
  return linked != nullptr ? std::move(*linked) : make_backend<S>(backend_);
}

template <class S>
void RankingCommand::describe(
    Session& session, std::initializer_list<std::pair<const char*, const SpmvOperator<S>*>> operators) {
  const Backend<S>& backend = operators.begin()->second->backend();
  session.report()["backend"] = {{"name", backend.name()},
                                 {"description", backend.description()},
                                 {"precision", std::is_same_v<S, float> ? "f32" : "f64"}};
  for (const auto& [name, op] : operators) {
    describe_one(session, name, op->plan(), op->stats());
    if (general_.report.empty()) continue;
    session.report()["operators"][name]["parts"] = parts_json(op->plan(), measured_parts(session, *op));
  }
}

}  // namespace tessera::cli
