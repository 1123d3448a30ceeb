// Packs rows into the tile-composite format (paper 3.1).
#pragma once
#include <span>

#include "engine/column_order.hpp"
#include "engine/perf_table.hpp"
#include "kernels/backend.hpp"
#include "kernels/csr_view.hpp"
#include "kernels/tile_composite.hpp"

namespace tessera {

/// Row i of the result is row `rows[i]` of `csr` (columns: vertex ids, ascending or at least in one fixed
/// order; this order is kept inside each tile). Columns without a slot must not occur.
/// `columns.kind` must be by_length. Workload sizes follow from the row lengths in each tile, `limits` and
/// `table`; they do not change what a product gives. Parallel; besides the result it needs about 2 bytes
/// (weighted: + sizeof(S)) an edge and 16 bytes a (row, tile) pair.
template <class S>
TileComposite<S> build_tile_composite(const CsrView<double>& csr, std::span<const VertexId> rows,
                                      const ColumnOrder& columns, const TilingLimits& limits,
                                      const PerfTable& table);

/// The same rows as plain CSR with columns turned into slots.
template <class S>
CsrMatrix<S> build_csr_matrix(const CsrView<double>& csr, std::span<const VertexId> rows,
                              const ColumnOrder& columns);

}  // namespace tessera
