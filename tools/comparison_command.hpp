// What spmv and batch share: options of a comparison of products, running it, table, report and chart.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/io/matrix_reader.hpp"
#include "engine/product_comparison.hpp"
#include "tools/command.hpp"
#include "tools/output_paths.hpp"
#include "tools/precision.hpp"

namespace tessera::cli {

class ComparisonCommand : public Command {
 public:
  void check_options() const override;

 protected:
  /// Names of the forms that there are on a device, or on the host.
  using NamesOf = std::vector<std::string> (*)(bool on_device);
  /// The names that "auto" tries.
  using Candidates = std::function<std::vector<std::string>(bool on_device)>;
  ComparisonCommand(std::string name, std::string summary, std::vector<std::string> examples,
                    NamesOf names_of, bool can_choose)
      : Command(std::move(name), std::move(summary), std::move(examples)),
        names_of_(names_of),
        can_choose_(can_choose) {}

  void add_comparison_options();
  /// Checks that the outputs can be written. Throws OptionError under mpirun.
  void prepare(Session& session) const;
  /// Compares products with `matrix`, which the user calls `title`, and writes what was found; the exit code.
  /// make(name, backend): the product of that name. `candidates`: where the command can choose.
  template <class Make>
  int compare(Session& session, const SparseMatrix& matrix, const std::string& title, const Make& make,
              const Candidates& candidates = nullptr);

 private:
  static constexpr int kMostSeconds = 2;  // for one form: a thread that sums a row of 200,000 takes long

  bool has_to_choose() const;
  /// Takes the fastest of the forms that a trial has measured for "auto", and reports it.
  void choose(std::span<const ProductMeasurement> tried, Session& session);
  /// What is to be compared.
  std::vector<std::string> names(bool on_device) const;
  /// Files that are read.
  virtual NamedPaths inputs() const = 0;
  NamedPaths outputs() const override { return {{"--plot", plot_}, {"--report", general_.report}}; }
  std::function<void(const std::string& name)> progress(const std::string& doing, Session& session) const;
  std::vector<std::string> known_names() const;
  void say_choice(Session& session, std::span<const ProductMeasurement> results) const;
  int finish(Session& session, std::span<const ProductMeasurement> results, const SparseMatrix& matrix,
             const std::string& title);
  void note_wrong(std::span<const ProductMeasurement> results);

  NamesOf names_of_;
  bool can_choose_;
  std::vector<std::string> kernels_;  // empty: all
  std::string chosen_;                // by "auto"; empty: not asked for
  std::string wrong_;                 // the first product that was, in a trial or after it
  std::string backend_ = "auto", plot_;
  Precision precision_ = Precision::f64;
  int repeat_ = 500;
};

template <class Make>
int ComparisonCommand::compare(Session& session, const SparseMatrix& matrix, const std::string& title,
                               const Make& make, const Candidates& candidates) {
  const CsrView<double> view = matrix.product_view();
  const auto results = with_precision(precision_, [&](auto zero) {
    using S = decltype(zero);
    const auto backend = make_backend<S>(backend_);
    const bool on_device = !backend->memory_is_host();
    session.report()["backend"] = {{"name", backend->name()},
                                   {"description", backend->description()},
                                   {"precision", sizeof(S) == 4 ? "f32" : "f64"}};
    const auto comparison = session.timed("check", [&] {
      try {
        return ProductComparison<S>(view);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", title, error.what()));
      }
    });
    const auto run = [&](const std::vector<std::string>& names, const ComparisonOptions& options) {
      return comparison.measure(
          names, [&](const std::string& name) { return make(name, *backend); }, *backend, options);
    };
    if (has_to_choose())
      session.timed("choose", [&] {
        choose(run(candidates(on_device), trial_options(progress("trying", session))), session);
      });
    return session.timed("measure", [&] {
      return run(
          names(on_device),
          {.repeat = repeat_, .most_seconds = kMostSeconds, .progress = progress("measuring", session)});
    });
  });
  return finish(session, results, matrix, title);
}

}  // namespace tessera::cli
