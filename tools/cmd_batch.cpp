// tessera batch
#include "engine/matrix_batch.hpp"
#include "kernels/formats/batch_registry.hpp"
#include "tools/all_commands.hpp"
#include "tools/comparison_command.hpp"
#include "tools/graph_input.hpp"
#include "tools/memory.hpp"

namespace tessera::cli {
namespace {

std::vector<std::string> names_of_forms(bool on_device) {
  std::vector<std::string> names;
  for (const BatchEntry& entry : all_batch_forms())
    if (on_device || !entry.needs_device) names.push_back(entry.name);
  return names;
}

class BatchCommand : public ComparisonCommand {
 public:
  BatchCommand();
  void check_options() const override;
  int run(Session& session) override;

 private:
  NamedPaths inputs() const override;
  std::vector<SparseMatrix> load(Session& session) const;

  std::vector<std::string> files_;
  std::string suite_;
  std::uint64_t copies_ = 1;
};

BatchCommand::BatchCommand()
    : ComparisonCommand(
          "batch",
          "Multiplies many small matrices at once, checks and times each kernel.\n"
          "FILE: Matrix Market files; x and y are theirs one after the other.",
          {"tessera batch a.mtx b.mtx --copies 1000", "tessera batch --suite small --copies 100"},
          names_of_forms, false) {
  Option& files = options_.texts("file", "FILE", files_, "a matrix of the batch");
  files.positional = true;
  files.placeholder = "[FILE...]";
  options_.group("Batch");
  options_.choice<std::string>("suite", suite_, {{"none", ""}, {"small", "small"}},
                               "generated matrices of 32 to 1024 rows instead of files");
  options_.count("copies", copies_, 1, 10000000, "the whole list so many times");
  add_comparison_options();
  add_general_options(false);
}

NamedPaths BatchCommand::inputs() const {
  NamedPaths paths;
  for (const std::string& file : files_) paths.emplace_back("FILE", file);
  return paths;
}

void BatchCommand::check_options() const {
  check_one_stdin(inputs());
  if (files_.empty() == suite_.empty())
    throw OptionError("batch: expected FILE... or --suite, one of the two");
  ComparisonCommand::check_options();
}

std::vector<SparseMatrix> BatchCommand::load(Session& session) const {
  std::vector<SparseMatrix> matrices;
  session.timed("read", [&] {
    for (const std::string& file : files_) matrices.push_back(read_matrix(file));
    if (suite_ == "small")
      for (NamedMatrix& named : small_suite()) matrices.push_back(std::move(named.matrix));
  });
  return matrices;
}

int BatchCommand::run(Session& session) {
  prepare(session);
  const std::vector<SparseMatrix> matrices = load(session);
  std::uint64_t num_nonzeros = 0, num_rows = 0, num_cols = 0;
  for (const SparseMatrix& matrix : matrices) {
    num_nonzeros += matrix.num_nonzeros();
    num_rows += matrix.num_rows;
    num_cols += matrix.num_cols;
  }
  // The whole batch as one matrix, to check with, a batch of it, and objects of the loops.
  const std::uint64_t one =
      checked_add(checked_add(checked_mul(40, num_nonzeros), checked_mul(128, num_rows)),
                  checked_add(checked_mul(40, num_cols), checked_mul(1024, matrices.size())));
  check_memory(checked_mul(copies_, one), "comparing", "fewer --copies or smaller matrices", session.comm());
  const std::vector<CsrView<double>> views = repeated_views(matrices, copies_);
  const SparseMatrix all = block_diagonal(views);
  session.report()["batch"] = {{"matrices", views.size()},
                               {"rows", all.num_rows},
                               {"columns", all.num_cols},
                               {"nonzeros", all.num_nonzeros()}};
  const std::string title = fmt::format(
      "batch of {} matrices ({})", views.size(),
      suite_.empty() ? fmt::format("{} files from {} on", files_.size(), input_name(files_.front()))
                     : "suite " + suite_);
  return compare(session, all, title, [&]<class S>(const std::string& name, Backend<S>& backend) {
    for (const BatchEntry& entry : all_batch_forms())
      if (name == entry.name)
        return with_vectors<S>(make_batch<S>(entry, views, !backend.memory_is_host()), all.num_rows,
                               all.num_cols, backend);
    throw InternalError("a batch without this kernel");
  });
}

}  // namespace

std::unique_ptr<Command> make_batch_command() { return std::make_unique<BatchCommand>(); }

}  // namespace tessera::cli
