// The build for devices, run in host memory (and on a device where one answers), against the definition of
// the form: every byte the same.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "engine/exchange_plan.hpp"
#include "engine/tile_messages_builder.hpp"
#include "kernels/cuda/messages_build.hpp"
#include "kernels/devices.hpp"
#include "tests/support/host_builds.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/same_messages.hpp"

namespace tessera {
namespace {

using test::expect_same;
using test::random_matrix;
using test::RandomMatrix;

struct Shape {
  std::uint64_t rows, cols;
  double mean_length;
  bool weighted;
  std::uint32_t tile_columns, bin_messages;
  std::uint64_t chunk_elements;
};

/// The cells, windows of both passes, that the matrix has.
template <class S>
std::uint64_t check(const Shape& shape, const RandomMatrix& a) {
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.rbegin(), rows.rend(), VertexId{0});  // any order
  const ColumnOrder columns =
      order_columns_by_length(a.column_lengths(), shape.tile_columns, ~0u, Remainder::narrow);
  const auto expected = build_tile_messages<S>(
      a.view(), rows, columns, {.most_messages = shape.bin_messages, .at_once = 6, .least_messages = 20});
  const MessagesBuildInput input{
      .csr = a.view(),
      .rows = rows,
      .slot_of_column = columns.slot_of_column.data(),
      .shape = {.num_rows = rows.size(),
                .num_slots = columns.num_slots,
                .tiles = columns.tiles,
                .tile_stride = shape.tile_columns + 1,
                .bins = {.most_messages = shape.bin_messages, .at_once = 6, .least_messages = 20}},
      .chunk_elements = shape.chunk_elements};
  expect_same(test::build_messages_in_host_memory<S>(input), expected, false);
  if (num_devices() > 0) expect_same(cuda::build_messages_on_device<S>(input), expected, true);
  return (expected.tiles.windows.size() - 1) * (expected.bins.windows.size() - 1);
}

/// With x in parts, as several ranks have it: the rows of one of them.
TEST(MessagesBuild, GivesTheBytesOfARankAmongSeveral) {
  const RandomMatrix a = random_matrix(5, 600, 600, 9, true);
  const auto lengths = a.column_lengths();
  const ColumnOrder order = order_columns_by_length(lengths, 50, ~0u, Remainder::narrow);
  const VertexDistribution distribution = distribute_vertices(lengths, order, 3);
  constexpr double kChunks[] = {0.25, 1};
  for (int rank = 0; rank < 3; ++rank) {
    const TileExchange exchange = plan_tile_exchange(distribution, order, rank, kChunks);
    const auto rows = distribution.of_rank(rank);
    const auto expected =
        build_tile_messages<float>(a.view(), rows, exchange.columns, {.most_messages = 100}, exchange.parts);
    const MessagesBuildInput input{.csr = a.view(),
                                   .rows = rows,
                                   .slot_of_column = exchange.columns.slot_of_column.data(),
                                   .shape = {.num_rows = rows.size(),
                                             .num_slots = expected.num_slots,
                                             .tiles = exchange.columns.tiles,
                                             .tile_stride = exchange.columns.tiles[1].first_slot,
                                             .bins = {.most_messages = 100},
                                             .parts = exchange.parts}};
    const auto found = test::build_messages_in_host_memory<float>(input);
    expect_same(found, expected, false);
    if (num_devices() > 0) expect_same(cuda::build_messages_on_device<float>(input), expected, true);
    ASSERT_EQ(found.tiles.parts.size(), expected.tiles.parts.size());
    for (std::size_t i = 0; i < found.tiles.parts.size(); ++i) {
      EXPECT_EQ(found.tiles.parts[i].first_in, expected.tiles.parts[i].first_in);
      EXPECT_EQ(found.tiles.parts[i].size, expected.tiles.parts[i].size);
    }
    EXPECT_EQ(found.tiles.num_parts, 3u);
  }
}

TEST(MessagesBuild, GivesTheBytesOfTheDefinition) {
  for (const Shape& shape :
       {Shape{500, 700, 12, false, 64, 200, 1000}, Shape{500, 700, 12, true, 63, 77, 1u << 20},
        Shape{40, 9000, 4000, true, 8000, 90, 5000}, Shape{1, 40, 5, false, 8, 100, 1},
        Shape{40, 1, 1, true, 8, 2, 7}, Shape{3000, 3000, 2, false, 1000, 65535, 100},
        Shape{7, 30000, 20000, false, 20000, 60, 1u << 20}})
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const RandomMatrix a = random_matrix(seed, shape.rows, shape.cols, shape.mean_length, shape.weighted);
      check<float>(shape, a);
      check<double>(shape, a);
    }
}

void append_row(RandomMatrix& a, const std::set<VertexId>& columns) {
  for (const VertexId column : columns) {
    a.col_indices.push_back(column);
    a.values.push_back(1 + 0.5 * column);
  }
  a.row_offsets.push_back(a.col_indices.size());
  ++a.num_rows;
}

TEST(MessagesBuild, SortsByKeysOf64BitsWhereThereAreManyCells) {
  constexpr VertexId kColumns = 200000, kTileColumns = 32;
  RandomMatrix a{.num_cols = kColumns, .row_offsets = {0}};
  std::mt19937_64 random(4);
  for (int row = 0; row < 2000; ++row) {
    std::set<VertexId> columns;
    while (columns.size() < 60) columns.insert(static_cast<VertexId>(random() % kColumns));
    append_row(a, columns);
  }
  std::set<VertexId> longest_columns;  // ten rows make them that, so that these rows lie in few tiles
  for (VertexId column = 0; column < 60 * kTileColumns; ++column) longest_columns.insert(column);
  for (int row = 0; row < 10; ++row) append_row(a, longest_columns);
  const Shape shape{.tile_columns = kTileColumns, .bin_messages = 100, .chunk_elements = 20000};
  EXPECT_GT(check<float>(shape, a), 1u << 21);  // with 11 bits for messages of 1,024 elements
  check<double>(shape, a);
}

/// In chunks of a sixteenth, as large matrices are sent: three forms with their messages at most.
template <class S>
void expect_little_memory(bool weighted) {
  const RandomMatrix a = random_matrix(9, 30000, 30000, 16, weighted);
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.begin(), rows.end(), VertexId{0});
  const ColumnOrder columns = order_columns_by_length(a.column_lengths(), 5000, ~0u, Remainder::narrow);
  test::most_bytes_of_builds();
  const auto form = test::build_messages_in_host_memory<S>(
      {.csr = a.view(),
       .rows = rows,
       .slot_of_column = columns.slot_of_column.data(),
       .shape = {.num_rows = rows.size(),
                 .num_slots = columns.num_slots,
                 .tiles = columns.tiles,
                 .tile_stride = 5001,
                 .bins = {.most_messages = 10000, .at_once = 8, .least_messages = 1000}},
       .chunk_elements = a.col_indices.size() / 16});
  const std::uint64_t most = test::most_bytes_of_builds();
  EXPECT_GT(most, form.stats.bytes);
  EXPECT_LT(most, 3 * (form.stats.bytes + form.num_messages * sizeof(S)));
}

TEST(MessagesBuild, TakesThreeTimesTheFormAtMost) {
  for (const bool weighted : {false, true}) {
    expect_little_memory<float>(weighted);
    expect_little_memory<double>(weighted);
  }
}

}  // namespace
}  // namespace tessera
