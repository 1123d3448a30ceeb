// tessera cg
#include <algorithm>
#include <chrono>
#include <optional>

#include "algorithms/conjugate_gradients.hpp"
#include "engine/io/atomic_file.hpp"
#include "engine/io/matrix_reader.hpp"
#include "engine/io/number_list.hpp"
#include "engine/matrix_symmetry.hpp"
#include "engine/overlapped_product.hpp"
#include "kernels/formats/format_registry.hpp"
#include "tools/command.hpp"
#include "tools/exit_code.hpp"
#include "tools/graph_input.hpp"
#include "tools/log.hpp"
#include "tools/ranking_command.hpp"
#include "tools/stop_signal.hpp"

namespace tessera::cli {
namespace {

class CgCommand : public Command {
 public:
  CgCommand();
  int run(Session& session) override;

 private:
  SparseMatrix load(Session& session) const;
  template <class S>
  CgResult solve(const SparseMatrix& matrix, const std::vector<double>& b, Session& session) const;
  std::vector<double> inverse_diagonal(const SparseMatrix& matrix) const;
  int finish(const CgResult& result, const SparseMatrix& matrix, Session& session) const;

  std::string matrix_, right_side_, first_ = "csr-adaptive", better_ = "csr-ell", output_ = "-",
                                    backend_ = "auto";
  bool jacobi_ = false, no_overlap_ = false;
  Precision precision_ = Precision::f64;
  double tolerance_ = 1e-8;
  int max_iterations_ = 10000;
};

CgCommand::CgCommand()
    : Command("cg",
              "Solves A x = b by conjugate gradients, A symmetric and positive definite. Iterations begin at "
              "once; a\n"
              "better format is prepared beside them.",
              {"tessera cg matrix.mtx -o x.txt",
               "tessera cg matrix.mtx --rhs b.txt --preconditioner jacobi --report solve.json -o x.txt"}) {
  options_.positional("matrix", matrix_, "Matrix Market file");
  options_.group("System");
  options_.text("rhs", "FILE", right_side_, "b: one number a line, or a Matrix Market array [all ones]");
  options_.choice<bool>("preconditioner", jacobi_, {{"none", false}, {"jacobi", true}},
                        "jacobi divides by the diagonal");
  options_.group("Solving");
  options_.number("tolerance", tolerance_, {.low = 0, .high = 1, .high_open = true},
                  "stop at |b - A x| / |b|");
  options_.count("max-iterations", max_iterations_, 0, 1000000000, "give up after so many steps");
  options_.choice<Precision>("precision", precision_, {{"f32", Precision::f32}, {"f64", Precision::f64}},
                             "of the matrix and the vectors");
  Choices<std::string> backends, formats, better = {{"none", ""}};
  for (const std::string& name : backend_names()) backends.push_back({name, name});
  for (const FormatEntry& entry : all_formats())
    if (!entry.needs_device) formats.push_back({entry.name, entry.name});
  better.insert(better.end(), formats.begin(), formats.end());
  options_.choice<std::string>("backend", backend_, backends,
                               "device that computes; auto takes a GPU where one answers");
  options_.choice<std::string>("kernel", first_, formats, "format to begin with (docs/formats.md)");
  options_.choice<std::string>(
      "prepare", better_, better,
      "format that a thread prepares meanwhile; products go on in it once it is there");
  options_.flag("no-overlap", no_overlap_,
                "prepare before the first step: then every run on a CPU has the same bits");
  options_.group("Output");
  options_.text("output", "FILE", output_, "x, one number a line; - is standard output").letter = 'o';
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

/// Wall times of the steps, from which it is told what the change of format gained.
class StepTimer {
 public:
  void step() {
    const auto now = Clock::now();
    seconds_.push_back(std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }
  /// Median of the steps [begin, end); NaN (null in JSON) where there are none.
  double median(std::size_t begin, std::size_t end) const {
    std::vector<double> part(seconds_.begin() + static_cast<std::ptrdiff_t>(std::min(begin, seconds_.size())),
                             seconds_.begin() + static_cast<std::ptrdiff_t>(std::min(end, seconds_.size())));
    if (part.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2), part.end());
    return part[part.size() / 2];
  }
  std::size_t size() const { return seconds_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
  std::vector<double> seconds_;
};

template <class S>
nlohmann::ordered_json formats_json(const OverlappedProduct<S>& product, const StepTimer& timer,
                                    const std::string& first, const std::string& better) {
  nlohmann::ordered_json json = {{"first", first}, {"prepared", better}};
  if (better.empty()) json["prepared"] = nullptr;
  const std::int64_t switched = product.switched_after();
  const std::size_t steps_before = switched < 0 ? timer.size() : static_cast<std::size_t>(switched);
  const double before = timer.median(0, steps_before), after = timer.median(steps_before, timer.size());
  const std::size_t steps_after = timer.size() - std::min(timer.size(), steps_before);
  json["refused"] = product.refusal();
  json["prepare_seconds"] = product.prepare_seconds();
  json["switched_after_products"] = nullptr;
  if (switched >= 0) json["switched_after_products"] = switched;
  json["step_seconds_before"] = before;
  json["step_seconds_after"] = after;
  json["gained_seconds"] = static_cast<double>(steps_after) * (before - after);
  return json;
}

template <class S>
CgResult CgCommand::solve(const SparseMatrix& matrix, const std::vector<double>& b, Session& session) const {
  const auto backend = make_backend<S>(backend_);
  session.report()["backend"] = {{"name", backend->name()},
                                 {"description", backend->description()},
                                 {"precision", sizeof(S) == 4 ? "f32" : "f64"}};
  const std::vector<double> diagonal = inverse_diagonal(matrix);
  std::optional<OverlappedProduct<S>> product;
  session.timed("pack", [&] {
    product.emplace(matrix.view(), first_, better_, *backend);
    if (no_overlap_) product->finish_preparing();
  });
  StepTimer timer;
  CgOptions options;
  options.tolerance = tolerance_;
  options.max_iterations = max_iterations_;
  options.inverse_diagonal = diagonal;
  options.observer = [&](const CgProgress& progress) {
    timer.step();
    session.progress().phase(
        fmt::format("step {}, residual {:.2g}", progress.iteration, progress.relative_residual));
    return !stop_requested();
  };
  CgResult result = session.timed("iterate", [&] {
    return conjugate_gradients<S>([&](const Buffer<S>& p, Buffer<S>& q) { product->multiply(p, q); }, b,
                                  options, *backend);
  });
  product->finish_preparing();
  session.report()["formats"] = formats_json(*product, timer, first_, better_);
  return result;
}

int CgCommand::finish(const CgResult& result, const SparseMatrix& matrix, Session& session) const {
  session.progress().done();
  session.report()["cg"] = {{"iterations", result.iterations},
                            {"converged", result.converged},
                            {"interrupted", result.interrupted},
                            {"relative_residual", result.relative_residual},
                            {"residual_history", result.residual_history}};
  if (result.interrupted) throw Error(ErrorCategory::interrupted, "interrupted while iterating");
  session.timed("write", [&] {
    const WritingScope writing;
    write_numbers(output_, result.x);
  });
  log_info(fmt::format("{} rows, {} entries, {} steps, |b - A x| / |b| = {:.3g}", matrix.num_rows,
                       matrix.num_nonzeros(), result.iterations, result.relative_residual));
  if (!result.converged)
    log_warning(
        fmt::format("not converged: after {} steps the residual {:.3g} is above the tolerance {}; raise "
                    "--max-iterations or --tolerance, or try --preconditioner jacobi{}",
                    result.iterations, result.relative_residual, tolerance_,
                    precision_ == Precision::f32 ? " or --precision f64" : ""));
  session.write_report();
  return result.converged ? kExitFine : kExitNotConverged;
}

int CgCommand::run(Session& session) {
  if (session.comm().size() > 1) throw OptionError("cg runs in one process; run it without mpirun");
  for (const std::string& path : {output_, general_.report})
    if (!path.empty() && path != "-") check_writable(path);
  const SparseMatrix matrix = load(session);
  session.report()["matrix"] = {{"rows", matrix.num_rows}, {"nonzeros", matrix.num_nonzeros()}};
  const std::vector<double> b = right_side_.empty() ? std::vector<double>(matrix.num_rows, 1.0)
                                                    : read_numbers(right_side_, matrix.num_rows);
  const CgResult result = with_precision(precision_, [&](auto zero) {
    try {
      return solve<decltype(zero)>(matrix, b, session);
    } catch (const InputError& error) {
      throw InputError(input_name(matrix_) + ": " + error.what());
    }
  });
  return finish(result, matrix, session);
}

}  // namespace

std::unique_ptr<Command> make_cg_command() { return std::make_unique<CgCommand>(); }

}  // namespace tessera::cli
