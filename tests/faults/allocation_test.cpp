// The n-th allocation fails, for every n: building a graph or a matrix and multiplying with it must end with
// an exception that the caller can catch, whichever thread was asking for memory. A program of its own,
// because it replaces operator new.
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/row_pieces.hpp"
#include "engine/spmv_operator.hpp"
#include "kernels/base/error.hpp"
#include "tests/engine/graph_cases.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/sample_graph.hpp"

namespace {
/// How many more allocations succeed before one fails; negative: all do.
std::atomic<std::int64_t> allocations_left{-1};
}  // namespace

// Not inlined, or the compiler takes malloc and delete for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tessera::test {
namespace {

/// Runs `work` with the first, second, ... allocation failing, until all succeed; gives how many runs ended
/// with an error. A run may also do without the memory: then its result must be that of a run with it.
template <class Work>
int failures_of_each_allocation(const Work& work) {
  const auto expected = work();
  int failures = 0;
  for (int n = 0;; ++n) {
    allocations_left = n;
    try {
      const auto result = work();
      const bool all_succeeded = allocations_left.exchange(-1) >= 0;
      EXPECT_EQ(result, expected) << "allocation " << n << " failed and nobody noticed";
      if (all_succeeded) return failures;
    } catch (const std::bad_alloc&) {
      ++failures;
    } catch (const ResourceError&) {
      ++failures;
    }
  }
}

class EachAllocationFails : public testing::TestWithParam<int> {
 protected:
  EachAllocationFails() : threads_(omp_get_max_threads()) { omp_set_num_threads(GetParam()); }
  ~EachAllocationFails() override { omp_set_num_threads(threads_); }

 private:
  int threads_;
};

TEST_P(EachAllocationFails, WhenRowsAreCut) {
  const RandomMatrix a = random_matrix(1, 60, 50, 4, true);
  const std::vector<VertexId> rows = {0, 5, 17, 59, 33};
  const ColumnOrder columns = order_columns_by_length(a.column_lengths(), 8, 2);
  const auto work = [&] {
    const auto cut = cut_rows<float>(a.view(), rows, columns);
    return std::vector<float>(cut.values32.begin(), cut.values32.end());
  };
  EXPECT_GT(failures_of_each_allocation(work), 10);
}

/// A product with what `make` makes.
template <class Make>
std::vector<double> product(const Make& make) {
  SpmvOperator<double> op = make();
  Buffer<double> x = op.make_x(), y = op.make_y();
  std::fill(x.begin(), x.end(), 0.5);
  op.apply(x, y);
  return {y.begin(), y.end()};
}

TEST_P(EachAllocationFails, WhenAnOperatorIsBuiltAndApplied) {
  const Graph graph = random_graph(range_labels(150, 0), 900, true, 3);
  const auto comm = make_single_rank();
  const auto backend = make_backend<double>("cpu");
  for (const KernelKind kernel : {KernelKind::tile_composite, KernelKind::csr}) {
    const OperatorOptions options{.kernel = kernel};
    const auto make = [&] { return SpmvOperator<double>::in_edges(graph, options, *backend, *comm); };
    EXPECT_GT(failures_of_each_allocation([&] { return product(make); }), 20);
  }
}

TEST_P(EachAllocationFails, WhenTheBlockMatrixIsBuilt) {
  const Graph graph = random_graph(range_labels(80, 0), 500, false, 4);
  const auto comm = make_single_rank();
  const auto backend = make_backend<double>("cpu");
  const OperatorOptions options{.kernel = KernelKind::tile_composite};
  const auto make = [&] { return SpmvOperator<double>::hits_block(graph, options, *backend, *comm); };
  EXPECT_GT(failures_of_each_allocation([&] { return product(make); }), 20);
}

TEST_P(EachAllocationFails, WhenAGraphIsBuilt) {
  const auto comm = make_single_rank();
  for (const LabelKind kind : {LabelKind::integer, LabelKind::string, LabelKind::range})
    for (const bool weighted : {false, true}) {
      Case file{.kind = kind, .weighted = weighted, .declared_vertices = 40, .edges = {}};
      for (int e = 0; e < 300; ++e)
        file.edges.push_back({std::to_string(1 + 7 * e % 40), std::to_string(1 + e * e % 37), 1.0 + e});
      const auto columns = [&] {
        const Graph graph = build_graph(parsed_share(file, *comm, 50), options_of(file), *comm);
        return std::vector<VertexId>(graph.col_indices.begin(), graph.col_indices.end());
      };
      EXPECT_GT(failures_of_each_allocation(columns), 10);
    }
}

INSTANTIATE_TEST_SUITE_P(Threads, EachAllocationFails, testing::Values(1, 3));

}  // namespace
}  // namespace tessera::test
