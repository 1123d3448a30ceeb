// The build for devices, run in host memory (and on a device where one answers), against the definition of
// the form: every byte the same.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "engine/exchange_plan.hpp"
#include "engine/tile_messages_builder.hpp"
#include "kernels/base/error.hpp"
#include "kernels/cuda/messages_build.hpp"
#include "kernels/devices.hpp"
#include "tests/support/host_builds.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/same_messages.hpp"

namespace tessera {
namespace {

using test::expect_same;
using test::in_both_directions;
using test::random_matrix;
using test::RandomMatrix;
using test::turned;

struct Shape {
  std::uint64_t rows, cols;
  double mean_length;
  bool weighted;
  std::uint32_t tile_columns, bin_messages;
  std::uint64_t chunk_elements;
};
void PrintTo(const Shape& shape, std::ostream* to) { *to << shape.rows << " x " << shape.cols; }

/// In host memory and, where one answers, on a device; rows in any order, some at a time or all as they lie.
template <class S>
void expect_builds(MessagesBuildInput input, const TileMessages<S>& expected) {
  for (const RowSending sending : {RowSending::in_order, RowSending::as_they_lie}) {
    if (input.directions != Directions::same && sending == RowSending::in_order) continue;
    input.sending = sending;
    expect_same(test::build_messages_in_host_memory<S>(input), expected, false);
    if (num_devices() > 0) expect_same(cuda::build_messages_on_device<S>(input), expected, true);
  }
}

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
  expect_builds(input, expected);
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
    expect_builds(input, expected);
    const auto found = test::build_messages_in_host_memory<float>(input);
    ASSERT_EQ(found.tiles.parts.size(), expected.tiles.parts.size());
    for (std::size_t i = 0; i < found.tiles.parts.size(); ++i) {
      EXPECT_EQ(found.tiles.parts[i].first_in, expected.tiles.parts[i].first_in);
      EXPECT_EQ(found.tiles.parts[i].size, expected.tiles.parts[i].size);
    }
    EXPECT_EQ(found.tiles.num_parts, 3u);
  }
}

/// A shape a test, so that a sanitizer of a device ends some of them.
class MessagesBuildOfShape : public testing::TestWithParam<Shape> {};

TEST_P(MessagesBuildOfShape, GivesTheBytesOfTheDefinition) {
  const Shape& shape = GetParam();
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const RandomMatrix a = random_matrix(seed, shape.rows, shape.cols, shape.mean_length, shape.weighted);
    check<float>(shape, a);
    check<double>(shape, a);
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, MessagesBuildOfShape,
                         testing::Values(Shape{500, 700, 12, false, 64, 200, 1000},
                                         Shape{500, 700, 12, true, 63, 77, 1u << 20},
                                         Shape{40, 9000, 4000, true, 8000, 90, 5000},
                                         Shape{1, 40, 5, false, 8, 100, 1}, Shape{40, 1, 1, true, 8, 2, 7},
                                         Shape{3000, 3000, 2, false, 1000, 65535, 100},
                                         Shape{7, 30000, 20000, false, 20000, 60, 1u << 20}));

template <class S>
void expect_directed(const RandomMatrix& a, Directions directions, const RandomMatrix& by_hand,
                     std::uint64_t chunk_elements) {
  std::vector<VertexId> rows(by_hand.num_rows);
  std::iota(rows.rbegin(), rows.rend(), VertexId{0});
  constexpr std::uint32_t kTileColumns = 60;
  const BinLimits bins{.most_messages = 90, .at_once = 6, .least_messages = 20};
  const ColumnOrder columns =
      order_columns_by_length(by_hand.column_lengths(), kTileColumns, ~0u, Remainder::narrow);
  expect_builds({.csr = a.view(),
                 .directions = directions,
                 .rows = rows,
                 .slot_of_column = columns.slot_of_column.data(),
                 .shape = {.num_rows = rows.size(),
                           .num_slots = columns.num_slots,
                           .tiles = columns.tiles,
                           .tile_stride = kTileColumns + 1,
                           .bins = bins},
                 .chunk_elements = chunk_elements},
                build_tile_messages<S>(by_hand.view(), rows, columns, bins));
}

TEST(MessagesBuild, TurnsAMatrixRound) {
  for (const bool weighted : {false, true})
    for (const std::uint64_t chunk_elements : {0, 1, 1000}) {
      RandomMatrix a = random_matrix(7, 400, 900, 11, weighted);
      expect_directed<float>(a, Directions::turned, turned(a), chunk_elements);
      a.col_indices[a.row_offsets[17] + 1] = a.col_indices[a.row_offsets[17]];  // an edge twice
      expect_directed<double>(a, Directions::turned, turned(a), chunk_elements);
      const RandomMatrix row = random_matrix(8, 1, 50, 20, weighted),
                         column = random_matrix(8, 50, 1, 1, weighted);
      expect_directed<double>(row, Directions::turned, turned(row), chunk_elements);
      expect_directed<float>(column, Directions::turned, turned(column), chunk_elements);
    }
}

