#include "tools/comparison_command.hpp"

#include <algorithm>
#include <cmath>

#include "tools/backend_choice.hpp"
#include "tools/bar_chart.hpp"
#include "tools/exit_code.hpp"
#include "tools/stop_signal.hpp"
#include "tools/text_output.hpp"

namespace tessera::cli {
namespace {

std::string joined(const std::vector<std::string>& names, const char* separator = ",") {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : separator) + name;
  return text;
}

/// Nothing for "all".
std::vector<std::string> parse_names(const std::string& text, std::vector<std::string> known) {
  if (text == "all") return {};
  const bool can_choose = std::find(known.begin(), known.end(), "auto") != known.end();
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    if (names.back() == "all")
      throw OptionError(fmt::format("expected all alone or {}names of kernels, found \"{}\"",
                                    can_choose ? "auto and " : "", text) +
                        (can_choose ? "; auto alone compares its choice with all" : ""));
    if (std::find(known.begin(), known.end(), names.back()) == known.end()) {
      known.push_back("all");
      throw OptionError(fmt::format("expected all{} or names of kernels, found \"{}\"{}",
                                    can_choose ? ", auto" : "", names.back(),
                                    did_you_mean(names.back(), known)));
    }
    begin = end + 1;
  }
  return names;
}

double gflops(const ProductMeasurement& m, const SparseMatrix& matrix) {
  return 2e-9 * static_cast<double>(matrix.num_nonzeros()) / m.median_seconds;
}

double share_of_padding(const ProductMeasurement& m, const SparseMatrix& matrix) {
  if (matrix.num_nonzeros() == 0) return 0;
  return static_cast<double>(m.stats.num_stored) / static_cast<double>(matrix.num_nonzeros()) - 1;
}

std::string table_text(std::span<const ProductMeasurement> results, const SparseMatrix& matrix) {
  const auto size = static_cast<double>(std::max<std::uint64_t>(1, matrix.num_nonzeros()));
  std::string text = fmt::format("{:<16}{:>12}{:>10}{:>9}{:>11}{:>11}{:>17}  {}\n", "kernel", "ms", "GFLOP/s",
                                 "GB/s", "bytes/nz", "padding", "build, products", "check");
  for (const ProductMeasurement& m : results) {
    if (!m.refusal.empty()) {
      text += fmt::format("{:<16}refused: {}\n", m.name, m.refusal);
      continue;
    }
    text += fmt::format("{:<16}{:>12.4g}{:>10.3g}{:>9.3g}{:>11.3g}{:>9.1f} %{:>17.3g}  {}\n", m.name,
                        1e3 * m.median_seconds, gflops(m, matrix),
                        1e-9 * static_cast<double>(m.bytes_moved) / m.median_seconds,
                        static_cast<double>(m.stats.bytes) / size, 100 * share_of_padding(m, matrix),
                        m.build_seconds / m.median_seconds, m.is_right() ? "right" : "WRONG");
  }
  return text;
}

nlohmann::ordered_json products_json(std::span<const ProductMeasurement> results,
                                     const SparseMatrix& matrix) {
  auto list = nlohmann::ordered_json::array();
  for (const ProductMeasurement& m : results) {
    if (!m.refusal.empty()) {
      list.push_back({{"kernel", m.name}, {"refused", m.refusal}});
      continue;
    }
    list.push_back({{"kernel", m.name},
                    {"median_seconds", m.median_seconds},
                    {"smallest_seconds", m.smallest_seconds},
                    {"largest_seconds", m.largest_seconds},
                    {"timed", m.num_timed},
                    {"gflop_per_second", gflops(m, matrix)},
                    {"gb_per_second", 1e-9 * static_cast<double>(m.bytes_moved) / m.median_seconds},
                    {"matrix_bytes", m.stats.bytes},
                    {"stored", m.stats.num_stored},
                    {"padding_ratio", share_of_padding(m, matrix)},
                    {"build_seconds", m.build_seconds},
                    {"error_over_bound", m.largest_error},
                    {"right", m.is_right()}});
  }
  return list;
}

nlohmann::ordered_json tried_json(std::span<const ProductMeasurement> tried) {
  auto list = nlohmann::ordered_json::array();
  for (const ProductMeasurement& m : tried) {
    list.push_back({{"kernel", m.name}});
    if (!m.refusal.empty())
      list.back()["refused"] = m.refusal;
    else
      list.back().update({{"median_seconds", m.median_seconds},
                          {"build_seconds", m.build_seconds},
                          {"right", m.is_right()}});
  }
  return list;
}

void write_plot(const std::string& path, std::span<const ProductMeasurement> results,
                const SparseMatrix& matrix, const std::string& title) {
  BarChart chart{
      .title = title, .value_label = "GFLOP/s", .names = {}, .series = {{.name = "", .values = {}}}};
  for (const ProductMeasurement& m : results) {
    chart.names.push_back(m.name);
    chart.series[0].values.push_back(m.refusal.empty() ? gflops(m, matrix) : std::nan(""));
  }
  write_text(path, bar_chart_svg(chart));
}

}  // namespace

