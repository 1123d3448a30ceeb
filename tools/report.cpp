#include "tools/report.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace tessera::cli {
using nlohmann::ordered_json;
namespace {

ordered_json typed_value(const Option& option, const std::string& text) {
  if (option.kind == OptionKind::flag) return text == "yes";
  if (option.kind == OptionKind::number) return ordered_json::parse(text);
  return text;
}

}  // namespace

ordered_json options_json(const OptionTable& options) {
  ordered_json json = ordered_json::object();
  for (const Option& option : options.options()) {
    if (!option.in_config) continue;
    const std::vector<std::string> values = option.get();
    ordered_json value;  // null: not given and no default
    if (option.repeatable)
      value = values;
    else if (!values.empty())
      value = typed_value(option, values.front());
    json[option.name] = {{"value", value}, {"source", option.source}};
  }
  return json;
}

ordered_json input_json(const std::string& path, const GraphFacts& facts) {
  return {{"path", path},
          {"file_bytes", file_size_bytes(path)},
          {"format", facts.format},
          {"compression", facts.compression},
          {"labels", facts.label_choice},
          {"lines_read", facts.lines_read},
          {"edges_read", facts.edges_read},
          {"self_loops", facts.self_loops},
          {"self_loops_dropped", facts.self_loops_dropped},
          {"duplicate_edges", facts.duplicate_edges},
          {"zero_weights", facts.zero_weights},
          {"lines_with_extra_columns", facts.extra_columns},
          {"undirected", facts.undirected},
          {"reversed", facts.reversed},
          {"notes", facts.notes}};
}

ordered_json graph_json(const Graph& graph) {
  return {{"nodes", graph.num_vertices}, {"edges", graph.num_edges}, {"weighted", graph.weighted}};
}

ordered_json stats_json(const GraphStats& stats) {
  return {{"nodes", stats.num_vertices},
          {"edges", stats.num_edges},
          {"mean_degree", stats.mean_degree},
          {"max_in_degree", stats.max_in_degree},
          {"max_out_degree", stats.max_out_degree},
          {"gini_in", stats.gini_in},
          {"gini_out", stats.gini_out},
          {"top_1_percent_in", stats.top_1_percent_in},
          {"top_1_percent_out", stats.top_1_percent_out},
          {"dangling", stats.dangling},
          {"sources_only", stats.sources_only},
          {"isolated", stats.isolated},
          {"symmetric", stats.symmetric},
          {"in_degree_histogram", stats.in_degree_histogram},
          {"out_degree_histogram", stats.out_degree_histogram}};
}

ordered_json plan_json(const SpmvPlan& plan) {
  return {{"kernel", to_string(plan.kernel)},
          {"reason", plan.reason},
          {"order", to_string(plan.order)},
          {"tile_columns", plan.tile_columns},
          {"dense_tiles", plan.num_dense_tiles},
          {"predicted_tile_composite_seconds", plan.predicted_tile_seconds},
          {"predicted_csr_seconds", plan.predicted_csr_seconds}};
}

ordered_json parts_json(const SpmvPlan& plan, std::span<const PartTime> measured) {
  ordered_json parts = ordered_json::array();
  for (const PlanPart& part : plan.parts)
    parts.push_back(
        {{"name", part.name}, {"predicted_seconds", part.seconds}, {"measured_seconds", nullptr}});
  for (const PartTime& part : measured) {
    auto same =
        std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p["name"] == part.name; });
    if (same == parts.end())
      parts.push_back(
          {{"name", part.name}, {"predicted_seconds", nullptr}, {"measured_seconds", part.seconds}});
    else
      (*same)["measured_seconds"] = part.seconds;
  }
  return parts;
}

ordered_json operator_json(const OperatorStats& stats) {
  return {{"nonzeros", stats.num_nonzeros},
          {"stored", stats.num_stored},
          {"padding_ratio", stats.padding_ratio},
          {"row_pieces", stats.num_row_pieces},
          {"tiles", stats.num_tiles},
          {"workloads", stats.num_workloads},
          {"matrix_bytes", stats.matrix_bytes},
          {"vector_bytes", stats.vector_bytes},
          {"exchanged_bytes", stats.exchanged_bytes},
          {"packed_on", stats.packed_on_device ? "device" : "host"},
          {"row_imbalance", stats.row_imbalance},
          {"nonzero_imbalance", stats.nonzero_imbalance}};
}

ordered_json iteration_json(const IterationReport& report) {
  return {{"iterations", report.iterations},
          {"converged", report.converged},
          {"stagnated", report.stagnated},
          {"interrupted", report.interrupted},
          {"residual", report.residual},
          {"residual_l1", report.residual_l1},
          {"reachable_tolerance", report.reachable_tolerance},
          {"residual_history", report.residual_history}};
}

ordered_json step_json(const StepTimes& times, std::uint64_t edges_a_step, std::uint64_t matrix_bytes,
                       std::uint64_t vector_bytes, std::uint64_t exchanged_bytes) {
  const double steps = static_cast<double>(times.seconds.size());
  const double vector_steps = static_cast<double>(times.vector_steps);
  const double total = times.total();
  const double bytes =
      steps * static_cast<double>(matrix_bytes) + vector_steps * static_cast<double>(vector_bytes);
  const double flops = 2.0 * vector_steps * static_cast<double>(edges_a_step);
  return {{"steps", times.seconds.size()},
          {"vectors_a_step", steps > 0 ? vector_steps / steps : 0},
          {"median_seconds", times.median()},
          {"bytes_moved", steps > 0 ? bytes / steps : 0},
          {"exchanged_bytes", exchanged_bytes},
          {"gb_per_second", total > 0 ? bytes / total / 1e9 : 0},
          {"gflop_per_second", total > 0 ? flops / total / 1e9 : 0},
          {"gteps", total > 0 ? flops / 2 / total / 1e9 : 0}};
}

std::string report_text(const ordered_json& report) {
  return report.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::uint64_t file_size_bytes(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace tessera::cli
