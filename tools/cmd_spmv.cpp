// tessera spmv
#include <algorithm>
#include <cmath>

#include "engine/io/atomic_file.hpp"
#include "engine/io/matrix_reader.hpp"
#include "engine/load_graph.hpp"
#include "engine/product_comparison.hpp"
#include "tools/bar_chart.hpp"
#include "tools/command.hpp"
#include "tools/exit_code.hpp"
#include "tools/graph_input.hpp"
#include "tools/ranking_command.hpp"
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
  std::string matrix_, kernels_ = "all", backend_ = "auto", plot_;
  Precision precision_ = Precision::f64;
  int repeat_ = 500;
};

std::string names_text() {
  std::string text;
  for (const ProductForm& form : product_forms(true)) text += (text.empty() ? "" : ", ") + form.name;
  return text;
}

SpmvCommand::SpmvCommand()
    : Command(
          "spmv",
          "Multiplies a matrix with a vector in every sparse format, checks each product and times it.",
          {"tessera spmv matrix.mtx", "tessera spmv matrix.mtx --kernel csr-vector,ell --plot times.svg"}) {
  options_.positional("matrix", matrix_,
                      "Matrix Market file of any shape, or a graph (its in-edges, all values 1)");
  options_.group("Product");
  options_.text("kernel", "all|NAME,...", kernels_, "formats to compare: all, or some of " + names_text());
  options_.count("repeat", repeat_, 1, 1000000, "products that are timed; the median is shown");
  options_.choice<Precision>("precision", precision_, {{"f32", Precision::f32}, {"f64", Precision::f64}},
                             "of values, x and y");
  Choices<std::string> backends;
  for (const std::string& name : backend_names()) backends.push_back({name, name});
  options_.choice<std::string>("backend", backend_, backends,
                               "device that computes; auto takes a GPU where one answers");
  options_.group("Output");
  options_.text("plot", "FILE.svg", plot_, "a bar chart of the rates in GFLOP/s");
  add_general_options(false);
}

std::vector<std::string> SpmvCommand::names(bool on_device) const {
  std::vector<std::string> known, wanted;
  const bool all = kernels_ == "all";
  for (const ProductForm& form : product_forms(on_device || !all)) known.push_back(form.name);
  if (all) return known;
  for (std::size_t begin = 0; begin <= kernels_.size();) {
    const std::size_t end = std::min(kernels_.find(',', begin), kernels_.size());
    wanted.push_back(kernels_.substr(begin, end - begin));
    if (std::find(known.begin(), known.end(), wanted.back()) == known.end())
      throw OptionError(fmt::format("--kernel: expected all or names of formats, found \"{}\"{}",
                                    wanted.back(), did_you_mean(wanted.back(), known)));
    begin = end + 1;
  }
  return wanted;
}

void SpmvCommand::check_options() const { names(false); }

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
  if (is_matrix_file(path)) return session.timed("read", [&] { return read_matrix(path); });
  GraphOptions options;
  options.path = path;
  return matrix_of(load_input(options, session));
}

double gflops(const ProductMeasurement& m, const SparseMatrix& matrix) {
  return 2e-9 * static_cast<double>(matrix.num_nonzeros()) / m.median_seconds;
}

double share_of_padding(const ProductMeasurement& m, const SparseMatrix& matrix) {
  const auto size = static_cast<double>(std::max<std::uint64_t>(1, matrix.num_nonzeros()));
  return static_cast<double>(m.stats.num_stored) / size - 1;
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
  for (const std::string& path : {plot_, general_.report})
    if (!path.empty() && path != "-") check_writable(path);
  const SparseMatrix matrix = load_matrix(matrix_, session);
  session.report()["matrix"] = {{"rows", matrix.num_rows},
                                {"columns", matrix.num_cols},
                                {"nonzeros", matrix.num_nonzeros()},
                                {"pattern", matrix.pattern}};
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
      return compare_products<S>(names(!backend->memory_is_host()), view, *backend, repeat_, progress);
    });
  });
  session.progress().done();
  if (results.size() == 1 && !results[0].refusal.empty()) throw ResourceError(results[0].refusal);
  session.report()["products"] = products_json(results, matrix);
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