void ComparisonCommand::add_comparison_options() {
  options_.group("Product");
  options_.add(
      {.name = "kernel",
       .placeholder = can_choose_ ? "all|auto|NAME,..." : "all|NAME,...",
       .help = "what to compare: all, or some of " + joined(names_of_(true), ", ") +
               (can_choose_ ? "; auto: the fastest in a short trial of those that rows and columns speak for "
                              "(given alone: beside all others)"
                            : ""),
       .set = [this](const std::string& text) { kernels_ = parse_names(text, known_names()); },
       .get = [this] { return std::vector<std::string>{kernels_.empty() ? "all" : joined(kernels_)}; }});
  options_.count(
      "repeat", repeat_, 1, 1000000,
      fmt::format(
          "products that are timed, fewer, but three, where they take more than {} s; the median is shown",
          kMostSeconds));
  options_.choice<Precision>("precision", precision_, {{"f32", Precision::f32}, {"f64", Precision::f64}},
                             "of values, x and y");
  add_backend_option(options_, backend_, "device that computes; auto takes a GPU where one answers");
  options_.group("Output");
  options_.text("plot", "FILE.svg", plot_, "a bar chart of the rates in GFLOP/s");
}

void ComparisonCommand::check_options() const {
  if (plot_ == "-")
    throw OptionError("--plot: \"-\" is standard output, where the table goes; expected a file");
  if (!plot_.empty() && !plot_.ends_with(".svg"))
    throw OptionError(fmt::format("--plot: expected a name that ends in .svg, found \"{}\"", plot_));
  check_distinct_outputs(outputs());
  check_inputs_are_kept(inputs(), outputs());
}

void ComparisonCommand::prepare(Session& session) const {
  if (session.comm().size() > 1) throw OptionError(name() + " measures one process; run it without mpirun");
  check_writable_outputs(outputs(), session.comm());
}

std::vector<std::string> ComparisonCommand::known_names() const {
  std::vector<std::string> known = names_of_(true);
  if (can_choose_) known.push_back("auto");
  return known;
}

bool ComparisonCommand::has_to_choose() const {
  return std::find(kernels_.begin(), kernels_.end(), "auto") != kernels_.end();
}

void ComparisonCommand::choose(std::span<const ProductMeasurement> tried, Session& session) {
  const ProductMeasurement* best = fastest(tried);
  chosen_ = best != nullptr ? best->name : tried.front().name;
  note_wrong(tried);
  session.report()["auto"] = {{"kernel", chosen_}, {"over_best", nullptr}, {"tried", tried_json(tried)}};
}

void ComparisonCommand::note_wrong(std::span<const ProductMeasurement> results) {
  for (const ProductMeasurement& m : results)
    if (wrong_.empty() && m.refusal.empty() && !m.is_right()) wrong_ = m.name;
}

std::vector<std::string> ComparisonCommand::names(bool on_device) const {
  if (kernels_.empty() || kernels_ == std::vector<std::string>{"auto"}) return names_of_(on_device);
  std::vector<std::string> names;
  for (const std::string& kernel : kernels_) {
    const std::string& name = kernel == "auto" ? chosen_ : kernel;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// How far the chosen one is from the fastest of those that were compared.
void ComparisonCommand::say_choice(Session& session, std::span<const ProductMeasurement> results) const {
  if (chosen_.empty()) return;
  const auto is_chosen = [&](const ProductMeasurement& m) { return m.name == chosen_; };
  const ProductMeasurement& chosen = *std::find_if(results.begin(), results.end(), is_chosen);
  auto& report = session.report()["auto"];
  std::string text = chosen.refusal.empty() ? "wrong" : "refused";
  if (chosen.refusal.empty() && chosen.is_right()) {
    const double over_best = chosen.median_seconds / fastest(results)->median_seconds;
    report["over_best"] = over_best;
    text = fmt::format("{:.2f} times the fastest here, of {} that were tried", over_best,
                       report["tried"].size());
  }
  if (general_.report != "-") write_stdout(fmt::format("auto: {}, {}\n", chosen_, text));
}

std::function<void(const std::string&)> ComparisonCommand::progress(const std::string& doing,
                                                                    Session& session) const {
  return [doing, &session](const std::string& name) {
    session.progress().phase(doing + " " + name);
    if (stop_requested()) throw Error(ErrorCategory::interrupted, "interrupted while " + doing);
  };
}

int ComparisonCommand::finish(Session& session, std::span<const ProductMeasurement> results,
                              const SparseMatrix& matrix, const std::string& title) {
  session.progress().done();
  session.report()["products"] = products_json(results, matrix);
  note_wrong(results);
  const auto is_refused = [](const ProductMeasurement& m) { return !m.refusal.empty(); };
  if (std::all_of(results.begin(), results.end(), is_refused)) {
    session.write_report();
    const ProductMeasurement& first = results.front();
    if (first.refused_as == ErrorCategory::resource) throw ResourceError(first.refusal);
    throw OptionError(fmt::format("--kernel: {}; name another, or all", first.refusal));
  }
  if (general_.report != "-") write_stdout(table_text(results, matrix));
  say_choice(session, results);
  if (!plot_.empty()) write_plot(plot_, results, matrix, title);
  session.write_report();
  if (!wrong_.empty())
    throw InternalError(fmt::format("the product of {} is wrong; please report this matrix", wrong_));
  return kExitFine;
}

}  // namespace tessera::cli
