#include "algorithms/hits_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(HitsNorm, ColumnSumsAreThoseOfTheTransposedMatrix) {
  const Graph graph = graph_of({4, {{0, 1, 3}, {0, 2, 4}, {3, 2, 0.5}}}, true);
  const auto comm = make_single_rank();
  const auto backend = make_backend<double>("cpu");
  auto op = SpmvOperator<double>::in_edges(graph, {.kernel = KernelKind::csr}, *backend, *comm);
  Buffer<double> x = op.make_x(), y = op.make_y();
  const ColumnSums<double> columns = column_sums(op, x, y);
  EXPECT_EQ(columns.unit, 8);  // above 4.5
  const double in_weights[] = {0, 3, 4.5, 0};
  ASSERT_EQ(columns.sums.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(columns.sums[i] * 8, in_weights[op.local_rows()[i]]) << i;
  // A term of 2^-76 lost is 2^-44 of this.
  EXPECT_EQ(columns.least_norm(4), 8 * 4 * 0x1p-32);
}

template <class S>
bool sums_are_known(const OracleGraph& graph, KernelKind kernel = KernelKind::csr) {
  const auto comm = make_single_rank();
  const auto backend = make_backend<S>("cpu");
  auto op = SpmvOperator<S>::in_edges(graph_of(graph, true), {.kernel = kernel}, *backend, *comm);
  Buffer<S> x = op.make_x();
  Buffer<double> y = op.make_y();
  const ColumnSums<S> columns = column_sums(op, x, y);
  EXPECT_EQ(columns.sums.empty(), !columns.are_known());
  EXPECT_EQ(std::isinf(columns.least_norm(1)), !columns.are_known());
  return columns.are_known();
}

TEST(HitsNorm, ColumnSumsThatLeaveTheNumbersAreNotUsed) {
  EXPECT_TRUE(sums_are_known<double>({4, {{0, 1, 1}, {0, 2, 0x1p-90}}}));
  EXPECT_TRUE(sums_are_known<double>({2, {{0, 1, 1e-130}}}));
  EXPECT_FALSE(sums_are_known<double>({2, {{0, 1, 5e-132}}}));
  EXPECT_TRUE(sums_are_known<double>({2, {{0, 1, 4e149}}}));
  EXPECT_FALSE(sums_are_known<double>({2, {{0, 1, 6e149}}}));
  EXPECT_FALSE(sums_are_known<double>({2, {}}));
  // Messages are f32, and scores of the block form are up to 2.
  EXPECT_TRUE(sums_are_known<float>({2, {{0, 1, 1e38}}}, KernelKind::tile_messages));
  EXPECT_FALSE(sums_are_known<float>({2, {{0, 1, 2e38}}}, KernelKind::tile_messages));
}

}  // namespace
}  // namespace tessera::test
