#include "engine/row_exchange.hpp"

#include <gtest/gtest.h>

#include "tests/support/sample_graph.hpp"
#include "tests/support/thread_ranks.hpp"

namespace tessera::test {
namespace {

/// What exchange_rows must hand to the owner of `row`.
std::vector<std::pair<VertexId, double>> elements_of(const Graph& graph, std::uint64_t row, VertexId shift) {
  std::vector<std::pair<VertexId, double>> elements;
  for (EdgeOffset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e)
    elements.emplace_back(graph.col_indices[e] + shift, graph.weighted ? graph.weights[e] : 1.0);
  return elements;
}

void check(std::uint64_t n, std::uint64_t num_edges, bool weighted, bool doubled, int ranks) {
  const Graph whole = random_graph(range_labels(n, 0), num_edges, weighted, 3);
  const Graph second = random_graph(range_labels(n, 0), num_edges / 2, weighted, 4);
  std::vector<std::uint64_t> lengths(whole.num_vertices);
  for (std::uint64_t v = 0; v < n; ++v) lengths[v] = whole.row_offsets[v + 1] - whole.row_offsets[v];
  for (std::uint64_t v = 0; doubled && v < n; ++v)
    lengths.push_back(second.row_offsets[v + 1] - second.row_offsets[v]);
  const VertexId shift = doubled ? static_cast<VertexId>(n) : 0;
  run_ranks(ranks, [&](Communicator& comm) {
    const Graph first_block = block_of(whole, comm), second_block = block_of(second, comm);
    LoadedRows loaded{.first = &first_block,
                      .second = doubled ? &second_block : nullptr,
                      .first_column_shift = shift,
                      .first_row = {}};
    loaded.first_row = block_boundaries(n, comm.size());
    const ColumnOrder columns = original_column_order(lengths.size());
    const VertexDistribution rows = distribute_vertices(lengths, columns, comm.size());
    const LocalRows local = exchange_rows(loaded, rows, lengths, comm);
    const auto mine = rows.of_rank(comm.rank());
    ASSERT_EQ(local.row_offsets.size(), mine.size() + 1);
    EXPECT_EQ(local.values.empty(), !weighted || local.col_indices.empty());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      std::vector<std::pair<VertexId, double>> got;
      for (EdgeOffset e = local.row_offsets[i]; e < local.row_offsets[i + 1]; ++e)
        got.emplace_back(local.col_indices[e], weighted ? local.values[e] : 1.0);
      EXPECT_EQ(got, mine[i] < n ? elements_of(whole, mine[i], shift) : elements_of(second, mine[i] - n, 0));
    }
  });
}

TEST(CopiedRows, AreThoseThatWereAskedForInThatOrder) {
  for (const bool weighted : {false, true}) {
    const Graph whole = random_graph(range_labels(50, 0), 400, weighted, 3);
    for (const std::vector<VertexId>& rows : {std::vector<VertexId>{}, {7}, {49, 0, 7, 3, 8}}) {
      const LocalRows local = copied_rows(whole.in_edges(), rows);
      ASSERT_EQ(local.row_offsets.size(), rows.size() + 1);
      EXPECT_EQ(local.row_offsets[0], 0u);
      EXPECT_EQ(local.values.size(), weighted ? local.col_indices.size() : 0);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<std::pair<VertexId, double>> got;
        for (EdgeOffset e = local.row_offsets[i]; e < local.row_offsets[i + 1]; ++e)
          got.emplace_back(local.col_indices[e], weighted ? local.values[e] : 1.0);
        EXPECT_EQ(got, elements_of(whole, rows[i], 0));
      }
    }
  }
}

TEST(ExchangeRows, EveryRowReachesItsOwnerWhole) {
  for (const int ranks : {1, 2, 3, 7})
    for (const bool weighted : {false, true})
      for (const bool doubled : {false, true}) {
        check(200, 3000, weighted, doubled, ranks);
        check(3, 5, weighted, doubled, ranks);  // fewer rows than ranks
      }
}

}  // namespace
}  // namespace tessera::test
