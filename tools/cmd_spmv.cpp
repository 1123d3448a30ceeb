// tessera spmv
#include "engine/format_choice.hpp"
#include "engine/io/input_file.hpp"
#include "kernels/formats/packet.hpp"
#include "tools/all_commands.hpp"
#include "tools/comparison_command.hpp"
#include "tools/graph_input.hpp"
#include "tools/memory.hpp"

namespace tessera::cli {
namespace {

std::vector<std::string> names_of_forms(bool on_device) {
  std::vector<std::string> names;
  for (const ProductForm& form : product_forms(on_device)) names.push_back(form.name);
  return names;
}

class SpmvCommand : public ComparisonCommand {
 public:
  SpmvCommand();
  int run(Session& session) override;

 private:
  NamedPaths inputs() const override { return {{"MATRIX", matrix_}}; }
  std::string matrix_;
};

SpmvCommand::SpmvCommand()
    : ComparisonCommand(
          "spmv",
          "Multiplies a matrix with a vector in every sparse format, checks each product and times it.\n"
          "MATRIX: a Matrix Market file of any shape, or a graph (the matrix of its in-edges).",
          {"tessera spmv matrix.mtx", "tessera spmv matrix.mtx --kernel auto",
           "tessera spmv matrix.mtx --kernel csr-vector,ell --plot times.svg"},
          names_of_forms, true) {
  options_.positional("matrix", matrix_, "Matrix Market file, or a graph").placeholder = "MATRIX";
  add_comparison_options();
  add_general_options(false);
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

/// METIS builds graphs of its own, in a process that would be ended without a word where memory is short.
void check_packet_memory(const CsrView<double>& matrix) {
  constexpr std::uint64_t kBytesANonzero = 110;  // seen: 107, unsymmetric
  const std::uint64_t needed = checked_mul(kBytesANonzero, matrix.num_nonzeros());
  if (matrix.num_rows > kPacketRows<double> && needed > available_memory_bytes())
    throw ResourceError(fmt::format("packet: cutting the graph needs about {} bytes, {} are available",
                                    needed, available_memory_bytes()));
}

int SpmvCommand::run(Session& session) {
  prepare(session);
  const SparseMatrix matrix = load_matrix(matrix_, session);
  session.report()["matrix"] = {{"rows", matrix.num_rows},
                                {"columns", matrix.num_cols},
                                {"nonzeros", matrix.num_nonzeros()},
                                {"pattern", matrix.pattern}};
  // A padded format is built beside the matrix.
  check_memory(checked_add(checked_mul(48, matrix.num_nonzeros()), checked_mul(64, matrix.num_rows)),
               "comparing", "a machine with more memory or a smaller matrix", session.comm());
  const CsrView<double> view = matrix.product_view();
  return compare(
      session, matrix, input_name(matrix_),
      [&]<class S>(const std::string& name, Backend<S>& backend) {
        if (name == "packet") check_packet_memory(view);
        return make_product<S>(name, view, backend);
      },
      [&](bool on_device) { return likely_forms(matrix_facts(view), on_device); });
}

}  // namespace

std::unique_ptr<Command> make_spmv_command() { return std::make_unique<SpmvCommand>(); }

}  // namespace tessera::cli
