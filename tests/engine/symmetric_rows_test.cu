// Both directions of a pattern as devices make them, run in host memory (and on a device where one answers),
// against the graph that the host makes.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "kernels/devices.hpp"
#include "kernels/symmetric_rows.hpp"
#include "tests/support/host_builds.hpp"
#include "tests/support/sample_graph.hpp"

namespace tessera::test {
namespace {

void expect_rows(const PatternRows& rows, const Graph& expected) {
  EXPECT_TRUE(std::ranges::equal(rows.row_offsets, expected.row_offsets));
  EXPECT_TRUE(std::ranges::equal(rows.col_indices, expected.col_indices));
}

void check(const Graph& graph) {
  const auto comm = make_single_rank();
  const Graph expected = symmetrised(graph, Duplicates::merge, *comm);
  expect_rows(symmetric_rows_in_host_memory(graph.in_edges()), expected);
  if (num_devices() == 0) return;
  const auto rows = symmetrised_on_device(graph.in_edges());
  ASSERT_TRUE(rows.has_value());
  expect_rows(*rows, expected);
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
