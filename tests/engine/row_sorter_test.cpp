// Sorting of edges into rows, beside std::stable_sort.
#include "engine/row_sorter.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "kernels/base/error.hpp"
#include "kernels/base/mix_bits.hpp"

namespace tessera {
namespace {

struct Edge {
  std::uint32_t source, target;
  double weight;
};

std::vector<Edge> random_edges(std::uint64_t count, std::uint32_t num_vertices, std::uint64_t seed) {
  RandomBits random(seed);
  std::vector<Edge> edges(count);
  for (Edge& edge : edges) {
    const auto vertex = [&] {  // few that are met often, as in a power-law graph
      return static_cast<std::uint32_t>(num_vertices * random.uniform() * random.uniform() *
                                        random.uniform());
    };
    edge = {vertex(), vertex(), static_cast<double>(random.next() % 8)};
  }
  return edges;
}

PairSource source_of(const std::vector<Edge>& edges, bool weighted) {
  EdgeChunk chunk;
  chunk.pairs = Buffer<std::uint32_t>(2 * edges.size());
  if (weighted) chunk.weights = Buffer<double>(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    chunk.pairs[2 * i] = edges[i].source;
    chunk.pairs[2 * i + 1] = edges[i].target;
    if (weighted) chunk.weights[i] = edges[i].weight;
  }
  std::vector<EdgeChunk> chunks;
  chunks.push_back(std::move(chunk));
  return PairSource(std::move(chunks));
}

/// By rules that are written out edge for edge.
std::vector<Edge> expected_edges(const std::vector<Edge>& edges, const RowSortOptions& options) {
  std::vector<Edge> directed;
  for (Edge e : edges) {
    if (options.rules.reverse) std::swap(e.source, e.target);
    if (e.source == e.target && options.rules.drop_loops) continue;
    directed.push_back(e);
    if (options.rules.undirected && e.source != e.target) directed.push_back({e.target, e.source, e.weight});
  }
  std::stable_sort(directed.begin(), directed.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.target, a.source) < std::tie(b.target, b.source);
  });
  std::vector<Edge> kept;
  for (const Edge& e : directed) {
    const bool repeats = !kept.empty() && kept.back().source == e.source && kept.back().target == e.target;
    if (!repeats || options.duplicates == Duplicates::keep)
      kept.push_back(e);
    else if (options.duplicates == Duplicates::merge)
      kept.back().weight += e.weight;
  }
  return kept;
}

void expect_sorted(const std::vector<Edge>& edges, const RowSortOptions& options) {
  PairSource source = source_of(edges, options.weighted);
  const SortedRows rows = sort_rows(source, options);
  const std::vector<Edge> expected = expected_edges(edges, options);
  ASSERT_EQ(rows.row_offsets.size(), options.num_rows + 1);
  ASSERT_EQ(rows.col_indices.size(), expected.size());
  std::size_t i = 0;
  for (std::uint64_t row = 0; row < options.num_rows; ++row) {
    ASSERT_EQ(rows.row_offsets[row], i);
    for (; i < rows.row_offsets[row + 1]; ++i) {
      ASSERT_EQ(expected[i].target, row);
      ASSERT_EQ(rows.col_indices[i], expected[i].source);
      if (options.weighted) {
        ASSERT_EQ(rows.weights[i], expected[i].weight);
      }
    }
  }
  EXPECT_EQ(i, expected.size());
  EXPECT_EQ(rows.weights.size(), options.weighted ? expected.size() : 0);
  std::uint64_t loops = 0;
  for (const Edge& e : edges) loops += e.source == e.target;
  EXPECT_EQ(rows.self_loops, loops);
}

void expect_sorted_under_every_rule(const std::vector<Edge>& edges, std::uint32_t num_vertices) {
  for (int bits = 0; bits < 16; ++bits)
    for (const Duplicates duplicates : {Duplicates::merge, Duplicates::keep, Duplicates::drop}) {
      RowSortOptions options{.rules = {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0},
                             .duplicates = duplicates,
                             .weighted = (bits & 8) != 0,
                             .num_rows = num_vertices,
                             .num_sources = num_vertices};
      SCOPED_TRACE(testing::Message() << "rules " << bits << ", duplicates " << static_cast<int>(duplicates));
      expect_sorted(edges, options);
    }
}

TEST(RowSorter, SortsByRowThenColumnUnderEveryRule) {
  const std::uint32_t num_vertices = 3000;
  auto edges = random_edges(40000, num_vertices, 1);
  for (const bool ascending : {false, true}) {
    if (ascending)  // then a bucket takes fewer passes
      std::ranges::stable_sort(edges, {}, &Edge::source);
    expect_sorted_under_every_rule(edges, num_vertices);
  }
}

TEST(RowSorter, GivesTheSameForAnyNumberOfThreads) {
  const int before = omp_get_max_threads();
  const std::uint32_t num_vertices = 200000;  // several buckets
  const auto edges = random_edges(300000, num_vertices, 2);
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    expect_sorted(edges, {.weighted = true, .num_rows = num_vertices, .num_sources = num_vertices});
  }
  omp_set_num_threads(before);
}

TEST(RowSorter, TakesGraphsWithoutEdges) {
  expect_sorted({}, {.num_rows = 5, .num_sources = 5});
  expect_sorted({}, {.weighted = true, .num_rows = 0, .num_sources = 0});
}

TEST(RowSorter, RefusesMergedWeightsThatOverflow) {
  const double most = std::numeric_limits<double>::max();
  PairSource source = source_of({{0, 1, most}, {0, 1, most}}, true);
  EXPECT_THROW(sort_rows(source, {.weighted = true, .num_rows = 2, .num_sources = 2}), InputError);
  PairSource kept = source_of({{0, 1, most}, {0, 1, most}}, true);
  EXPECT_NO_THROW(
      sort_rows(kept, {.duplicates = Duplicates::keep, .weighted = true, .num_rows = 2, .num_sources = 2}));
}

}  // namespace
}  // namespace tessera
