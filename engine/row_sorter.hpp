// From edges in any order to compressed sparse rows: dealt into buckets (edge_buckets.hpp), each bucket
// sorted in cache and written to its place. Local to a rank; uses all threads.
#pragma once
#include "engine/edge_source.hpp"
#include "engine/graph_options.hpp"
#include "engine/key_set.hpp"

namespace tessera {

struct RowSortOptions {
  EdgeRules rules{};
  Duplicates duplicates = Duplicates::merge;
  bool weighted = false;
  /// Targets are in [first_row, first_row + num_rows), sources in [0, num_sources).
  std::uint32_t first_row = 0;
  std::uint64_t num_rows = 0, num_sources = 0;
  /// Not null: sources and targets are keys of this set, and their ranks are the ids (first_row is 0).
  const KeySet* keys = nullptr;
};

struct SortedRows {
  Buffer<EdgeOffset> row_offsets;
  Buffer<VertexId> col_indices;
  Buffer<double> weights;        ///< empty when unweighted
  std::uint64_t self_loops = 0;  ///< found in the source
  std::uint64_t duplicate_edges = 0;
};

/// Rows ascending by column; equal columns that are kept stay in the order of the source. Throws InputError
/// where merged weights overflow.
template <class Source>
SortedRows sort_rows(Source& source, const RowSortOptions& options);

}  // namespace tessera
