// A graph's matrix made ready where its edges already are: in the memory of a device.
#pragma once
#include "kernels/base/buffer.hpp"
#include "kernels/message_bins.hpp"
#include "kernels/tile_messages.hpp"

namespace tessera::cuda {

/// Pattern of a square matrix; columns of a row ascend. Buffers in the memory that the name of a function
/// says.
struct PatternCsr {
  std::uint64_t num_vertices = 0;
  Buffer<EdgeOffset> row_offsets;  ///< num_vertices + 1
  Buffer<VertexId> col_indices;
  /// Elements with columns in each range of key_ranges.hpp, where these are known.
  Buffer<std::uint32_t> columns_in_ranges{};
};

struct PreparationOptions {
  bool by_length = true;           ///< longest columns first; else in the order as given
  std::uint32_t tile_columns = 0;  ///< of a tile, 1 to 65,535
  BinLimits bins;
  /// From so many elements on columns are dealt or grouped by their upper bits and then counted
  /// (docs/performance.md).
  std::uint64_t least_dealt = std::uint64_t{1} << 23;
};

/// The tile-messages form of a graph for one device, in solver order.
template <class S>
struct PreparedMessages {
  TileMessages<S> matrix;
  Buffer<VertexId> rows;            ///< row i of the matrix is vertex rows[i]
  Buffer<VertexId> slot_of_column;  ///< where each vertex is in x; kNoVertex: nowhere
};

/// rows, cols: num_edges vertices < num_vertices each, in device memory, in any order; an edge that is there
/// twice counts once. About 10 bytes an edge of device memory meanwhile beside these, 20 of more than 2^26
/// vertices. Throws ResourceError when that is too much.
PatternCsr csr_on_device(std::uint64_t num_vertices, std::uint64_t num_edges, const VertexId* rows,
                         const VertexId* cols);

/// csr: in device memory. The result, in device memory too, has the bytes that engine/column_order,
/// engine/vertex_distribution (of one rank) and engine/tile_messages_builder give. About 21 bytes an edge of
/// device memory meanwhile, 24 of more than 1,024 tiles, 2^30 edges or 2^29 vertices, up to 40 of up to 2^26
/// edges with few for each message; at least 10 an edge and 36 a vertex.
/// Throws ResourceError when that is too much, or when a row sends more messages than a bin takes.
template <class S>
PreparedMessages<S> prepare_on_device(const PatternCsr& csr, const PreparationOptions& options);

}  // namespace tessera::cuda
