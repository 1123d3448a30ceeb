// Both directions of a pattern as devices make them, run in host memory (and on a device where one answers),
// against the graph that the host makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "kernels/devices.hpp"
#include "kernels/symmetric_rows.hpp"
#include "tests/support/host_builds.hpp"
#include "tests/support/sample_graph.hpp"

namespace tessera::test {
namespace {

using Build = std::function<std::optional<PatternRows>(std::uint64_t first_row, std::uint64_t num_rows)>;

/// All rows, and those of three ranks.
void expect_rows(const Build& build, const Graph& expected) {
  const std::uint64_t n = expected.num_vertices;
  for (const auto& [first, end] :
       {std::pair<std::uint64_t, std::uint64_t>{0, n}, {0, n / 3}, {n / 3, n}, {n, n}}) {
    const auto rows = build(first, end - first);
    ASSERT_TRUE(rows.has_value());
    const EdgeOffset before = expected.row_offsets[first];
    ASSERT_EQ(rows->row_offsets.size(), end - first + 1);
    for (std::uint64_t row = first; row <= end; ++row)
      ASSERT_EQ(rows->row_offsets[row - first], expected.row_offsets[row] - before) << row;
    EXPECT_TRUE(std::ranges::equal(
        rows->col_indices, expected.col_indices.span().subspan(before, expected.row_offsets[end] - before)));
  }
}

void check(const Graph& graph) {
  const auto comm = make_single_rank();
  const Graph expected = symmetrised(graph, Duplicates::merge, *comm);
  const CsrView<double> pattern = graph.in_edges();
  expect_rows([&](auto first, auto count) { return symmetric_rows_in_host_memory(pattern, first, count); },
              expected);
  if (num_devices() == 0) return;
  expect_rows([&](auto first, auto count) { return symmetrised_on_device(pattern, first, count); }, expected);
  const Graph by_device = symmetrised(graph, Duplicates::drop, *comm, true);
  EXPECT_TRUE(std::ranges::equal(by_device.col_indices, expected.col_indices));
  EXPECT_EQ(by_device.num_edges, expected.num_edges);
  EXPECT_EQ(by_device.num_local_rows, expected.num_local_rows);
  EXPECT_TRUE(by_device.is_symmetric && by_device.facts.undirected);
}

TEST(SymmetricRows, AreThoseOfTheHost) {
  check(sample_graph({{0, 1}, {1, 0}, {2, 2}, {3, 1}, {1, 5}, {5, 1}}, range_labels(8, 0), false));
  check(sample_graph({{0, 0}}, range_labels(1, 0), false));
  check(sample_graph({}, range_labels(3, 0), false));
  const auto comm = make_single_rank();
  check(build_graph(generate_edges({.scale = 12}, *comm), {}, *comm));
}

/// More than what goes to and from a device at a time.
TEST(SymmetricRows, AreThoseOfTheHostForManyEdgesOnADevice) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
  const auto comm = make_single_rank();
  check(build_graph(generate_edges({.scale = 19}, *comm), {}, *comm));
}

/// Weights are added and edges kept by the host, whether a device answers or not.
TEST(SymmetricRows, AreNotAskedOfADeviceThatCannotMakeThem) {
  const auto comm = make_single_rank();
  const Graph weighted = sample_graph({{0, 1}, {1, 0}, {2, 1}}, range_labels(3, 0), true);
  const Graph by_host = symmetrised(weighted, Duplicates::merge, *comm),
              asked = symmetrised(weighted, Duplicates::merge, *comm, true);
  ASSERT_EQ(by_host.weights.size(), 4u);
  EXPECT_TRUE(std::ranges::equal(asked.weights, by_host.weights));
  const Graph plain = sample_graph({{0, 1}, {1, 0}}, range_labels(2, 0), false);
  EXPECT_EQ(symmetrised(plain, Duplicates::keep, *comm, true).num_edges, 4u);
}

}  // namespace
}  // namespace tessera::test
