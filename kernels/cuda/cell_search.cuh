// Where the messages of each cell begin, and the rows of each bin.
#pragma once
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/cuda/ascending_search.cuh"
#include "kernels/cuda/build_kernels.cuh"
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/message_order.cuh"
#include "kernels/message_bins.hpp"

namespace tessera::cuda {

/// Messages as they are cut, and the rows with messages.
struct CellSearch {
  CutOrder cut;
  std::uint32_t num_tiles, num_bins;
  BinEdge* bins;           ///< result, too: where each begins, and the end
  const VertexId* linked;  ///< rows with messages, ascending
  std::uint64_t num_linked;
  std::uint32_t* firsts;      ///< result: first message of each cell, tile after tile, and the end
  std::uint32_t* first_rows;  ///< result: first of the rows of each bin, and the end

  __host__ __device__ std::uint64_t num_cells() const { return std::uint64_t{num_tiles} * num_bins; }
  __host__ __device__ std::uint64_t count() const { return num_cells() + num_bins + 2; }
  __host__ __device__ std::uint32_t* place(std::uint64_t i) const {
    return i <= num_cells() ? firsts + i : first_rows + (i - num_cells() - 1);
  }
  /// What is to be stored there. edges: of bins.
  template <class Search>
  __host__ __device__ std::uint32_t find(std::uint64_t i, const BinEdge* edges, const Search& search) const {
    if (i == num_cells()) return static_cast<std::uint32_t>(cut.count);
    if (i == count() - 1) return static_cast<std::uint32_t>(num_linked);
    if (i > num_cells()) {
      const VertexId row = edges[i - num_cells() - 1].row;
      return static_cast<std::uint32_t>(
          search(0, num_linked, [=, this](std::uint64_t r) { return linked[r] < row; }));
    }
    const auto tile = static_cast<std::uint32_t>(i / num_bins);
    const VertexId row = edges[i % num_bins].row;
    return static_cast<std::uint32_t>(
        search(cut.begin_of(tile), cut.end_of(tile),
               [=, this](std::uint64_t m) { return cut.is_below(m, tile, row); }));
  }
};

inline constexpr unsigned kCellSearchThreads = 256;

/// A warp each or, where kLanes is 1, a thread. sent: the bins, if it has room for them, which are stored
/// then.
template <unsigned kLanes>
__global__ void __launch_bounds__(kCellSearchThreads)
    find_cells_kernel(CellSearch cells, const __grid_constant__ SentWords sent, bool are_sent) {
  wait_for_kernels_before();
  using Search = std::conditional_t<kLanes == 1, SearchByHalves, SearchByWarp>;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * kCellSearchThreads + threadIdx.x,
                      i = thread / kLanes;
  if (i >= cells.count()) return;
  const BinEdge* const edges = are_sent ? reinterpret_cast<const BinEdge*>(sent.words) : cells.bins;
  if (are_sent && thread <= cells.num_bins) cells.bins[thread] = edges[thread];
  const std::uint32_t found = cells.find(i, edges, Search{});
  if (threadIdx.x % kLanes == 0) *cells.place(i) = found;
}

/// edges: bins, as the host has them, and the end.
template <class Memory>
void find_cells(const CellSearch& cells, const std::vector<BinEdge>& edges) {
  const std::size_t num_bytes = edges.size() * sizeof(BinEdge);
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    SentWords sent;
    const bool are_sent = SentWords::take(cells.bins, num_bytes);
    if (are_sent)
      std::memcpy(sent.words, edges.data(), num_bytes);
    else
      Memory::upload(edges.data(), cells.bins, num_bytes);
    const bool are_few = cells.count() <= kFewSearches;
    const std::uint64_t num_threads = cells.count() * (are_few ? 32 : 1);
    launch_early(are_few ? find_cells_kernel<32> : find_cells_kernel<1>,
                 static_cast<unsigned>(ceil_div<std::uint64_t>(num_threads, kCellSearchThreads)),
                 kCellSearchThreads, 0, cells, sent, are_sent);
  } else {
    Memory::upload(edges.data(), cells.bins, num_bytes);
    for (std::uint64_t i = 0; i < cells.count(); ++i)
      *cells.place(i) = cells.find(i, edges.data(), SearchByHalves{});
  }
}

}  // namespace tessera::cuda