TEST(MessagesBuild, MakesBothDirectionsOfAPattern) {
  for (const std::uint64_t chunk_elements : {0, 1, 1000})
    for (const std::uint64_t n : {1, 60, 900}) {
      RandomMatrix a = random_matrix(7, n, n, 11, false);
      expect_directed<float>(a, Directions::both, in_both_directions(a), chunk_elements);
      if (n == 900) a.col_indices[a.row_offsets[17] + 1] = a.col_indices[a.row_offsets[17]];  // an edge twice
      expect_directed<double>(a, Directions::both, in_both_directions(a), chunk_elements);
    }
}

TEST(MessagesBuild, WillNotTurnAMatrixWithoutRoom) {
  const RandomMatrix a = random_matrix(7, 40, 90, 3, false);
  const MessagesBuildInput input{
      .csr = a.view(), .directions = Directions::turned, .sending = RowSending::in_order};
  EXPECT_THROW(test::build_messages_in_host_memory<float>(input), NoRoomError);
}

TEST(MessagesBuild, SendsRowsInOrderWhereThereIsNoRoomForAll) {
  const RandomMatrix a = random_matrix(7, 100, 20000, 4000, false);  // few messages, so that elements count
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.begin(), rows.end(), VertexId{0});
  const ColumnOrder columns = order_columns_by_length(a.column_lengths(), 5000, ~0u, Remainder::narrow);
  MessagesBuildInput input{.csr = a.view(),
                           .rows = rows,
                           .slot_of_column = columns.slot_of_column.data(),
                           .shape = {.num_rows = rows.size(),
                                     .num_slots = columns.num_slots,
                                     .tiles = columns.tiles,
                                     .tile_stride = 5001,
                                     .bins = {.most_messages = 500, .at_once = 6, .least_messages = 20}},
                           .chunk_elements = a.col_indices.size() / 16};
  const auto expected = build_tile_messages<float>(a.view(), rows, columns, input.shape.bins);
  const auto build = [&](std::uint64_t free_bytes) {
    const test::FreeBytesOfBuilds limit(free_bytes);
    test::most_bytes_of_builds();
    expect_same(test::build_messages_in_host_memory<float>(input), expected, false);
    return test::most_bytes_of_builds();
  };
  const std::uint64_t as_they_lie = build(std::uint64_t{1} << 40), in_order = build(1000);
  EXPECT_GT(as_they_lie, in_order);  // by the elements, at least
  input.directions = Directions::turned;
  const test::FreeBytesOfBuilds limit(1000);
  EXPECT_THROW(test::build_messages_in_host_memory<float>(input), NoRoomError);
}

/// More than what goes to a device at a time.
TEST(MessagesBuild, GivesTheBytesOfALargeMatrixOnADevice) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
  const Shape shape{300, 60000, 12000, true, 30000, 20000, 1u << 21};
  const RandomMatrix a = random_matrix(3, shape.rows, shape.cols, shape.mean_length, shape.weighted);
  check<float>(shape, a);
  check<double>(shape, a);
}

void append_row(RandomMatrix& a, const std::set<VertexId>& columns) {
  for (const VertexId column : columns) {
    a.col_indices.push_back(column);
    a.values.push_back(1 + 0.5 * column);
  }
  a.row_offsets.push_back(a.col_indices.size());
  ++a.num_rows;
}

/// Parallel edges that are kept: a piece of more messages than its tile has columns for.
TEST(MessagesBuild, TakesPiecesOfManyMessages) {
  RandomMatrix a = random_matrix(5, 50, 300, 40, false);
  for (const std::uint64_t num_parallel : {60000, 70000, 200000}) {
    a.col_indices.insert(a.col_indices.end(), num_parallel, 3);
    for (VertexId column = 100; column < 250; ++column) a.col_indices.push_back(column);
    a.col_indices.insert(a.col_indices.end(), num_parallel, 290);
    a.row_offsets.push_back(a.col_indices.size());
    ++a.num_rows;
  }
  const Shape shape{.tile_columns = 40, .bin_messages = 1000, .chunk_elements = 0};
  check<float>(shape, a);
  check<double>(shape, a);
}

TEST(MessagesBuild, SortsTheMessagesOfManyCells) {
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
  EXPECT_GT(check<float>(shape, a), 1u << 21);  // so that each is sorted by a warp
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
       .sending = RowSending::in_order,
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
