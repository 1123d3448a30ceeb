// Degrees and facts about a graph's shape (graph_stats.hpp).
#include "engine/graph_stats.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/column_counts.hpp"
#include "engine/column_sums.hpp"
#include "engine/graph_builder.hpp"
#include "kernels/base/exact_sum.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

/// The source of every edge of this rank.
std::span<const VertexId> columns_of(const Graph& graph) { return graph.col_indices.span(); }

/// to_value(number) of each, by all threads.
template <class To, class From, class ToValue>
Buffer<To> mapped(const Buffer<From>& numbers, const ToValue& to_value) {
  Buffer<To> result(numbers.size());
  const auto count = static_cast<std::int64_t>(numbers.size());
#pragma omp parallel for
  for (std::int64_t i = 0; i < count; ++i) result[i] = to_value(numbers[i]);
  return result;
}
template <class To, class From>
Buffer<To> converted(const Buffer<From>& numbers) {
  return mapped<To>(numbers, [](const From& number) { return static_cast<To>(number); });
}

/// The larger one, where sums_by_column adds.
struct Largest {
  double value = 0;
  Largest& operator+=(const Largest& other) {
    value = std::max(value, other.value);
    return *this;
  }
};

/// Of each vertex the power of two that brings its largest out-weight below 1, to 1/2 or more (less where
/// that is subnormal). Collective.
Buffer<double> units_of_sources(const Graph& graph, Communicator& comm) {
  Buffer<double> units;
  run_together(comm, [&] {
    const auto largest =
        sums_by_column<Largest>(columns_of(graph), graph.num_vertices, [&](Largest& most, std::uint64_t e) {
          most.value = std::max(most.value, std::abs(graph.weights[e]));
        });
    units = mapped<double>(largest, [](const Largest& most) { return most.value; });
  });
  comm.all_max(units.span());
  constexpr int kMostExponent = std::numeric_limits<double>::max_exponent - 1;
  return mapped<double>(units, [&](double unit) {
    return unit == 0 ? 1 : std::ldexp(1.0, std::min(-std::ilogb(unit) - 1, kMostExponent));
  });
}

double gini(Buffer<std::uint64_t> degrees, double num_edges) {
  if (num_edges == 0) return 0;
  tbb::parallel_sort(degrees.begin(), degrees.end());
  const auto n = static_cast<double>(degrees.size());
  double weighted = 0;
  for (std::size_t i = 0; i < degrees.size(); ++i)
    weighted += static_cast<double>(i + 1) * static_cast<double>(degrees[i]);
  return 2 * weighted / (n * num_edges) - (n + 1) / n;
}

double top_1_percent(Buffer<std::uint64_t> degrees, double num_edges) {
  if (num_edges == 0) return 0;
  const auto top = static_cast<std::ptrdiff_t>(ceil_div<std::size_t>(degrees.size(), 100));
  std::nth_element(degrees.begin(), degrees.begin() + top - 1, degrees.end(), std::greater<>());
  std::uint64_t sum = 0;
  for (std::ptrdiff_t i = 0; i < top; ++i) sum += degrees[i];
  return static_cast<double>(sum) / num_edges;
}

std::vector<std::uint64_t> histogram(const Buffer<std::uint64_t>& degrees) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t degree : degrees) {
    const auto k = static_cast<std::size_t>(std::bit_width(degree));
    if (k >= counts.size()) counts.resize(k + 1, 0);
    ++counts[k];
  }
  return counts;
}

Buffer<std::uint64_t> row_lengths(const Buffer<EdgeOffset>& offsets) {
  Buffer<std::uint64_t> lengths(offsets.empty() ? 0 : offsets.size() - 1);
  const auto num_rows = static_cast<std::int64_t>(lengths.size());
#pragma omp parallel for
  for (std::int64_t row = 0; row < num_rows; ++row) lengths[row] = offsets[row + 1] - offsets[row];
  return lengths;
}

/// Adds up the ranks' counts, which all together are `most` or less: where that has 32 bits, two in a number.
void add_up(Buffer<std::uint64_t>& counts, std::uint64_t most, Communicator& comm) {
  constexpr std::uint64_t kLow = std::numeric_limits<std::uint32_t>::max();
  if (comm.size() == 1) return;
  if (most > kLow) return comm.all_sum(counts.span());
  Buffer<std::uint64_t> pairs(ceil_div<std::uint64_t>(counts.size(), 2));
  const std::uint64_t half = pairs.size(), others = counts.size() - half;
#pragma omp parallel for
  for (std::uint64_t i = 0; i < half; ++i) pairs[i] = counts[i] | (i < others ? counts[half + i] << 32 : 0);
  comm.all_sum(pairs.span());
#pragma omp parallel for
  for (std::uint64_t i = 0; i < half; ++i) {
    counts[i] = pairs[i] & kLow;
    if (i < others) counts[half + i] = pairs[i] >> 32;
  }
}

