// Pieces of the JSON report (docs/report.md lists every field). kReportVersion changes whenever a field
// changes its meaning or goes away.
#pragma once
#include <nlohmann/json.hpp>

#include "algorithms/convergence.hpp"
#include "engine/graph.hpp"
#include "engine/graph_stats.hpp"
#include "engine/spmv_operator.hpp"
#include "tools/option_table.hpp"
#include "tools/progress.hpp"
#include "tools/session.hpp"

namespace tessera::cli {

inline constexpr int kReportVersion = 1;

/// Objects of the report, with the fields that docs/report.md lists.
nlohmann::ordered_json options_json(const OptionTable& options);
nlohmann::ordered_json input_json(const std::string& path, const GraphFacts& facts);
nlohmann::ordered_json graph_json(const Graph& graph);
nlohmann::ordered_json stats_json(const GraphStats& stats);
nlohmann::ordered_json plan_json(const SpmvPlan& plan);
nlohmann::ordered_json operator_json(const OperatorStats& stats);
/// A few products, timed in the phase "measure"; nothing under several ranks, whose products overlap with
/// what arrives.
template <class S>
std::vector<PartTime> measured_parts(Session& session, const SpmvOperator<S>& op) {
  if (session.comm().size() > 1) return {};
  return session.timed("measure", [&] { return op.time_parts(3); });
}
/// Parts of a product with the predicted and the measured seconds of each; null where one is not known.
nlohmann::ordered_json parts_json(const SpmvPlan& plan, std::span<const PartTime> measured);
nlohmann::ordered_json iteration_json(const IterationReport& report);

/// Rates of one iteration: seconds (median), bytes moved, GB/s and GFLOP/s over all steps. `edges_a_step`:
/// stored edges one step with one vector multiplies.
nlohmann::ordered_json step_json(const StepTimes& times, std::uint64_t edges_a_step,
                                 std::uint64_t matrix_bytes, std::uint64_t vector_bytes,
                                 std::uint64_t exchanged_bytes);

/// Valid JSON whatever bytes labels hold (invalid UTF-8 is replaced); ends with a newline.
std::string report_text(const nlohmann::ordered_json& report);

/// Bytes of a regular file, 0 for anything else.
std::uint64_t file_size_bytes(const std::string& path);

}  // namespace tessera::cli
