#include "engine/order_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "engine/device_model.hpp"
#include "engine/graph_builder.hpp"
#include "engine/graph_generator.hpp"
#include "engine/graph_stats.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/sample_graph.hpp"
#include "tests/support/skewed_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

/// A ring: every vertex points to the next ones, whose names are `renamed`.
Graph ring(std::uint64_t n, std::uint64_t reach, const std::vector<VertexId>& renamed) {
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (std::uint64_t u = 0; u < n; ++u)
    for (std::uint64_t k = 1; k <= reach; ++k) edges.emplace_back(renamed[u], renamed[(u + k) % n]);
  std::sort(edges.begin(), edges.end(),
            [](auto a, auto b) { return std::pair(a.second, a.first) < std::pair(b.second, b.first); });
  return sample_graph(edges, range_labels(n, 0), false);
}

std::vector<VertexId> names(std::uint64_t n) {
  std::vector<VertexId> all(n);
  for (std::uint64_t v = 0; v < n; ++v) all[v] = static_cast<VertexId>(v);
  return all;
}

ColumnOrderKind choice(const Graph& graph, OrderRequest asked, std::uint32_t tile_columns) {
  const auto comm = make_single_rank();
  return look_at(graph, asked, out_degrees(graph, *comm), tile_columns, 1000000, *comm)->order;
}

TEST(OrderChoice, CountsThePiecesOfBothOrders) {
  // Sources of the targets 0 to 3: {1, 2}, {0, 3}, {3}, {}; column lengths 1, 1, 1, 2; tiles of two columns.
  const Graph graph = sample_graph({{1, 0}, {2, 0}, {0, 1}, {3, 1}, {3, 2}}, range_labels(4, 0), false);
  const auto comm = make_single_rank();
  const PieceCounts pieces =
      count_pieces(graph, OrderRequest::automatic, std::vector<std::uint64_t>{1, 1, 1, 2}, 2, 100, *comm);
  const auto counts = [](std::uint64_t first, std::uint64_t second) {
    return std::vector<std::uint64_t>{first, second};
  };
  EXPECT_EQ(pieces.as_given, counts(2, 3));  // tiles {0, 1} and {2, 3}
  EXPECT_EQ(pieces.num_edges, 5u);
  EXPECT_EQ(pieces.by_length, counts(2, 1));  // tiles {3, 0} and {1, 2}
}

TEST(OrderChoice, CountsEdgesWhoseEndsAreNear) {
  const auto far = static_cast<VertexId>(kNearColumns);
  const Graph graph = sample_graph({{0, 0}, {far, 0}, {far + 1, 0}, {0, far}, {5, far + 9}},
                                   range_labels(kNearColumns + 10, 0), false);
  const auto comm = make_single_rank();
  for (const OrderRequest order :
       {OrderRequest::automatic, OrderRequest::by_length, OrderRequest::as_given}) {
    const PieceCounts pieces = count_pieces(graph, order, out_degrees(graph, *comm), 64, 100, *comm);
    EXPECT_EQ(pieces.adjacent, 1u);
    EXPECT_EQ(pieces.near, 2u);
    EXPECT_EQ(look_at(graph, order, out_degrees(graph, *comm), 64, 100, *comm)->num_adjacent, 1);
    EXPECT_EQ(look_at(graph, order, out_degrees(graph, *comm), 64, 100, *comm)->num_near, 2);
  }
  // Of a sample they count for all edges.
  const Graph longer = ring(30000, 6, names(30000));
  const auto found =
      look_at(longer, OrderRequest::automatic, out_degrees(longer, *comm), 100, longer.num_edges / 8, *comm);
  EXPECT_NEAR(found->num_adjacent, static_cast<double>(longer.num_edges),
              0.001 * static_cast<double>(longer.num_edges));
}

TEST(OrderChoice, ABlockMatrixHasTwiceTheNearEdges) {
  const Graph graph = ring(3000, 6, names(3000));
  const auto comm = make_single_rank();
  const TilingLimits limits{.tile_columns = 100, .warp_width = 32, .prefers_messages = true};
  PerfTable table = default_perf_table();
  table.gpu.csr = {};
  const auto adjacent = std::find(kCsrRates.begin(), kCsrRates.end(), std::string("adjacent_gather_seconds"));
  table.gpu.csr.at(static_cast<std::size_t>(adjacent - kCsrRates.begin())) = 1;
  const auto csr_seconds = [&](std::uint64_t columns) {
    const std::vector<std::uint64_t> lengths(columns, 6);
    return plan_for_graph(graph, KernelKind::csr, OrderRequest::automatic, lengths, lengths, limits, table,
                          *comm)
        .predicted_csr_seconds;
  };
  EXPECT_EQ(csr_seconds(3000), static_cast<double>(graph.num_edges) - 21);  // the ring's ends meet
  EXPECT_EQ(csr_seconds(6000), 2 * csr_seconds(3000));
}

