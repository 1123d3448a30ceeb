// Brings matrix rows from the block of ids that a rank loaded to the rank that multiplies with them, or
// from where all lie.
#pragma once
#include <span>
#include <vector>

#include "engine/graph.hpp"
#include "engine/vertex_distribution.hpp"
#include "partition/communicator.hpp"

namespace tessera {

/// The rows of a matrix as loading left them: one or two blocks of rows a rank. `second` is null, or holds
/// the rows n .. 2n-1 of a block matrix. first_row[r] is where rank r's block begins (num_ranks + 1 entries);
/// both blocks are cut alike.
struct LoadedRows {
  const Graph* first = nullptr;
  const Graph* second = nullptr;
  VertexId first_column_shift = 0;  ///< added to the columns of `first`
  bool is_turned = false;           ///< the matrix has the edges of `first`, alone, turned round
  std::vector<std::uint64_t> first_row;
};

/// Of one graph. Collective.
LoadedRows loaded_rows(const Graph& graph, Communicator& comm);

/// Rows in local order, with columns as vertex ids.
struct LocalRows {
  Buffer<EdgeOffset> row_offsets;
  Buffer<VertexId> col_indices;
  Buffer<double> values;  ///< empty when the matrix is pattern-only
};

/// Collective. row_lengths: of the whole matrix.
LocalRows exchange_rows(const LoadedRows& loaded, const VertexDistribution& rows,
                        std::span<const std::uint64_t> row_lengths, Communicator& comm);

/// Copies of these rows of a matrix, in that order.
LocalRows copied_rows(const CsrView<double>& matrix, std::span<const VertexId> rows);

}  // namespace tessera
