// The tile-composite format of the paper (3.1, solutions 1 to 3) as kernels see it, and the one place
// where the position of an element is computed.
//
// x lives in "slots": the columns in solver order (longest first), cut into tiles; after the columns of
// each tile comes one slot that always holds 0, to which padding points. Dense tiles have at most 65,535
// columns, so an offset inside a tile takes 16 bits; the sparse remainder is one more tile with 32-bit
// offsets. A row that has elements in a tile occurs in exactly one workload of it.
#pragma once
#include "kernels/base/host_device.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

/// The sum of one row inside one tile: its elements are cut into chunks of kSumChunk (a device gives each to
/// other threads); element k of a chunk goes to accumulator k mod kSumLanes, in order; the accumulators are
/// added as a fixed tree, and the chunks one after the other. The value of a row therefore follows from the
/// row alone, not from how rows are packed into workloads or dealt to threads and ranks. Layouts and padding
/// cannot change it, because padding adds +0.
inline constexpr unsigned kSumLanes = 8;
inline constexpr unsigned kSumChunk = 256;

enum class Layout : std::uint8_t {
  row_major,     ///< CSR-vector: a row's elements are adjacent; used where width > height
  column_major,  ///< ELL: the k-th elements of all rows are adjacent
};

/// One w x h rectangle: one task on a CPU; on a GPU, where the paper has a warp (3.1, solution 3), a warp
/// takes some rows of one (kernels/cuda/cuda_spmv_tile.cu).
struct Workload {
  EdgeOffset first_element = 0;  ///< into the tile's offset array (and values)
  std::uint64_t first_row = 0;   ///< into row_ids; rows of a workload are adjacent there
  VertexId num_rows = 0;         ///< real rows, <= height
  std::uint32_t width = 0;       ///< stored elements a row, padding included
  std::uint32_t height = 0;      ///< stored rows, padding included
  Layout layout = Layout::row_major;
};

/// Position of element k of row `row` of a workload. The layout formula, written once.
TESSERA_HD inline EdgeOffset element_index(const Workload& w, std::uint64_t row, std::uint64_t k) {
  const EdgeOffset local = w.layout == Layout::row_major ? row * w.width + k : k * w.height + row;
  return w.first_element + local;
}

struct Tile {
  std::uint64_t first_slot = 0;      ///< of x
  std::uint64_t num_columns = 0;     ///< real columns; the zero slot is first_slot + num_columns
  std::uint64_t first_workload = 0;  ///< into workloads
  std::uint64_t num_workloads = 0;
  bool wide = false;  ///< offsets are in offsets32 (the remainder), else in offsets16
};

/// `values` arrays run parallel to the offset arrays; null when the matrix is pattern-only.
template <class S>
struct TileCompositeView {
  std::uint64_t num_rows = 0;   ///< length of y (local rows of this rank)
  std::uint64_t num_slots = 0;  ///< length of x
  const Tile* tiles = nullptr;
  std::uint64_t num_tiles = 0;
  const Workload* workloads = nullptr;
  const VertexId* row_ids = nullptr;  ///< local row of each packed row
  const std::uint16_t* offsets16 = nullptr;
  const std::uint32_t* offsets32 = nullptr;
  const S* values16 = nullptr;
  const S* values32 = nullptr;
};

}  // namespace tessera