/// The same columns, repeated ones aside.
bool same_row(std::span<const VertexId> a, std::span<const VertexId> b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] != b[j]) return false;
    const VertexId column = a[i];
    while (i < a.size() && a[i] == column) ++i;
    while (j < b.size() && b[j] == column) ++j;
  }
  return i == a.size() && j == b.size();
}

bool is_symmetric(const Graph& graph, Communicator& comm) {
  const Graph turned = transposed(graph, comm);
  auto row = [](const Graph& g, std::uint64_t r) {
    return g.col_indices.span().subspan(g.row_offsets[r], g.row_offsets[r + 1] - g.row_offsets[r]);
  };
  std::uint64_t differing = 0;
  for (std::uint64_t r = 0; r < graph.num_local_rows && differing == 0; ++r)
    differing = same_row(row(graph, r), row(turned, r)) ? 0 : 1;
  return all_max(comm, differing) == 0;
}

}  // namespace

Buffer<std::uint64_t> in_degrees(const Graph& graph, Communicator& comm) {
  if (graph.mapped && graph.mapped->directions == Directions::same)
    return row_lengths(graph.mapped->rows->row_offsets);
  Buffer<std::uint64_t> mine = row_lengths(graph.row_offsets);
  if (comm.size() == 1) return mine;
  const auto boundaries = block_boundaries(graph.num_vertices, comm.size());
  std::vector<std::uint64_t> counts;
  for (int r = 0; r < comm.size(); ++r) counts.push_back(boundaries[r + 1] - boundaries[r]);
  Buffer<std::uint64_t> all(graph.num_vertices);
  all_gather(comm, std::span<const std::uint64_t>(mine), all.span(), counts);
  return all;
}

Buffer<std::uint64_t> out_degrees(const Graph& graph, Communicator& comm) {
  Buffer<std::uint64_t> degrees;
  run_together(comm, [&] { degrees = column_counts(columns_of(graph), graph.num_vertices); });
  add_up(degrees, graph.num_edges, comm);
  return degrees;
}

GraphDegrees graph_degrees(const Graph& graph, Communicator& comm) {
  Buffer<std::uint64_t> in = in_degrees(graph, comm);
  Buffer<std::uint64_t> out = graph.is_symmetric ? in.clone() : out_degrees(graph, comm);
  return {std::move(in), std::move(out)};
}

Buffer<double> out_weights(const Graph& graph, Communicator& comm, const GraphDegrees* degrees) {
  if (!graph.weighted)
    return degrees != nullptr ? converted<double>(degrees->out) : converted<double>(out_degrees(graph, comm));
  // Sums are of terms below 1, so that each is exact beside the largest weight of its own vertex, however
  // weights of others differ, and none overflows on the way.
  const Buffer<double> units = units_of_sources(graph, comm);
  const ExactScale scale(1);
  Buffer<WideExactSum> sums;
  run_together(comm, [&] {
    sums = sums_by_column<WideExactSum>(columns_of(graph), graph.num_vertices,
                                        [&](WideExactSum& sum, std::uint64_t e) {
                                          scale.add(graph.weights[e] * units[graph.col_indices[e]], sum);
                                        });
  });
  static_assert(sizeof(WideExactSum) == WideExactSum::kFolds * sizeof(std::int64_t));
  comm.all_sum(std::span(sums.empty() ? nullptr : sums[0].limbs, sums.size() * WideExactSum::kFolds));
  Buffer<double> weights(sums.size());
  const auto num_vertices = static_cast<std::int64_t>(sums.size());
#pragma omp parallel for
  for (std::int64_t v = 0; v < num_vertices; ++v) weights[v] = scale.value(sums[v]) / units[v];
  return weights;
}

GraphStats graph_stats(const Graph& graph, Communicator& comm) {
  const Buffer<std::uint64_t> in = in_degrees(graph, comm), out = out_degrees(graph, comm);
  GraphStats stats;
  stats.num_vertices = graph.num_vertices;
  stats.num_edges = graph.num_edges;
  const auto num_edges = static_cast<double>(graph.num_edges);
  for (std::size_t v = 0; v < in.size(); ++v) {
    stats.max_in_degree = std::max(stats.max_in_degree, in[v]);
    stats.max_out_degree = std::max(stats.max_out_degree, out[v]);
    stats.dangling += out[v] == 0;
    stats.sources_only += in[v] == 0;
    stats.isolated += in[v] == 0 && out[v] == 0;
  }
  if (!in.empty()) stats.mean_degree = num_edges / static_cast<double>(in.size());
  stats.gini_in = gini(in.clone(), num_edges);
  stats.gini_out = gini(out.clone(), num_edges);
  stats.top_1_percent_in = top_1_percent(in.clone(), num_edges);
  stats.top_1_percent_out = top_1_percent(out.clone(), num_edges);
  stats.symmetric = is_symmetric(graph, comm);
  stats.in_degree_histogram = histogram(in);
  stats.out_degree_histogram = histogram(out);
  return stats;
}

}  // namespace tessera
