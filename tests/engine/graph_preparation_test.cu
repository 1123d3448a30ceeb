// What a device makes of edges, run in host memory (and on a device where one answers), against what the host
// makes of them: the order of vertices, and every byte of the matrix.
#include "kernels/cuda/graph_preparation.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "engine/column_order.hpp"
#include "engine/tile_messages_builder.hpp"
#include "engine/vertex_distribution.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/devices.hpp"
#include "tests/support/host_builds.hpp"
#include "tests/support/same_messages.hpp"

namespace tessera {
namespace {

using cuda::PatternCsr;
using cuda::PreparationOptions;
using cuda::PreparedMessages;
using test::expect_same;
using test::host_copy;

struct Edges {
  std::uint64_t num_vertices;
  std::vector<VertexId> rows, cols;
};

/// Few vertices have most edges; some edges are there twice, some vertices have none.
Edges random_edges(unsigned seed, std::uint64_t num_vertices, std::uint64_t num_edges) {
  std::mt19937 random(seed);
  const auto vertex = [&] {
    const double u = std::uniform_real_distribution<>(0, 1)(random);
    return static_cast<VertexId>(u * u * u * static_cast<double>(num_vertices)) * 7919u % num_vertices;
  };
  Edges edges{num_vertices, {}, {}};
  for (std::uint64_t e = 0; e < num_edges; ++e) {
    edges.rows.push_back(static_cast<VertexId>(vertex()));
    edges.cols.push_back(static_cast<VertexId>(vertex()));
  }
  return edges;
}

struct HostCsr {
  std::vector<EdgeOffset> row_offsets;
  std::vector<VertexId> col_indices;
};
HostCsr sorted(const Edges& edges) {
  std::set<std::pair<VertexId, VertexId>> all;
  for (std::size_t e = 0; e < edges.rows.size(); ++e) all.insert({edges.rows[e], edges.cols[e]});
  HostCsr csr{std::vector<EdgeOffset>(edges.num_vertices + 1, 0), {}};
  for (const auto& [row, col] : all) {
    ++csr.row_offsets[row + 1];
    csr.col_indices.push_back(col);
  }
  std::partial_sum(csr.row_offsets.begin(), csr.row_offsets.end(), csr.row_offsets.begin());
  return csr;
}

template <class S>
struct Expected {
  ColumnOrder columns;
  Buffer<VertexId> rows;
  TileMessages<S> matrix;
};
template <class S>
Expected<S> build_on_host(const Edges& edges, const HostCsr& csr, const PreparationOptions& options) {
  std::vector<std::uint64_t> row_lengths(edges.num_vertices), column_lengths(edges.num_vertices, 0);
  for (std::size_t row = 0; row < row_lengths.size(); ++row)
    row_lengths[row] = csr.row_offsets[row + 1] - csr.row_offsets[row];
  for (const VertexId col : csr.col_indices) ++column_lengths[col];
  Expected<S> expected;
  expected.columns = options.by_length ? order_columns_by_length(column_lengths, options.tile_columns, ~0u,
                                                                 Remainder::narrow)
                                       : order_columns_as_given(column_lengths, options.tile_columns);
  expected.rows = distribute_vertices(row_lengths, expected.columns, 1).vertices;
  const CsrView<double> view{edges.num_vertices, edges.num_vertices, csr.row_offsets.data(),
                             csr.col_indices.data(), nullptr};
  expected.matrix = build_tile_messages<S>(view, expected.rows, expected.columns, options.bins);
  return expected;
}

void expect_same_csr(const PatternCsr& found, const HostCsr& expected, bool on_device) {
  EXPECT_EQ(host_copy(found.row_offsets, on_device), expected.row_offsets);
  EXPECT_EQ(host_copy(found.col_indices, on_device), expected.col_indices);
}

template <class S>
void expect_same_graph(const PreparedMessages<S>& found, const Expected<S>& expected, bool on_device) {
  EXPECT_EQ(host_copy(found.rows, on_device), host_copy(expected.rows, false));
  EXPECT_EQ(host_copy(found.slot_of_column, on_device), host_copy(expected.columns.slot_of_column, false));
  expect_same(found.matrix, expected.matrix, on_device);
}

template <class S>
void check(const Edges& edges, const PreparationOptions& options) {
  const HostCsr csr = sorted(edges);
  const Expected<S> expected = build_on_host<S>(edges, csr, options);
  {
    const PatternCsr found =
        test::csr_in_host_memory(edges.num_vertices, edges.rows.size(), edges.rows.data(), edges.cols.data());
    expect_same_csr(found, csr, false);
    expect_same_graph(test::prepare_in_host_memory<S>(found, options), expected, false);
  }
  if (num_devices() == 0) return;
  const auto rows = cuda::on_device<VertexId>(edges.rows), cols = cuda::on_device<VertexId>(edges.cols);
  const PatternCsr found =
      cuda::csr_on_device(edges.num_vertices, edges.rows.size(), rows.data(), cols.data());
  expect_same_csr(found, csr, true);
  expect_same_graph(cuda::prepare_on_device<S>(found, options), expected, true);
}

TEST(GraphPreparation, GivesTheBytesOfTheHost) {
  for (const bool by_length : {true, false})
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const BinLimits bins{.most_messages = 300, .at_once = 6, .least_messages = 20};
      check<float>(random_edges(seed, 1000, 9000), {by_length, 100, bins});
      check<double>(random_edges(seed, 777, 20000), {by_length, 64, bins});
      check<float>(random_edges(seed, 5000, 3000), {by_length, 5000, bins});
      check<float>(random_edges(seed, 4000, 60000), {by_length, 65535, {.most_messages = 30000}});
    }
}

/// Room for messages is asked for before they are counted: one for four elements.
TEST(GraphPreparation, TakesMessagesThatHaveRoomAndMore) {
  constexpr VertexId kVertices = 400;
  for (const VertexId elements : {1u, 3u, 4u, 5u}) {  // of a message, and columns of a tile
    SCOPED_TRACE(elements);
    Edges edges{kVertices, {}, {}};
    for (VertexId row = 0; row < kVertices; ++row)
      for (VertexId tile = row % 3; tile < kVertices / elements; tile += 3)
        for (VertexId k = 0; k < elements; ++k) {
          edges.rows.push_back(row);
          edges.cols.push_back(tile * elements + k);
        }
    const PreparationOptions options{
        false, elements, {.most_messages = 300, .at_once = 6, .least_messages = 20}};
    const PatternCsr csr =
        test::csr_in_host_memory(kVertices, edges.rows.size(), edges.rows.data(), edges.cols.data());
    EXPECT_EQ(test::prepare_in_host_memory<float>(csr, options).matrix.stats.num_row_pieces,
              edges.rows.size() / elements);
    check<float>(edges, options);
  }
}

TEST(GraphPreparation, TakesRowsOfManyMessagesAndBlocksOfManyRows) {
  Edges star = random_edges(1, 30000, 50000);
  for (VertexId v = 0; v < 30000; ++v) {  // one row with all columns, one column with all rows
    star.rows.insert(star.rows.end(), {17, v});
    star.cols.insert(star.cols.end(), {v, 29000});
  }
  check<float>(star, {true, 20000, {.most_messages = 2000, .at_once = 4, .least_messages = 10}});
}

/// Long columns come first and are sorted among themselves behind all others; some are equally long.
TEST(GraphPreparation, TakesColumnsOfAllLengths) {
  const VertexId lengths[] = {1,   252, 300, 253, 254, 255,   5000, 256,  257,
                              300, 251, 253, 1,   2,   65536, 300,  70000};
  Edges edges{80000, {}, {}};
  for (VertexId i = 0; i < std::size(lengths); ++i)
    for (VertexId row = 0; row < lengths[i]; ++row) {
      edges.rows.push_back((row * 7 + i) % 80000);
      edges.cols.push_back(i * 4001 % 80000);
    }
  // All are long, and none longer than others.
  Edges even{2000, {}, {}};
  for (VertexId i = 0; i < 253 * 40; ++i) {
    even.rows.push_back(i % 253 * 5);
    even.cols.push_back(i / 253 * 31);
  }
  check<float>(even, {true, 7, {.most_messages = 300, .at_once = 4, .least_messages = 10}});
  for (const bool by_length : {true, false})
    for (const std::uint32_t tile_columns : {3u, 1000u})
      check<float>(edges,
                   {by_length, tile_columns, {.most_messages = 3000, .at_once = 4, .least_messages = 10}});
}

/// Elements go to tiles in one pass up to 1,024 of them, by blocks for 256, 512 or 1,024, and behind a sort
/// from there on.
TEST(GraphPreparation, TakesManyTiles) {
  for (const std::uint64_t num_tiles : {255, 256, 257, 512, 513, 1000, 1024, 1025}) {
    Edges edges = random_edges(5, 2 * num_tiles, 40 * num_tiles);
    for (VertexId v = 0; v < 2 * num_tiles; ++v) {  // every vertex is an input
      edges.rows.push_back(v / 2);
      edges.cols.push_back(v);
    }
    for (const bool by_length : {true, false})
      check<float>(edges, {by_length, 2, {.most_messages = 3000, .at_once = 4, .least_messages = 10}});
  }
}

/// Rows without elements among others, and more of them in one bin than elsewhere.
TEST(GraphPreparation, TakesRowsWithoutElements) {
  for (const std::uint64_t num_empty : {1u, 40u, 100000u}) {
    Edges edges{3000 + num_empty, {}, {}};
    std::mt19937 random(8);
    for (VertexId row = 0; row < 3000; ++row)
      for (int e = 0; e < 30; ++e) {
        edges.rows.push_back(row < 1500 ? row : static_cast<VertexId>(row + num_empty));
        edges.cols.push_back(static_cast<VertexId>(random() % edges.num_vertices));
      }
    for (const bool by_length : {true, false})
      check<float>(edges, {by_length, 20000, {.most_messages = 1000, .at_once = 4, .least_messages = 10}});
  }
}

/// Of elements that are dealt some at a time, those between have none of a row's tiles.
TEST(GraphPreparation, TakesPiecesThatGoOnOverElementsOfOtherTiles) {
  Edges edges{12000, {}, {}};
  for (VertexId row = 0; row < 4; ++row)
    for (VertexId v = 0; v < 12000; ++v)
      if (row < 3 || v < 1000 || v >= 11000) {
        edges.rows.push_back(row);
        edges.cols.push_back(v);
      }
  for (const bool by_length : {true, false})
    check<float>(edges, {by_length, 2000, {.most_messages = 3000, .at_once = 4, .least_messages = 10}});
}

const PreparationOptions kDealColumns{true, 60000, {.most_messages = 30000}, 1};

/// Added up one by one, counted in shared memory at once, or dealt to ranges first.
TEST(GraphPreparation, CountsColumns) {
  check<float>(random_edges(7, 3u << 17, 200000), {true, 60000, {.most_messages = 30000}});
  for (const std::uint64_t num_vertices : {1u << 15, (1u << 15) + 1, 3u << 17})
    check<float>(random_edges(7, num_vertices, 200000), kDealColumns);
  // More of a range than a block counts.
  for (const std::uint64_t num_vertices : {1u << 15, (1u << 15) + 1}) {
    Edges edges{num_vertices, {}, {}};
    for (VertexId row = 0; row < num_vertices; ++row)
      for (VertexId col = 0; col < 17; ++col) {
        edges.rows.push_back(row);
        edges.cols.push_back(3 * col);
      }
    check<float>(edges, kDealColumns);
  }
}

/// A range has one part or several.
TEST(GraphPreparation, CountsColumnsOfManyVertices) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here, and only there columns are dealt";
  for (const std::uint64_t num_vertices : {(1u << 23) + 1, 1u << 25, (1u << 25) + 1})
    check<float>(random_edges(7, num_vertices, 200000), kDealColumns);
}

TEST(GraphPreparation, TakesGraphsOfNoEdgesOrNoVertices) {
  check<float>({5, {}, {}}, {true, 10, {}});
  check<float>({0, {}, {}}, {true, 10, {}});
  check<float>({1, {0}, {0}}, {true, 10, {}});
}

}  // namespace
}  // namespace tessera
