// Edges sorted on a device (kernels/cuda/edge_sort.cuh), where one answers, against the host's sort of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/edge_digits.hpp"
#include "kernels/cuda/graph_preparation.hpp"
#include "kernels/cuda/key_counts.cuh"
#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

struct Edges {
  std::uint64_t num_vertices;
  std::vector<VertexId> rows, cols;

  void add(std::uint64_t row, std::uint64_t col) {
    rows.push_back(static_cast<VertexId>(row));
    cols.push_back(static_cast<VertexId>(col));
  }
};

/// Rows begin where they do in the host's sort, and have its columns: ascending, each once, and counted.
void expect_sorted(const Edges& given) {
  std::vector<std::pair<VertexId, VertexId>> all;
  for (std::size_t e = 0; e < given.rows.size(); ++e) all.emplace_back(given.rows[e], given.cols[e]);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<EdgeOffset> offsets(given.num_vertices + 1, 0);
  std::vector<VertexId> cols;
  for (const auto& [row, col] : all) {
    ++offsets[row + 1];
    cols.push_back(col);
  }
  for (std::size_t row = 0; row < given.num_vertices; ++row) offsets[row + 1] += offsets[row];
  const auto rows_there = on_device<VertexId>(given.rows), cols_there = on_device<VertexId>(given.cols);
  const PatternCsr found =
      csr_on_device(given.num_vertices, given.rows.size(), rows_there.data(), cols_there.data());
  ASSERT_EQ(found.row_offsets.size(), offsets.size());
  ASSERT_EQ(found.col_indices.size(), cols.size());
  // Not EXPECT_EQ of vectors: what it says of millions of elements is too long.
  const Buffer<EdgeOffset> found_offsets = on_host(found.row_offsets);
  const Buffer<VertexId> found_cols = on_host(found.col_indices);
  EXPECT_TRUE(std::equal(offsets.begin(), offsets.end(), found_offsets.begin()));
  EXPECT_TRUE(std::equal(cols.begin(), cols.end(), found_cols.begin()));
  const KeyRanges ranges = KeyRanges::of(given.num_vertices);
  if (ranges.count == 0 || are_grouped(2 * given.rows.size(), ranges) ||
      !EdgeDigits::fit(given.num_vertices) || given.rows.empty()) {
    EXPECT_EQ(found.columns_in_ranges.size(), 0u);
    return;
  }
  std::vector<std::uint32_t> in_ranges(ranges.count);
  for (const VertexId col : cols) ++in_ranges[col >> ranges.shift];
  ASSERT_EQ(found.columns_in_ranges.size(), in_ranges.size());
  const Buffer<std::uint32_t> found_in_ranges = on_host(found.columns_in_ranges);
  EXPECT_TRUE(std::equal(in_ranges.begin(), in_ranges.end(), found_in_ranges.begin()));
}

class DeviceEdgeSort : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  }
  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_);
  }
  /// Small ids come more often.
  std::uint64_t low_below(std::uint64_t end) {
    const double u = std::uniform_real_distribution<>(0, 1)(random_);
    return static_cast<std::uint64_t>(u * u * u * static_cast<double>(end));
  }
  Edges uniform(std::uint64_t num_vertices, std::uint64_t num_edges) {
    Edges edges{num_vertices, {}, {}};
    for (std::uint64_t e = 0; e < num_edges; ++e) edges.add(below(num_vertices), below(num_vertices));
    return edges;
  }

  std::mt19937_64 random_{7};
};

TEST_F(DeviceEdgeSort, SortsGraphsOfAllSizes) {
  for (const std::uint64_t num_vertices : {1, 2, 3, 255, 256, 257, 5000, 65536, 1000003})
    for (const std::uint64_t num_edges : {1, 31, 33, 8191, 8192, 8193, 100000}) {
      SCOPED_TRACE(std::to_string(num_vertices) + " vertices, " + std::to_string(num_edges) + " edges");
      expect_sorted(uniform(num_vertices, num_edges));
    }
}