TEST(OrderChoice, NeighboursThatLieTogetherStayTogether) {
  // One vertex in three has a link more, so that ordering by length tears neighbours apart.
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (VertexId u = 0; u < 3000; ++u)
    for (VertexId k = 1; k <= 6u + (u % 3); ++k) edges.emplace_back(u, (u + k) % 3000);
  std::sort(edges.begin(), edges.end(),
            [](auto a, auto b) { return std::pair(a.second, a.first) < std::pair(b.second, b.first); });
  const Graph graph = sample_graph(edges, range_labels(3000, 0), false);
  EXPECT_EQ(choice(graph, OrderRequest::automatic, 100), ColumnOrderKind::as_given);
  EXPECT_EQ(choice(graph, OrderRequest::by_length, 100), ColumnOrderKind::by_length);
}

TEST(OrderChoice, ScatteredNamesGoByLength) {
  std::vector<VertexId> mixed = names(3000);
  std::shuffle(mixed.begin(), mixed.end(), std::mt19937(5));
  const Graph scattered = ring(3000, 6, mixed);
  EXPECT_EQ(choice(scattered, OrderRequest::automatic, 100), ColumnOrderKind::by_length);
  EXPECT_EQ(choice(scattered, OrderRequest::as_given, 100), ColumnOrderKind::as_given);
  // A single tile is the same in any order.
  EXPECT_EQ(choice(ring(300, 6, names(300)), OrderRequest::automatic, 1000), ColumnOrderKind::by_length);
}

TEST(OrderChoice, TheSampleTellsThePiecesOfAll) {
  // R-MAT as it comes: vertices whose ids have many zero bits have most links.
  const auto comm = make_single_rank();
  const Graph whole = build_graph(generate_edges({.scale = 13, .scramble_ids = false}, *comm), {}, *comm);
  const auto columns = out_degrees(whole, *comm);
  const auto count = [&](std::uint64_t num_sampled) {
    return count_pieces(whole, OrderRequest::automatic, columns, 64, num_sampled, *comm);
  };
  const PieceCounts all = count(1u << 30), some = count(whole.num_edges / 8);
  EXPECT_EQ(all.num_edges, whole.num_edges);
  EXPECT_NEAR(static_cast<double>(some.num_edges), static_cast<double>(all.num_edges) / 8,
              0.3 * static_cast<double>(all.num_edges) / 8);
  const double scale = static_cast<double>(all.num_edges) / static_cast<double>(some.num_edges);
  for (const auto part : {&PieceCounts::by_length, &PieceCounts::as_given}) {
    const auto total = [&](const PieceCounts& counts) {
      return static_cast<double>(std::accumulate((counts.*part).begin(), (counts.*part).end(), 0ull));
    };
    EXPECT_NEAR(total(some) * scale, total(all), 0.15 * total(all));
    EXPECT_EQ((some.*part).size(), (all.*part).size());
  }
}

/// From the orders themselves, by sets.
TEST(OrderChoice, PiecesAreTheTilesThatRowsReach) {
  const auto comm = make_single_rank();
  for (const int scale : {3, 9, 12, 15}) {
    // A third of the ids has no edge, and neighbours of small ones are many.
    const Graph graph =
        build_graph(generate_edges({.scale = scale, .scramble_ids = false}, *comm), {}, *comm);
    const auto lengths = out_degrees(graph, *comm);
    for (const std::uint32_t width : {1u, 2u, 3u, 7u, 64u, 100u, 65535u}) {
      if (scale == 15 && width < 64) continue;  // it is for rows of several threads
      const PieceCounts counts =
          count_pieces(graph, OrderRequest::automatic, lengths, width, graph.num_edges, *comm);
      EXPECT_EQ(counts.num_edges, graph.num_edges);
      const auto expect_pieces = [&](const ColumnOrder& order, const std::vector<std::uint64_t>& found) {
        std::vector<std::uint64_t> expected(order.tiles.size(), 0);
        for (std::uint64_t row = 0; row < graph.num_vertices; ++row) {
          std::set<std::size_t> tiles;
          for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e) {
            const VertexId slot = order.slot_of_column[graph.col_indices[e]];
            const auto behind = std::upper_bound(order.tiles.begin(), order.tiles.end(), slot,
                                                 [](VertexId s, const Tile& t) { return s < t.first_slot; });
            tiles.insert(static_cast<std::size_t>(behind - order.tiles.begin()) - 1);
          }
          for (const std::size_t tile : tiles) ++expected[tile];
        }
        EXPECT_EQ(found, expected) << "scale " << scale << ", tiles of " << width;
      };
      expect_pieces(order_columns_by_length(lengths, width, ~0u, Remainder::narrow), counts.by_length);
      expect_pieces(order_columns_as_given(lengths, width), counts.as_given);
    }
  }
}

