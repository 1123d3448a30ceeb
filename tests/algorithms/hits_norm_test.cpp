#include "algorithms/hits_norm.hpp"

#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/algorithms/ranking_cases.hpp"

namespace tessera::test {
namespace {

TEST(HitsNorm, DoesNotDependOnTheProductBefore) {
  const Graph graph = graph_of({3, {{0, 1}, {1, 2}, {2, 0}}}, false);
  const auto comm = make_single_rank();
  const auto backend = make_backend<double>("cpu");
  const auto op = SpmvOperator<double>::in_edges(graph, {.kernel = KernelKind::csr}, *backend, *comm);
  Buffer<double> y = op.make_y();
  const double values[] = {3e-5, 4e-5, 1.2e-4};
  std::copy_n(values, 3, y.data());
  for (const auto& [norm, size] : {std::pair(ScoreNorm::sum, 1.9e-4), std::pair(ScoreNorm::max, 1.2e-4),
                                   std::pair(ScoreNorm::l2, 1.3e-4)})
    for (const double before : {0.0, 1.2e-4, 0.7e-4, 2.3e-4, 5e-5, 3e-4, 1e-100, 1e-140, 1e100, 1e140}) {
      double largest = before;
      EXPECT_NEAR(norm_factor(op, y, norm, largest) * size, 1, 1e-15) << before;
      EXPECT_EQ(largest, 1.2e-4);
    }
}

TEST(HitsNorm, OfTheLargestThatCanBeSquared) {
  const Graph graph = graph_of({2, {{0, 1}}}, false);
  const auto comm = make_single_rank();
  const auto backend = make_backend<double>("cpu");
  const auto op = SpmvOperator<double>::in_edges(graph, {.kernel = KernelKind::csr}, *backend, *comm);
  Buffer<double> y = op.make_y();
  for (const double value : {5.7e149, 9e149, 1e150, 1e-150})
    for (const double before : {value, value / 1.9, 1e150, 1e-150}) {
      y.data()[0] = value;
      double largest = before;
      EXPECT_NEAR(norm_factor(op, y, ScoreNorm::l2, largest) * value, 1, 1e-15) << value << ' ' << before;
    }
}

TEST(HitsNorm, OfZerosIsZeroAndOfWhatCannotBeSquaredAnError) {
  const Graph graph = graph_of({2, {{0, 1}}}, false);
  const auto comm = make_single_rank();
  const auto backend = make_backend<double>("cpu");
  const auto op = SpmvOperator<double>::in_edges(graph, {.kernel = KernelKind::csr}, *backend, *comm);
  Buffer<double> y = op.make_y();
  double largest = 1;
  EXPECT_EQ(norm_factor(op, y, ScoreNorm::l2, largest), 0);
  EXPECT_EQ(largest, 0);
  for (const double value : {1e200, 1e-200}) {
    y.data()[0] = value;
    EXPECT_THROW(norm_factor(op, y, ScoreNorm::l2, largest), InputError) << value;
  }
}

}  // namespace
}  // namespace tessera::test