TEST_F(DeviceEdgeSort, SortsNoEdges) { expect_sorted({5, {}, {}}); }

/// A few vertices have most edges, and they lie beside each other: buckets of very different sizes, some of
/// them large, others empty.
TEST_F(DeviceEdgeSort, SortsBucketsOfAllSizes) {
  for (const std::uint64_t num_vertices : {3000u, 300000u, 1u << 20, (1u << 25) + 3}) {
    Edges edges{num_vertices, {}, {}};
    for (int e = 0; e < 1000000; ++e) edges.add(low_below(num_vertices), low_below(num_vertices));
    SCOPED_TRACE(num_vertices);
    expect_sorted(edges);
  }
}

/// One row has most elements, so that its bucket is cut by columns, as often as columns have digits.
TEST_F(DeviceEdgeSort, SortsRowsOfManyElements) {
  for (const std::uint64_t num_vertices : {100000u, 1u << 24, 1u << 26}) {
    Edges edges = uniform(num_vertices, 50000);
    for (int e = 0; e < 300000; ++e) edges.add(num_vertices / 3, below(num_vertices));
    for (int e = 0; e < 300000; ++e) edges.add(num_vertices / 3 + 1, num_vertices - 1 - below(20000));
    SCOPED_TRACE(num_vertices);
    expect_sorted(edges);
  }
}

/// Columns of a row lie close together: they share bins, in some ranges too many for comparisons.
TEST_F(DeviceEdgeSort, SortsColumnsThatLieTogether) {
  const std::uint64_t num_vertices = 1 << 22;
  for (const std::uint64_t width : {2, 8, 60, 700, 3000}) {
    Edges edges{num_vertices, {}, {}};
    for (int e = 0; e < 400000; ++e) {
      const std::uint64_t row = below(300) * 997;
      edges.add(row, (row * 13 + below(width)) % num_vertices);
    }
    SCOPED_TRACE(width);
    expect_sorted(edges);
  }
}

/// More of the same edge than a block sorts, beside some that are there a few times, and the largest of all.
TEST_F(DeviceEdgeSort, DropsEdgesThatAreRepeated) {
  for (const std::uint64_t num_vertices : {1u, 1000u, 1u << 24}) {
    Edges edges{num_vertices, {}, {}};
    for (int e = 0; e < 100000; ++e) edges.add(num_vertices / 2, num_vertices / 3);
    for (int e = 0; e < 30000; ++e) edges.add(num_vertices - 1, num_vertices - 1);
    for (int e = 0; e < 100000; ++e)
      edges.add(below(num_vertices), below(std::min<std::uint64_t>(num_vertices, 5)));
    for (std::size_t e = 0; e < 50000; ++e) edges.add(edges.rows[e * 3], edges.cols[e * 3]);
    SCOPED_TRACE(num_vertices);
    expect_sorted(edges);
  }
}

/// None is repeated, so that none may be dropped.
TEST_F(DeviceEdgeSort, SortsEdgesThatAreThereOnce) {
  Edges edges{70000, {}, {}};
  for (std::uint64_t e = 0; e < 500000; ++e) edges.add(e * 7919 % 70000, e / 70000 * 11 + e % 11);
  expect_sorted(edges);
}

/// More chunks than one in each segment, and bins of every digit.
TEST_F(DeviceEdgeSort, SortsManyEdges) {
  Edges edges = uniform(1 << 22, 6000000);
  for (std::size_t e = 0; e < edges.rows.size(); e += 3)
    edges.rows[e] = static_cast<VertexId>(low_below(1 << 22));
  expect_sorted(edges);
}

/// Ids that the digits do not fit are sorted as in host memory.
TEST_F(DeviceEdgeSort, TakesIdsOfMoreBits) { expect_sorted(uniform((std::uint64_t{1} << 26) + 1, 100000)); }

}  // namespace
}  // namespace tessera::cuda