TEST(OrderChoice, AllRowsAreLookedAtWhereTheSampleHasNoEdge) {
  // One row has all edges; a sample of one in thousands misses it.
  std::vector<std::pair<VertexId, VertexId>> edges;
  for (VertexId u = 0; u < 9000; ++u) edges.emplace_back(u, 1);
  const Graph graph = sample_graph(edges, range_labels(9000, 0), false);
  const auto comm = make_single_rank();
  const auto columns = out_degrees(graph, *comm);
  EXPECT_EQ(count_pieces(graph, OrderRequest::automatic, columns, 100, 1, *comm).num_edges, 0u);
  const auto missed = look_at(graph, OrderRequest::automatic, columns, 100, 1, *comm);
  ASSERT_TRUE(missed.has_value());
  EXPECT_EQ(missed->pieces_of_tile, std::vector<double>(90, 1.0));
  const Graph none = sample_graph({}, range_labels(3, 0), false);
  EXPECT_FALSE(look_at(none, OrderRequest::automatic, out_degrees(none, *comm), 100, 1, *comm).has_value());
}

TEST(OrderChoice, APlanHasTheOrderAndThePiecesOfTheGraph) {
  const Graph graph = ring(3000, 6, names(3000));
  const auto comm = make_single_rank();
  const auto in = in_degrees(graph, *comm), out = out_degrees(graph, *comm);
  const TilingLimits limits{.tile_columns = 100, .warp_width = 32, .prefers_messages = true};
  const auto plan = [&](KernelKind kernel, OrderRequest order) {
    return plan_for_graph(graph, kernel, order, in, out, limits, default_perf_table(), *comm);
  };
  const SpmvPlan messages = plan(KernelKind::tile_messages, OrderRequest::as_given);
  EXPECT_EQ(messages.order, ColumnOrderKind::as_given);
  EXPECT_EQ(messages.predicted_messages, 3000.0 + 30 * 5);  // five rows behind each border have two pieces
  EXPECT_EQ(plan(KernelKind::tile_messages, OrderRequest::by_length).order, ColumnOrderKind::by_length);
  EXPECT_EQ(plan(KernelKind::tile_composite, OrderRequest::as_given).order, ColumnOrderKind::by_length);
  EXPECT_EQ(plan(KernelKind::csr, OrderRequest::by_length).order, ColumnOrderKind::original);
}

TEST(OrderChoice, TheSmallestDeviceDecidesForAllRanks) {
  const Graph whole = skewed_graph(2000, 30000);
  run_ranks(3, [&](Communicator& comm) {
    const Graph graph = block_of(whole, comm);
    const auto in = in_degrees(graph, comm), out = out_degrees(graph, comm);
    const auto plan = [&](KernelKind kernel) {
      const TilingLimits limits{
          .tile_columns = 100, .warp_width = 32, .prefers_messages = true, .holds_tiles = comm.rank() != 1};
      return plan_for_graph(graph, kernel, OrderRequest::automatic, in, out, limits, default_perf_table(),
                            comm);
    };
    EXPECT_EQ(plan(KernelKind::automatic).kernel, KernelKind::csr);
    EXPECT_THROW(plan(KernelKind::tile_messages), ResourceError) << "on every rank";
  });
}

TEST(OrderChoice, AllRanksCountTheSame) {
  const Graph whole = skewed_graph(2000, 30000);
  const auto single = make_single_rank();
  for (const std::uint64_t num_sampled : {100000u, 3000u}) {
    const PieceCounts one =
        count_pieces(whole, OrderRequest::automatic, out_degrees(whole, *single), 64, num_sampled, *single);
    EXPECT_GT(one.by_length.front(), 0u);
    for (const int ranks : {2, 3, 7})
      run_ranks(ranks, [&](Communicator& comm) {
        const Graph block = block_of(whole, comm);
        const PieceCounts found =
            count_pieces(block, OrderRequest::automatic, out_degrees(block, comm), 64, num_sampled, comm);
        EXPECT_EQ(found.by_length, one.by_length);
        EXPECT_EQ(found.as_given, one.as_given);
        EXPECT_EQ(found.adjacent, one.adjacent);
        EXPECT_EQ(found.near, one.near);
        EXPECT_EQ(found.num_edges, one.num_edges);
      });
  }
}

}  // namespace
}  // namespace tessera::test
