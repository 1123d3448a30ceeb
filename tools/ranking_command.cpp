#include "tools/ranking_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/graph_stats.hpp"
#include "kernels/devices.hpp"
#include "partition/run_together.hpp"
#include "tools/backend_choice.hpp"
#include "tools/exit_code.hpp"
#include "tools/log.hpp"
#include "tools/memory.hpp"
#include "tools/output_paths.hpp"
#include "tools/report.hpp"
#include "tools/stop_signal.hpp"
#include "tools/terminal.hpp"
#include "tools/text_output.hpp"

namespace tessera::cli {
namespace {

constexpr std::uint64_t kTableRows = 10;

}  // namespace

void RankingCommand::add_solver_options() {
  options_.group("Solving");
  options_.choice<KernelKind>("kernel", kernel_,
                              {{"auto", KernelKind::automatic},
                               {"tile-composite", KernelKind::tile_composite},
                               {"tile-messages", KernelKind::tile_messages},
                               {"csr", KernelKind::csr}},
                              "matrix format; auto takes the one predicted to be faster");
  options_.choice<OrderRequest>(
      "order", order_,
      {{"auto", OrderRequest::automatic},
       {"length", OrderRequest::by_length},
       {"given", OrderRequest::as_given}},
      "order of the nodes in tile-messages, and in csr of several vectors on a GPU: most links first, or by "
      "label (as given); "
      "auto counts which cuts rows into fewer pieces");
  options_.choice<Precision>(
      "precision", precision_, {{"f32", Precision::f32}, {"f64", Precision::f64}},
      "how scores are stored; sums are in f64, but in tile-messages those of a tile, and pairs, are rounded, "
      "on a GPU also four elements where more than 16 RWR queries go together in f32");
  add_device_options();
  options_.number("tolerance", stop_.tolerance, {.low = 0, .low_open = true},
                  "stop when a step changes the scores by no more, in --norm; absolute");
  options_.choice<Norm>("norm", stop_.norm, {{"l1", Norm::l1}, {"l2", Norm::l2}, {"linf", Norm::linf}},
                        "how the change of a step is measured");
  options_
      .count("max-iterations", stop_.max_iterations, 1, 1000000000,
             "give up after so many steps (exit code 3)")
      .opposite = "iterations";
  options_
      .count("iterations", stop_.fixed_iterations, 1, 1000000000,
             "exactly so many steps, whatever the change; instead of --max-iterations", std::optional<int>(0))
      .opposite = "max-iterations";
}

void RankingCommand::add_device_options() {
  add_backend_option(
      options_, backend_,
      "device that computes; auto takes a GPU where one answers, under mpirun one for each process, but the "
      "CPU where edges times queries are at most 2,097,152: it is done before a GPU has started");
  options_.choice<ExchangeKind>(
      "exchange", exchange_,
      {{"auto", ExchangeKind::automatic}, {"nccl", ExchangeKind::nccl}, {"mpi", ExchangeKind::mpi}},
      "how the GPUs of several processes exchange vectors: auto writes to each other's memory where all GPUs "
      "reach that, else takes NCCL (nccl) where it is built in, else goes through the host (mpi); nccl is "
      "refused where the CPU computes (in an options file: a warning)");
  options_.choice<PackPlace>(
      "pack", pack_,
      {{"auto", PackPlace::automatic}, {"host", PackPlace::host}, {"device", PackPlace::device}},
      "where tile-messages and CSR are packed for a GPU; the bytes are the same, device: sooner, with "
      "less of the host's memory and two to three times the matrix on the GPU, more where much is free; "
      "auto takes it from a million edges on, where that is at most half of what is free there; but for "
      "host, GPUs also make both directions of the edges of a cache, where they have room; device is "
      "refused where the CPU computes (in an options file: a warning)");
  // Scripts may give it, either way; there is no other way to compute, and what is printed says so.
  options_.add({.name = "deterministic",
                .help = "always yes: the same bits on any number of threads, processes and GPUs and in every "
                        "run; taken for compatibility, =no changes nothing",
                .kind = OptionKind::flag,
                .set = [](const std::string& text) { parse_yes_no(text); },
                .get = [] { return std::vector<std::string>{"yes"}; }});
}

void RankingCommand::add_output_options() {
  options_.group("Output");
  options_
      .text("output", "FILE", output_,
            ".tsv, .csv, .json or .npy, or - or one in /dev (TSV); without it ten nodes as a table on a "
            "terminal, "
            "all as TSV into a pipe")
      .letter = 'o';
  options_.count("top", top_, 1, "at most so many nodes, the best (of hits: authorities)");
}

bool RankingCommand::is_typed(const std::string& name) const {
  const auto& all = options_.options();
  return std::any_of(all.begin(), all.end(), [&](const Option& option) {
    return option.name == name && option.source == "command line";
  });
}

void RankingCommand::check_options() const {
  check_graph_options(graph_);
  if (is_typed("iterations") && is_typed("max-iterations"))
    throw OptionError("--iterations and --max-iterations exclude each other");
  if (!output_.empty() && score_format_of(output_) == ScoreFormat::npy && top_)
    throw OptionError(
        "--top: .npy holds all nodes in node order; leave --top out or write .tsv, .csv or .json");
  const bool scores_to_stdout = output_.empty() || output_ == "-";
  if (general_.report == "-" && scores_to_stdout)
    throw OptionError("--report: \"-\" is standard output, where the scores go; give --output FILE as well");
  NamedPaths inputs = more_inputs();
  inputs.emplace_back("GRAPH", graph_.path);
  check_distinct_outputs(outputs());
  check_inputs_are_kept(inputs, outputs());
}

void RankingCommand::check_request_of_gpu(const std::string& name, const std::string& asked_backend,
                                          const std::string& remedy) {
  const Option& option = *options_.find(name);
  const std::string value = option.get().front();
  const std::string found =
      fmt::format("expected a GPU that computes, found the CPU (--backend {})", asked_backend);
  if (is_typed(name))
    throw OptionError(fmt::format("--{} {}: {}; use --{} {}", name, value, found, name, remedy));
  log_warning(fmt::format("{}: {} = {}: {}; it changes nothing here", option.source, name, value, found));
}

bool RankingCommand::asks_for_gpu() const {
  return exchange_ == ExchangeKind::nccl || pack_ == PackPlace::device;
}

void RankingCommand::choose_backend(Communicator& comm) {
  const std::string asked = backend_;
  backend_ = backend_for(asked, comm);
  if (!asks_for_gpu() || !make_backend<float>(backend_)->memory_is_host()) return;
  if (exchange_ == ExchangeKind::nccl) check_request_of_gpu("exchange", asked, "auto");
  if (pack_ == PackPlace::device) check_request_of_gpu("pack", asked, "auto");
}

bool RankingCommand::is_device_starting(Communicator& comm) const {
  if (!device_start_.valid() || comm.size() > 1) return device_start_.valid();  // what follows is collective
  return device_start_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

Graph RankingCommand::load(Session& session, std::uint64_t num_solved) {
  bool graph_decides = backend_ == "auto" && !asks_for_gpu();
  device_start_ = start_gpu_beside(backend_, file_size_bytes(graph_.path), num_solved, session.comm());
  // That there are GPUs is known before anything is read; whether they can serve, when they have started.
  bool checks_later =
      device_start_.valid() && backend_ == "cuda" && (session.comm().size() > 1 || num_devices() > 0);
  if (!graph_decides && !checks_later) choose_backend(session.comm());
  check_readable_inputs(more_inputs(), session.comm());
  if (!general_.dry_run) check_writable_outputs(outputs(), session.comm());
  GraphOptions how = graph_;
  how.may_use_device = [&](std::uint64_t num_edges) {
    if (num_edges < kEdgesWorthDevicePacking || pack_ == PackPlace::host) return false;
    if (std::exchange(checks_later, false)) choose_backend(session.comm());  // each process its own GPU
    if (graph_decides) {  // both directions are as many edges or more
      if (ends_before_a_gpu_starts(num_edges, num_solved)) return false;
      backend_ = backend_for(backend_, session.comm());
      graph_decides = false;
    }
    return !make_backend<float>(backend_)->memory_is_host();
  };
  Graph graph = load_input(how, session);
  require_edges(graph, graph_);
  if (is_device_starting(session.comm())) degrees(graph, session.comm());  // meanwhile
  if (checks_later) choose_backend(session.comm());
  if (graph_decides) backend_ = backend_for_graph(backend_, graph.num_edges, num_solved, session.comm());
  return graph;
}

std::shared_ptr<const GraphDegrees> RankingCommand::degrees(const Graph& graph, Communicator& comm) {
  if (degrees_ == nullptr) degrees_ = std::make_shared<const GraphDegrees>(graph_degrees(graph, comm));
  return degrees_;
}

const PerfTable& RankingCommand::tables(Communicator& comm) {
  if (!tables_) tables_ = load_tables(backend_, comm);
  return *tables_;
}

NodeValues RankingCommand::read_warm_start(const std::string& path, std::string_view column,
                                           const Graph& graph, Session& session) {
  NodeValues start = read_node_values(path, column, graph, UnknownLabels::ignore, session.comm());
  const std::uint64_t missing = graph.num_vertices - start.num_given;
  session.report()["warm_start"] = {
      {"nodes", start.num_given}, {"missing_nodes", missing}, {"unknown_labels", start.num_unknown}};
  log_info(fmt::format(
      "warm start: {} nodes, {} without a score start as without a file, {} unknown labels ignored",
      start.num_given, missing, start.num_unknown));
  return start;
}

OperatorOptions RankingCommand::operator_options(const Graph& graph, Session& session) {
  return {.kernel = kernel_,
          .table = tables(session.comm()),
          .pack_on_device = packs_on_device_,
          .may_pack_on_host = pack_ == PackPlace::automatic,
          .order = order_,
          .num_vectors = num_vectors_,
          .plan = plan_,
          .degrees = degrees(graph, session.comm()),
          .for_runs = for_runs_};
}

void RankingCommand::start_linking_devices(Session& session) {
  if (session.comm().size() == 1 || exchange_ == ExchangeKind::mpi) return;
  with_precision(precision_, [&](auto zero) {
    auto backend = make_backend<decltype(zero)>(backend_);
    if (backend->memory_is_host()) return;
    free_device_bytes_ = backend->free_bytes();
    const LinkKind kind = exchange_ == ExchangeKind::nccl ? LinkKind::nccl : LinkKind::any;
    if (!start_linking(*backend, session.comm(), kind) && exchange_ == ExchangeKind::nccl)
      throw OptionError("--exchange nccl: this build has no NCCL; use --exchange auto");
    linked_ = std::move(backend);
  });
}

void RankingCommand::prepare_to_solve(const Graph& graph, MemoryShape shape, Session& session) {
  start_linking_devices(session);
  const auto device = device_plan(graph, session.comm());
  choose_pack_place(graph, device, shape, session.comm());
  const SpmvPlan* const on_device = device ? &device->plan : nullptr;
  const MemoryPlan plan = plan_memory(graph, shape, precision_, session.comm(), on_device);
  session.report()["memory_plan"] = memory_json(plan);
  check_memory(plan.more_bytes(), "packing and solving", memory_remedy(shape, precision_, on_device),
               session.comm());
  if (device) {
    plan_ = device->plan;
    const auto ranks = static_cast<std::uint64_t>(session.comm().size());
    const DeviceMemoryPlan memory = plan_device_memory(graph, device->plan, shape, precision_, ranks);
    session.report()["device_memory_plan"] = memory_json(memory);
    log_detail(
        fmt::format("each GPU: {} bytes for the matrix, {} more to pack it, {} for vectors, {} for x and the "
                    "exchange, of {} free",
                    memory.matrix_bytes, memory.packing_bytes, memory.vector_bytes, memory.exchange_bytes,
                    device->free_bytes));
    if (!general_.no_memory_check)
      check_device_memory(graph, device->plan, shape, precision_, device->free_bytes, session.comm());
  }
  session.progress().phase("packing");
}

std::optional<RankingCommand::DevicePlan> RankingCommand::device_plan(const Graph& graph,
                                                                      Communicator& comm) {
  return with_precision(precision_, [&](auto zero) -> std::optional<DevicePlan> {
    const auto backend = make_backend<decltype(zero)>(backend_);
    if (backend->memory_is_host()) return std::nullopt;
    return DevicePlan{spmv_plan(graph, backend->tiling_limits(), comm),
                      free_device_bytes_ ? *free_device_bytes_ : backend->free_bytes()};
  });
}

void RankingCommand::choose_pack_place(const Graph& graph, const std::optional<DevicePlan>& device,
                                       MemoryShape& shape, Communicator& comm) {
  packs_on_device_ = pack_ == PackPlace::device;
  if (pack_ == PackPlace::automatic && device)
    packs_on_device_ =
        pays_to_pack_on_device(graph, device->plan, shape, precision_, device->free_bytes, comm);
  shape.packs_on_device = packs_on_device_;
}

SpmvPlan RankingCommand::spmv_plan(const Graph& graph, TilingLimits limits, Communicator& comm) {
  if (!for_runs_) limits.run_nonzeros = 0;
  const auto counted = degrees(graph, comm);
  return plan_for_graph(graph, kernel_, order_, counted->in, counted->out, limits, tables(comm), comm,
                        num_vectors_);
}

int RankingCommand::finish_dry_run(Session& session, const Graph& graph, MemoryShape shape) {
  Communicator& comm = session.comm();
  const auto device = device_plan(graph, comm);
  choose_pack_place(graph, device, shape, comm);
  const MemoryPlan memory = plan_memory(graph, shape, precision_, comm, device ? &device->plan : nullptr);
  const SpmvPlan plan = device ? device->plan : with_precision(precision_, [&](auto zero) {
    return spmv_plan(graph, make_backend<decltype(zero)>(backend_)->tiling_limits(), comm);
  });
  session.progress().done();
  run_together(comm, [&] {
    if (!session.is_root()) return;
    std::string text = fmt::format(
        "nodes\t{}\nedges\t{}\nkernel\t{}\nreason\t{}\norder\t{}\ntile columns\t{}\ndense tiles\t{}\n"
        "ranks\t{}\ngraph bytes a rank\t{}\nmatrix bytes a rank\t{}\n"
        "packing bytes a rank\t{}\nvector bytes a rank\t{}\navailable bytes\t{}\n",
        graph.num_vertices, graph.num_edges, to_string(plan.kernel), plan.reason, to_string(plan.order),
        plan.tile_columns, plan.num_dense_tiles, comm.size(), memory.graph_bytes, memory.matrix_bytes,
        memory.packing_bytes, memory.vector_bytes, available_memory_bytes());
    if (device) {
      const auto ranks = static_cast<std::uint64_t>(comm.size());
      const DeviceMemoryPlan gpu = plan_device_memory(graph, device->plan, shape, precision_, ranks);
      text += fmt::format(
          "GPU matrix bytes\t{}\nGPU packing bytes\t{}\nGPU vector bytes\t{}\nGPU exchange bytes\t{}\n"
          "GPU free bytes\t{}\n",
          gpu.matrix_bytes, gpu.packing_bytes, gpu.vector_bytes, gpu.exchange_bytes, device->free_bytes);
    }
    write_stdout(text);
  });
  return kExitFine;
}

void RankingCommand::describe_one(Session& session, const char* name, const SpmvPlan& plan,
                                  const OperatorStats& stats) {
  session.report()["plan"] = plan_json(plan);
  session.report()["operators"][name] = operator_json(stats);
  step_costs_.edges += stats.num_nonzeros;
  step_costs_.matrix_bytes += stats.matrix_bytes;
  step_costs_.vector_bytes += stats.vector_bytes;
  step_costs_.exchanged_bytes += stats.exchanged_bytes;
  log_detail(fmt::format("{}: {} ({}); {} tiles, {} workloads, padding {:.1f} %, {} bytes", name,
                         to_string(plan.kernel), plan.reason, stats.num_tiles, stats.num_workloads,
                         100 * stats.padding_ratio, stats.matrix_bytes));
}

IterationObserver RankingCommand::observer(Session& session) {
  const bool fixed = stop_.fixed_iterations > 0;
  return session.progress().iterating(fixed ? 0 : stop_.tolerance,
                                      fixed ? stop_.fixed_iterations : stop_.max_iterations, step_times_);
}

ScoreWriterOptions RankingCommand::writer_options(Communicator& comm) const {
  ScoreWriterOptions options{.path = output_.empty() ? "-" : output_, .top = top_};
  options.format = score_format_of(options.path);
  const bool on_terminal =
      all_max(comm, std::uint64_t{comm.is_root() && output_.empty() && is_terminal(STDOUT_FILENO)}) != 0;
  if (on_terminal) {
    options.format = ScoreFormat::table;
    options.top = top_.value_or(kTableRows);
  }
  return options;
}

std::optional<std::uint64_t> RankingCommand::top_of_all(const Graph& graph, Communicator& comm) const {
  // What is planned without a run may be run with its output elsewhere.
  const std::optional<std::uint64_t> top = general_.dry_run ? top_ : writer_options(comm).top;
  return top && *top <= graph.num_vertices / 64 ? top : std::nullopt;  // a vector of all takes little more
}

void RankingCommand::write_scores(Session& session, std::span<const Ranking> rankings,
                                  const LabelTable& labels) const {
  Communicator& comm = session.comm();
  const ScoreWriterOptions options = writer_options(comm);
  write_to_reader(options.path, comm, [&] { write_rankings(rankings, labels, options, comm); });
}

void RankingCommand::say_result(const IterationReport& report, double error_bound, Session& session) const {
  const auto& graph = session.report()["graph"];
  std::string text =
      fmt::format("{} nodes, {} edges, {} steps, last change {:.3g}", graph["nodes"].get<std::uint64_t>(),
                  graph["edges"].get<std::uint64_t>(), report.iterations, report.residual);
  if (!std::isnan(error_bound)) text += fmt::format(", true error at most {:.3g} (L1)", error_bound);
  log_info(text + fmt::format(", {:.3g} s reading and building, {:.3g} s packing, {:.3g} s iterating",
                              session.seconds_of("read") + session.seconds_of("build"),
                              session.seconds_of("pack"), session.seconds_of("iterate")));
  if (report.stagnated) {
    const char* remedy = precision_ == Precision::f32 ? " or --precision f64" : "";
    log_warning(
        fmt::format("not converged: rounding keeps the change above the tolerance {}; reachable is about "
                    "{:.2g}: use --tolerance {:.2g}{}",
                    stop_.tolerance, report.reachable_tolerance, report.reachable_tolerance, remedy));
  } else if (!report.converged) {
    log_warning(
        fmt::format("not converged: after {} steps the change {:.3g} is above the tolerance {}; raise "
                    "--max-iterations or --tolerance",
                    report.iterations, report.residual, stop_.tolerance));
  }
}

int RankingCommand::finish(Session& session, const IterationReport& report, double error_bound,
                           std::span<const Ranking> rankings, const LabelTable& labels) {
  session.progress().done();
  session.report()["iteration"] = iteration_json(report);
  session.report()["iteration"]["error_bound"] = error_bound;
  session.report()["step"] = step_json(step_times_, step_costs_.edges, step_costs_.matrix_bytes,
                                       step_costs_.vector_bytes, step_costs_.exchanged_bytes);
  if (report.interrupted) throw Error(ErrorCategory::interrupted, "interrupted while iterating");
  session.timed("write", [&] { write_scores(session, rankings, labels); });
  say_result(report, error_bound, session);
  session.write_report();
  return report.converged ? kExitFine : kExitNotConverged;
}

void RankingCommand::release_edges(Graph& graph) {
  graph.row_offsets = {};
  graph.col_indices = {};
  graph.weights = {};
  graph.mapped.reset();
  degrees_ = nullptr;
}

}  // namespace tessera::cli
