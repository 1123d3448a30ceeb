// Rows of a whole graph in a file that all ranks have mapped: what one of them wants of another's it need not
// be sent.
#pragma once
#include <memory>

#include "kernels/base/buffer.hpp"
#include "kernels/base/types.hpp"
#include "kernels/directions.hpp"

namespace tessera {

/// In-edges, as a Graph has them.
struct MappedRows {
  Buffer<EdgeOffset> row_offsets;  ///< num_vertices + 1
  Buffer<VertexId> col_indices;
  Buffer<double> weights;  ///< empty when unweighted
};

/// The edges of a graph, all ranks' together, are these rows' in such directions.
struct MappedEdges {
  std::shared_ptr<const MappedRows> rows;
  Directions directions = Directions::same;
};

}  // namespace tessera
