// tessera cg
#include <algorithm>
#include <optional>

#include "algorithms/conjugate_gradients.hpp"
#include "engine/format_choice.hpp"
#include "engine/io/matrix_reader.hpp"
#include "engine/io/number_list.hpp"
#include "engine/matrix_symmetry.hpp"
#include "engine/overlapped_product.hpp"
#include "kernels/formats/format_registry.hpp"
#include "tools/all_commands.hpp"
#include "tools/backend_choice.hpp"
#include "tools/exit_code.hpp"
#include "tools/graph_input.hpp"
#include "tools/log.hpp"
#include "tools/memory.hpp"
#include "tools/output_paths.hpp"
#include "tools/precision.hpp"
#include "tools/stop_signal.hpp"
#include "tools/text_output.hpp"

namespace tessera::cli {
namespace {

class CgCommand : public Command {
 public:
  CgCommand();
  void check_options() const override;
  int run(Session& session) override;

 private:
  SparseMatrix load(Session& session) const;
  template <class S>
  CgResult solve(const SparseMatrix& matrix, const std::vector<double>& b, Session& session) const;
  template <class S>
  std::unique_ptr<OverlappedProduct<S>> pack(const SparseMatrix& matrix, const std::string& better,
                                             Backend<S>& backend) const;
  std::string better_format(const SparseMatrix& matrix, bool on_device) const;
  std::vector<double> inverse_diagonal(const SparseMatrix& matrix) const;
  void write_solution(const std::vector<double>& x) const;
  void say_result(const CgResult& result, const SparseMatrix& matrix) const;
  int finish(const CgResult& result, const SparseMatrix& matrix, Session& session) const;
  NamedPaths outputs() const override { return {{"--output", output_}, {"--report", general_.report}}; }

