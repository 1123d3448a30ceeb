// Owned rows of a pattern in host memory.
#pragma once
#include "kernels/base/buffer.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// Columns of a row ascend.
struct PatternRows {
  Buffer<EdgeOffset> row_offsets;  ///< from 0, and the end
  Buffer<VertexId> col_indices;
};

}  // namespace tessera
