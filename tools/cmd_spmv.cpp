// tessera spmv
#include <algorithm>
#include <cmath>

#include "engine/io/atomic_file.hpp"
#include "engine/io/input_file.hpp"
#include "engine/io/matrix_reader.hpp"
#include "engine/load_graph.hpp"
#include "engine/product_comparison.hpp"
#include "tools/backend_choice.hpp"
#include "tools/bar_chart.hpp"
#include "tools/command.hpp"
#include "tools/exit_code.hpp"
#include "tools/graph_input.hpp"
#include "tools/memory.hpp"
#include "tools/output_paths.hpp"
#include "tools/precision.hpp"
#include "tools/stdout_text.hpp"
#include "tools/stop_signal.hpp"

namespace tessera::cli {
namespace {

class SpmvCommand : public Command {
 public:
  SpmvCommand();
  void check_options() const override;
  int run(Session& session) override;

 private:
  /// All there are on a device or on the host, or those asked for.
  std::vector<std::string> names(bool on_device) const;
  OutputPaths outputs() const { return {{"--plot", plot_}, {"--report", general_.report}}; }

  std::string matrix_, backend_ = "auto", plot_;
  std::vector<std::string> kernels_;  // empty: all
  Precision precision_ = Precision::f64;
  int repeat_ = 500;
};

std::string joined(const std::vector<std::string>& names, const char* separator = ",") {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : separator) + name;
  return text;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const ProductForm& form : product_forms(true)) names.push_back(form.name);
  return names;
}

/// Nothing for "all".
std::vector<std::string> parse_names(const std::string& text) {
  if (text == "all") return {};
  std::vector<std::string> known = known_names(), names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    if (std::find(known.begin(), known.end(), names.back()) == known.end()) {
      known.push_back("all");
      throw OptionError(fmt::format("expected all or names of formats, found \"{}\"{}", names.back(),
                                    did_you_mean(names.back(), known)));
    }
    begin = end + 1;
  }
  return names;
}

SpmvCommand::SpmvCommand()
    : Command(
          "spmv",
          "Multiplies a matrix with a vector in every sparse format, checks each product and times it.\n"
          "MATRIX: a Matrix Market file of any shape, or a graph (the matrix of its in-edges).",
          {"tessera spmv matrix.mtx", "tessera spmv matrix.mtx --kernel csr-vector,ell --plot times.svg"}) {
  options_.positional("matrix", matrix_, "Matrix Market file, or a graph").placeholder = "MATRIX";
  options_.group("Product");
  options_.add(
      {.name = "kernel",
       .placeholder = "all|NAME,...",
       .help = "formats to compare: all, or some of " + joined(known_names(), ", "),
       .set = [this](const std::string& text) { kernels_ = parse_names(text); },
       .get = [this] { return std::vector<std::string>{kernels_.empty() ? "all" : joined(kernels_)}; }});
  options_.count("repeat", repeat_, 1, 1000000, "products that are timed; the median is shown");
  options_.choice<Precision>("precision", precision_, {{"f32", Precision::f32}, {"f64", Precision::f64}},
                             "of values, x and y");
  add_backend_option(options_, backend_, "device that computes; auto takes a GPU where one answers");
  options_.group("Output");
  options_.text("plot", "FILE.svg", plot_, "a bar chart of the rates in GFLOP/s");
  add_general_options(false);
}

std::vector<std::string> SpmvCommand::names(bool on_device) const {
  if (!kernels_.empty()) return kernels_;
  std::vector<std::string> all;
  for (const ProductForm& form : product_forms(on_device)) all.push_back(form.name);
  return all;
}

void SpmvCommand::check_options() const {
  if (plot_ == "-")
    throw OptionError("--plot: \"-\" is standard output, where the table goes; expected a file");
  check_distinct_outputs(outputs());
}

/// A graph as the matrix of its in-edges.
SparseMatrix matrix_of(Graph graph) {
  SparseMatrix matrix;
  matrix.num_rows = matrix.num_cols = graph.num_vertices;
  matrix.row_offsets = std::move(graph.row_offsets);
  matrix.col_indices = std::move(graph.col_indices);
  matrix.values = std::move(graph.weights);
  matrix.pattern = !graph.weighted;
  return matrix;
}

SparseMatrix load_matrix(const std::string& path, Session& session) {
  // A stream can be read once only: there it has to be a matrix.
  if (!is_regular_file(path) || is_matrix_file(path))
    return session.timed("read", [&] { return read_matrix(path); });
  GraphOptions options;
  options.path = path;
  Graph graph = load_input(options, session);
  require_edges(graph, options);
  return matrix_of(std::move(graph));
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

void write_plot(const std::string& path, std::span<const ProductMeasurement> results,
                const SparseMatrix& matrix, const std::string& title) {
  BarChart chart{
      .title = title, .value_label = "GFLOP/s", .names = {}, .series = {{.name = "", .values = {}}}};
  for (const ProductMeasurement& m : results) {
    chart.names.push_back(m.name);
    chart.series[0].values.push_back(m.refusal.empty() ? gflops(m, matrix) : std::nan(""));
  }
  const WritingScope writing;
  AtomicFile file(path);
  file.write(bar_chart_svg(chart));
  file.commit();
}

int SpmvCommand::run(Session& session) {
  if (session.comm().size() > 1) throw OptionError("spmv measures one process; run it without mpirun");
  check_writable_outputs(outputs());
  const SparseMatrix matrix = load_matrix(matrix_, session);
  session.report()["matrix"] = {{"rows", matrix.num_rows},
                                {"columns", matrix.num_cols},
                                {"nonzeros", matrix.num_nonzeros()},
                                {"pattern", matrix.pattern}};
  // A padded format is built beside the matrix.
  check_memory(checked_add(checked_mul(48, matrix.num_nonzeros()), checked_mul(64, matrix.num_rows)),
               "comparing", session.comm());
  const auto progress = [&](const std::string& name) {
    session.progress().phase("measuring " + name);
    if (stop_requested()) throw Error(ErrorCategory::interrupted, "interrupted while measuring");
  };
  const auto results = with_precision(precision_, [&](auto zero) {
    using S = decltype(zero);
    const auto backend = make_backend<S>(backend_);
    session.report()["backend"] = {{"name", backend->name()},
                                   {"description", backend->description()},
                                   {"precision", sizeof(S) == 4 ? "f32" : "f64"}};
    return session.timed("measure", [&] {
      CsrView<double> view = matrix.view();
      if (matrix.pattern) view.values = nullptr;  // tiled forms store no ones
      try {
        return compare_products<S>(names(!backend->memory_is_host()), view, *backend, repeat_, progress);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", input_name(matrix_), error.what()));
      }
    });
  });
  session.progress().done();
  session.report()["products"] = products_json(results, matrix);
  const auto is_refused = [](const ProductMeasurement& m) { return !m.refusal.empty(); };
  if (std::all_of(results.begin(), results.end(), is_refused)) {
    session.write_report();
    throw ResourceError(results.front().refusal);
  }
  if (general_.report != "-") write_stdout(table_text(results, matrix));
  if (!plot_.empty()) write_plot(plot_, results, matrix, input_name(matrix_));
  session.write_report();
  const bool all_right = std::all_of(results.begin(), results.end(), [](const ProductMeasurement& m) {
    return !m.refusal.empty() || m.is_right();
  });
  if (!all_right) throw InternalError("a product is wrong; please report this matrix");
  return kExitFine;
}

}  // namespace

std::unique_ptr<Command> make_spmv_command() { return std::make_unique<SpmvCommand>(); }

}  // namespace tessera::cli