  std::string matrix_, right_side_, first_ = "csr-adaptive", better_ = "csr-ell", output_ = "-",
                                    backend_ = "auto";
  bool jacobi_ = false, no_overlap_ = false;
  Precision precision_ = Precision::f64;
  double tolerance_ = 1e-8;
  int max_iterations_ = 10000;
};

CgCommand::CgCommand()
    : Command("cg",
              "Solves A x = b by conjugate gradients, A symmetric and positive definite (Matrix Market).\n"
              "Iterations begin at once; a better format is prepared beside them.",
              {"tessera cg matrix.mtx -o x.txt",
               "tessera cg matrix.mtx --rhs b.txt --preconditioner jacobi --report solve.json -o x.txt"}) {
  options_.positional("matrix", matrix_, "Matrix Market file").placeholder = "MATRIX";
  options_.group("System");
  options_.text("rhs", "FILE", right_side_, "b: one number a line, or a Matrix Market array [all ones]");
  options_.choice<bool>("preconditioner", jacobi_, {{"none", false}, {"jacobi", true}},
                        "jacobi divides by the diagonal");
  options_.group("Solving");
  options_.number("tolerance", tolerance_, {.low = 0, .high = 1, .low_open = true, .high_open = true},
                  "stop at |b - A x| / |b|; with f32 rounding seldom lets it fall below 1e-5");
  options_.count("max-iterations", max_iterations_, 0, 1000000000, "give up after so many steps");
  options_.choice<Precision>("precision", precision_, {{"f32", Precision::f32}, {"f64", Precision::f64}},
                             "of the matrix and the vectors");
  Choices<std::string> formats, better = {{"none", ""}, {"auto", "auto"}};
  for (const FormatEntry& entry : all_formats())
    if (!entry.needs_device) formats.push_back({entry.name, entry.name});
  better.insert(better.end(), formats.begin(), formats.end());
  add_backend_option(options_, backend_, "device that computes; auto takes a GPU where one answers");
  options_.choice<std::string>("first", first_, formats, "format to begin with (docs/formats.md)");
  options_.choice<std::string>("prepare", better_, better,
                               "format that a thread prepares meanwhile; products go on in it once it is "
                               "there; auto: the one that rows and columns speak for");
  options_.flag("no-overlap", no_overlap_,
                "prepare before the first step: then every run on a CPU has the same bits");
  options_.group("Output");
  options_
      .text(
          "output", "FILE", output_,
          "x as text, one number a line, whatever the name (but .npy, .json and .mtx); - is standard output")
      .letter = 'o';
  add_general_options(false);
}

SparseMatrix CgCommand::load(Session& session) const {
  SparseMatrix matrix = session.timed("read", [&] { return read_matrix(matrix_); });
  const std::string name = input_name(matrix_);
  if (matrix.num_rows != matrix.num_cols)
    throw InputError(
        fmt::format("{}: {} x {}, expected a square matrix", name, matrix.num_rows, matrix.num_cols));
  if (const auto found = find_asymmetry(matrix.view()))
    throw InputError(fmt::format("{}: not symmetric: entry ({}, {}) is {}, entry ({}, {}) is {}", name,
                                 found->row + 1, found->column + 1, found->value, found->column + 1,
                                 found->row + 1, found->mirrored));
  return matrix;
}

std::vector<double> CgCommand::inverse_diagonal(const SparseMatrix& matrix) const {
  if (!jacobi_) return {};
  std::vector<double> diagonal = diagonal_of(matrix.view());
  for (std::size_t row = 0; row < diagonal.size(); ++row) {
    if (!(diagonal[row] > 0))
      throw InputError(fmt::format("entry ({}, {}) is {}: the matrix is not positive definite", row + 1,
                                   row + 1, diagonal[row]));
    diagonal[row] = 1 / diagonal[row];
  }
  return diagonal;
}

/// What the formats were and what the change gained: products of both are timed after the solve.
template <class S>
nlohmann::ordered_json formats_json(const OverlappedProduct<S>& product, std::uint64_t size,
                                    Backend<S>& backend, const std::string& first,
                                    const std::string& better) {
  constexpr int kRepeat = 9;
  nlohmann::ordered_json json = {{"first", first},
                                 {"prepared", nullptr},
                                 {"refused", nullptr},
                                 {"prepare_seconds", nullptr},
                                 {"switched_after_products", nullptr},
                                 {"products", product.num_products()}};
  Buffer<S> x = backend.template allocate<S>(size), y = backend.template allocate<S>(size);
  backend.clear(x);
  const auto times = product.time_products(x, y, kRepeat);
  json["first_product_seconds"] = times.first;
  json["prepared_product_seconds"] = nullptr;
  json["gained_seconds"] = nullptr;
  if (better.empty() || better == first) return json;
  json["prepared"] = better;
  json["prepare_seconds"] = product.prepare_seconds();
  if (!product.refusal().empty()) json["refused"] = product.refusal();
  if (product.switched_after() < 0) return json;
  json["switched_after_products"] = product.switched_after();
  json["prepared_product_seconds"] = times.better;
  json["gained_seconds"] =
      static_cast<double>(product.num_products() - product.switched_after()) * (times.first - times.better);
  return json;
}

/// The format to prepare. Not every form that can be chosen is one of these formats.
std::string CgCommand::better_format(const SparseMatrix& matrix, bool on_device) const {
  if (better_ != "auto") return better_;
  const std::string form = choose_form(matrix_facts(matrix.view()), on_device, precision_ == Precision::f64);
  return find_format(form) != nullptr ? form : "csr-ell";
}

template <class S>
std::unique_ptr<OverlappedProduct<S>> CgCommand::pack(const SparseMatrix& matrix, const std::string& better,
                                                      Backend<S>& backend) const {
  std::unique_ptr<OverlappedProduct<S>> product;
  try {
    product = std::make_unique<OverlappedProduct<S>>(matrix.view(), first_, better, backend);
  } catch (const OptionError& error) {
    throw OptionError(fmt::format("--first: {}; name another", error.what()));
  }
  if (no_overlap_) product->finish_preparing();
  return product;
}

template <class S>
CgResult CgCommand::solve(const SparseMatrix& matrix, const std::vector<double>& b, Session& session) const {
  const auto backend = make_backend<S>(backend_);
  session.report()["backend"] = {{"name", backend->name()},
                                 {"description", backend->description()},
                                 {"precision", sizeof(S) == 4 ? "f32" : "f64"}};
  const std::vector<double> diagonal = inverse_diagonal(matrix);
  const std::string better = better_format(matrix, !backend->memory_is_host());
  const auto product = session.timed("pack", [&] { return pack(matrix, better, *backend); });
  StepTimes times;
  const IterationObserver observer = session.progress().iterating(tolerance_, max_iterations_, times);
  CgOptions options;
  options.tolerance = tolerance_;
  options.max_iterations = max_iterations_;
  options.inverse_diagonal = diagonal;
  options.observer = [&](const CgProgress& progress) {
    return observer({.iteration = progress.iteration, .residual = progress.relative_residual});
  };
  CgResult result = session.timed("iterate", [&] {
    return conjugate_gradients<S>([&](const Buffer<S>& p, Buffer<S>& q) { product->multiply(p, q); }, b,
                                  options, *backend);
  });
  session.report()["cg"] = {{"step_median_seconds", times.median()}};
  session.timed("measure", [&] {
    product->finish_preparing();
    if (!general_.report.empty())
      session.report()["formats"] = formats_json(*product, matrix.num_rows, *backend, first_, better);
  });
  if (!product->refusal().empty())
    log_info(fmt::format("the first format stays: {}", product->refusal()));
  else if (!better.empty() && better != first_)
    log_detail(product->switched_after() < 0
                   ? fmt::format("{} stays: {} was not ready in time", first_, better)
                   : fmt::format("{}, then {} after {} products", first_, better, product->switched_after()));
  return result;
}

void CgCommand::write_solution(const std::vector<double>& x) const {
  const WritingScope writing;
  try {
    write_numbers(output_, x);
  } catch (const ResourceError&) {
    if (output_ != "-" || !stdout_reader_is_gone()) throw;
  }
}

void CgCommand::say_result(const CgResult& result, const SparseMatrix& matrix) const {
  log_info(fmt::format("{} rows, {} entries, {} steps, |b - A x| / |b| = {:.3g}", matrix.num_rows,
                       matrix.num_nonzeros(), result.iterations, result.relative_residual));
  if (result.converged) return;
  const bool is_short = precision_ == Precision::f32;
  if (!result.residual_history.empty() && result.residual_history.back() <= tolerance_)
    log_warning(
        fmt::format("not converged: rounding keeps the residual {:.3g} above the tolerance {}; raise "
                    "--tolerance{}",
                    result.relative_residual, tolerance_, is_short ? " or use --precision f64" : ""));
  else
    log_warning(
        fmt::format("not converged: after {} steps the residual {:.3g} is above the tolerance {}; raise "
                    "--max-iterations or --tolerance{}{}",
                    result.iterations, result.relative_residual, tolerance_,
                    jacobi_ ? "" : ", try --preconditioner jacobi", is_short ? " or --precision f64" : ""));
}

int CgCommand::finish(const CgResult& result, const SparseMatrix& matrix, Session& session) const {
  session.progress().done();
  auto& report = session.report()["cg"];
  report["iterations"] = result.iterations;
  report["converged"] = result.converged;
  report["interrupted"] = result.interrupted;
  report["relative_residual"] = result.relative_residual;
  report["residual_history"] = result.residual_history;
  if (result.interrupted) throw Error(ErrorCategory::interrupted, "interrupted while iterating");
  session.timed("write", [&] { write_solution(result.x); });
  say_result(result, matrix);
  session.write_report();
  return result.converged ? kExitFine : kExitNotConverged;
}

void CgCommand::check_options() const {
  check_one_stdin({{"MATRIX", matrix_}, {"--rhs", right_side_}});
  check_distinct_outputs(outputs());
  check_inputs_are_kept({{"MATRIX", matrix_}, {"--rhs", right_side_}}, outputs());
  for (const char* ending : {".npy", ".json", ".mtx"})
    if (output_.ends_with(ending))
      throw OptionError(
          fmt::format("--output: x goes out as text, one number a line; expected a name such as x.txt, "
                      "found \"{}\"",
                      output_));
}

int CgCommand::run(Session& session) {
  if (session.comm().size() > 1) throw OptionError("cg runs in one process; run it without mpirun");
  check_writable_outputs(outputs(), session.comm());
  const SparseMatrix matrix = load(session);
  session.report()["matrix"] = {{"rows", matrix.num_rows}, {"nonzeros", matrix.num_nonzeros()}};
  // Two formats on the host, beside the matrix, and vectors.
  check_memory(checked_add(checked_mul(32, matrix.num_nonzeros()), checked_mul(80, matrix.num_rows)),
               "solving", "a machine with more memory or a smaller matrix", session.comm());
  const std::vector<double> b = right_side_.empty() ? std::vector<double>(matrix.num_rows, 1.0)
                                                    : read_numbers(right_side_, matrix.num_rows);
  const CgResult result = with_precision(precision_, [&](auto zero) {
    try {
      return solve<decltype(zero)>(matrix, b, session);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", input_name(matrix_), error.what()));
    }
  });
  return finish(result, matrix, session);
}

}  // namespace

std::unique_ptr<Command> make_cg_command() { return std::make_unique<CgCommand>(); }

}  // namespace tessera::cli
