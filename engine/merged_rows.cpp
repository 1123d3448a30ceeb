// See merged_rows.hpp. Two passes over the rows: their lengths, then their edges.
#include "engine/merged_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "kernels/base/error.hpp"
#include "partition/run_together.hpp"

namespace tessera {
namespace {

/// Edges of one row of one graph, columns ascending.
struct RowEdges {
  const VertexId* columns;
  const double* weights;
  EdgeOffset length;

  RowEdges(const Graph& graph, std::uint64_t row)
      : columns(graph.col_indices.data() + graph.row_offsets[row]),
        weights(graph.weighted ? graph.weights.data() + graph.row_offsets[row] : nullptr),
        length(graph.row_offsets[row + 1] - graph.row_offsets[row]) {}
};

/// visit(column, is_new) for all columns of both in order; one that a row repeats comes again and is not new.
/// Without a branch that depends on them.
template <class Visit>
void merge_columns(const RowEdges& a, const RowEdges& b, const Visit& visit) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  EdgeOffset i = 0, j = 0;
  std::uint64_t last = kNone;
  const auto take = [&](std::uint64_t column) {
    visit(static_cast<VertexId>(column), column != last);
    last = column;
  };
  while (i < a.length && j < b.length) {
    const std::uint64_t left = a.columns[i], right = b.columns[j];
    take(std::min(left, right));
    i += left <= right;
    j += right <= left;
  }
  for (; i < a.length; ++i) take(a.columns[i]);
  for (; j < b.length; ++j) take(b.columns[j]);
}

/// visit(column, weight) for all edges of both in order, loops of `turned` left out. Of equal columns those
/// of earlier rows of the graph come first: where the column is before the row, turned edges.
template <class Visit>
void merge_edges(VertexId row, const RowEdges& own, const RowEdges& turned, const Visit& visit) {
  EdgeOffset i = 0, j = 0;
  const auto take_own = [&] {
    visit(own.columns[i], own.weights == nullptr ? 0 : own.weights[i]);
    ++i;
  };
  const auto take_turned = [&] {
    if (turned.columns[j] != row) visit(turned.columns[j], turned.weights == nullptr ? 0 : turned.weights[j]);
    ++j;
  };
  while (i < own.length && j < turned.length) {
    const VertexId left = own.columns[i], right = turned.columns[j];
    left < right || (left == right && left > row) ? take_own() : take_turned();
  }
  while (i < own.length) take_own();
  while (j < turned.length) take_turned();
}

class Merging {
 public:
  Merging(const Graph& graph, const Graph& turned, Duplicates duplicates, Graph& result)
      : graph_(graph), turned_(turned), duplicates_(duplicates), result_(result) {}

  void run() {
    const std::uint64_t num_rows = graph_.num_local_rows;
    result_.row_offsets = Buffer<EdgeOffset>(num_rows + 1);
    EdgeOffset* const offsets = result_.row_offsets.data();
    offsets[0] = 0;
    for_each_row([&](std::uint64_t row) { offsets[row + 1] = length_of(row); });
    std::inclusive_scan(offsets, offsets + num_rows + 1, offsets);
    result_.col_indices = Buffer<VertexId>(offsets[num_rows]);
    if (graph_.weighted) result_.weights = Buffer<double>(offsets[num_rows]);
    std::atomic<bool> overflows = false;
    for_each_row([&](std::uint64_t row) {
      if (!fill(row)) overflows = true;
    });
    if (overflows)
      throw InputError("the weights of a repeated edge add up to more than a double holds; scale them down");
  }

 private:
  template <class Work>
  void for_each_row(const Work& work) const {
    const std::uint64_t num_rows = graph_.num_local_rows;
#pragma omp parallel for schedule(dynamic, 512)
    for (std::uint64_t row = 0; row < num_rows; ++row) work(row);
  }
  bool keeps() const { return duplicates_ == Duplicates::keep; }

  EdgeOffset length_of(std::uint64_t row) const {
    const RowEdges own(graph_, row), turned(turned_, row);
    EdgeOffset length = 0;
    if (keeps())
      merge_edges(id_of(row), own, turned, [&](VertexId, double) { ++length; });
    else
      merge_columns(own, turned, [&](VertexId, bool is_new) { length += is_new; });
    return length;
  }
  /// False where weights are too large together.
  bool fill(std::uint64_t row) {
    const RowEdges own(graph_, row), turned(turned_, row);
    const EdgeOffset first = result_.row_offsets[row];
    VertexId* const columns = result_.col_indices.data() + first;
    EdgeOffset count = 0;
    if (!graph_.weighted && !keeps()) {
      merge_columns(own, turned, [&](VertexId column, bool is_new) {
        count += is_new;
        columns[count - 1] = column;
      });
      return true;
    }
    double* const weights = graph_.weighted ? result_.weights.data() + first : nullptr;
    bool is_finite = true;
    merge_edges(id_of(row), own, turned, [&](VertexId column, double weight) {
      if (keeps() || count == 0 || columns[count - 1] != column) {
        columns[count] = column;
        if (weights != nullptr) weights[count] = weight;
        ++count;
      } else if (duplicates_ == Duplicates::merge) {
        weights[count - 1] += weight;
        is_finite = is_finite && !std::isinf(weights[count - 1]);
      }
    });
    return is_finite;
  }

  VertexId id_of(std::uint64_t row) const { return static_cast<VertexId>(graph_.first_row + row); }

  const Graph& graph_;
  const Graph& turned_;
  const Duplicates duplicates_;
  Graph& result_;
};

}  // namespace

void merge_rows(const Graph& graph, const Graph& turned, Duplicates duplicates, Graph& result,
                Communicator& comm) {
  require(graph.first_row == turned.first_row && graph.num_local_rows == turned.num_local_rows,
          "a graph and its edges turned round are cut alike");
  result.first_row = graph.first_row;
  result.num_local_rows = graph.num_local_rows;
  run_together(comm, [&] { Merging(graph, turned, duplicates, result).run(); });
  result.num_edges = all_sum(comm, std::uint64_t{result.col_indices.size()});
}

}  // namespace tessera
