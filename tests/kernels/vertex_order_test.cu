// Vertices in the order of the solver, in host memory (and on a device where one answers), against a sort.
#include "kernels/cuda/vertex_order.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/devices.hpp"

namespace tessera::cuda {
namespace {

constexpr std::uint32_t kTileColumns = 100;

/// Elements of each vertex's column and row.
struct Lengths {
  std::vector<std::uint32_t> columns, rows;
};
using LengthOf = std::function<std::uint32_t(std::size_t)>;
Lengths make_lengths(std::size_t count, const LengthOf& column, const LengthOf& row) {
  Lengths lengths;
  for (std::size_t v = 0; v < count; ++v) {
    lengths.columns.push_back(column(v));
    lengths.rows.push_back(row(v));
  }
  return lengths;
}

struct Ordered {
  std::uint64_t num_inputs, num_linked, longest_column, longest_row;
  std::vector<VertexId> vertices, slots;
  std::vector<std::uint32_t> column_lengths;
  std::vector<std::uint64_t> row_begins, row_starts;

  bool operator==(const Ordered&) const = default;
};

Ordered expected_of(const Lengths& lengths, bool by_length) {
  const std::size_t count = lengths.columns.size();
  std::vector<std::uint64_t> begins(count + 1, 0);
  std::partial_sum(lengths.rows.begin(), lengths.rows.end(), begins.begin() + 1, std::plus<std::uint64_t>());
  Ordered of{};
  of.vertices.resize(count);
  std::iota(of.vertices.begin(), of.vertices.end(), 0u);
  const auto group = [&](VertexId v) { return lengths.columns[v] > 0 ? 0 : lengths.rows[v] > 0 ? 1 : 2; };
  std::stable_sort(of.vertices.begin(), of.vertices.end(), [&](VertexId a, VertexId b) {
    if (group(a) != group(b)) return group(a) < group(b);
    return by_length && lengths.columns[a] > lengths.columns[b];
  });
  of.slots.assign(count, kNoVertex);
  of.row_starts.push_back(0);
  for (const VertexId v : of.vertices) {
    of.longest_column = std::max<std::uint64_t>(of.longest_column, lengths.columns[v]);
    of.longest_row = std::max<std::uint64_t>(of.longest_row, lengths.rows[v]);
    if (group(v) == 2) continue;
    ++of.num_linked;
    of.row_begins.push_back(begins[v]);
    of.row_starts.push_back(of.row_starts.back() + lengths.rows[v]);
    if (group(v) != 0) continue;
    of.slots[v] = static_cast<VertexId>(of.num_inputs + of.num_inputs / kTileColumns);
    ++of.num_inputs;
    of.column_lengths.push_back(lengths.columns[v]);
  }
  return of;
}

template <class Memory>
Ordered ordered_in(const Lengths& lengths, bool by_length) {
  std::vector<EdgeOffset> offsets(lengths.rows.size() + 1, 0);
  std::partial_sum(lengths.rows.begin(), lengths.rows.end(), offsets.begin() + 1, std::plus<EdgeOffset>());
  const auto columns = Memory::template from_host<std::uint32_t>(lengths.columns);
  const auto rows = Memory::template from_host<EdgeOffset>(offsets);
  const std::uint64_t num_elements =  // those of rows are others here
      std::accumulate(lengths.columns.begin(), lengths.columns.end(), std::uint64_t{0});
  auto longest = Memory::template zeros<std::uint32_t>(2);
  SideStream<Memory> side;
  const VertexOrder<Memory> order(
      {lengths.columns.size(), num_elements, columns.data(), rows.data(), by_length, longest.data()},
      kTileColumns, side, [] {});
  const auto host = [](const auto& there) { return Memory::to_host(there.data(), there.size()); };
  return {order.found.num_inputs,     order.found.num_linked, order.found.longest_column,
          order.found.longest_row,    host(order.vertices),   host(order.slots),
          host(order.column_lengths), host(order.row_begins), host(order.row_starts)};
}

void expect_ordered(const Lengths& lengths) {
  for (const bool by_length : {true, false}) {
    const Ordered expected = expected_of(lengths, by_length);
    EXPECT_TRUE(ordered_in<HostMemory>(lengths, by_length) == expected) << by_length;
    if (num_devices() > 0)
      EXPECT_TRUE(ordered_in<DeviceMemory>(lengths, by_length) == expected) << by_length << " on the device";
  }
}

TEST(VertexOrder, PutsLongestColumnsFirst) {
  std::mt19937 random(2);
  const auto few = [&](std::size_t) { return random() % 3; };
  const auto skewed = [&](std::size_t) { return random() % (1 + random() % (1 + random() % 1000)); };
  for (const std::size_t count : {0u, 1u, 31u, 4095u, 4096u, 4097u, 50001u}) {
    SCOPED_TRACE(count);
    expect_ordered(make_lengths(count, skewed, few));
    expect_ordered(make_lengths(count, few, skewed));
  }
}

/// Lengths where keys end, and of one key alone.
TEST(VertexOrder, KnowsLongColumnsAndThoseThatAreAlike) {
  std::mt19937 random(7);
  const auto one = [](std::size_t) { return 1u; };
  const auto none = [](std::size_t) { return 0u; };
  for (const std::size_t count : {3u, 5000u, 40000u}) {
    SCOPED_TRACE(count);
    expect_ordered(make_lengths(
        count, [&](std::size_t) { return OrderKey::kLong - 2 + random() % 5; }, one));
    expect_ordered(make_lengths(
        count, [&](std::size_t) { return OrderKey::kLong + random() % 2 * 100000; }, one));
    expect_ordered(make_lengths(
        count, [](std::size_t) { return OrderKey::kLong; }, none));
    expect_ordered(make_lengths(count, one, one));
    expect_ordered(make_lengths(count, none, one));
    expect_ordered(make_lengths(count, none, none));
  }
}

/// So many long columns that they are a block's, some blocks', all that a kernel sorts at once, and one more.
TEST(VertexOrder, SortsLongColumnsOfAllNumbers) {
  std::mt19937 random(9);
  const auto none = [](std::size_t) { return 0u; };
  const unsigned blocks = num_devices() > 0 ? std::min(blocks_beside(), kMostLongBlocks) : kMostLongBlocks;
  const std::size_t most_at_once = std::size_t{blocks} * kLongRounds * kLongThreads;
  for (const std::size_t count :
       {std::size_t{2}, std::size_t{513}, std::size_t{40000}, most_at_once, most_at_once + 1})
    for (const std::uint32_t most : {3u, 300u, 70000u, ~0u - OrderKey::kLong}) {
      SCOPED_TRACE(std::to_string(count) + " columns of up to " + std::to_string(most) + " more");
      expect_ordered(make_lengths(
          count, [&](std::size_t) { return OrderKey::kLong + random() % most; }, none));
    }
}

/// As many as the fewest blocks have room for, each as short as a long column may be but for the last, and
/// one more, for which there is another block.
TEST(VertexOrder, SortsAsManyLongColumnsAsBlocksHaveRoomFor) {
  const std::size_t most = std::size_t{kLeastLongBlocks} * kLongRounds * kLongThreads;
  for (const std::size_t count : {most, most + 1}) {
    SCOPED_TRACE(std::to_string(count) + " columns");
    expect_ordered(make_lengths(
        count, [&](std::size_t i) { return OrderKey::kLong + (i + 1 == count ? 1u : 0u); },
        [](std::size_t) { return 0u; }));
  }
}

}  // namespace
}  // namespace tessera::cuda
