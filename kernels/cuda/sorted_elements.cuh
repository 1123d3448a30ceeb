// A pattern's elements in any order, some of them repeated, to compressed sparse rows, in any memory.
#pragma once
#include <type_traits>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/cuda/build_runs.cuh"
#include "kernels/cuda/edge_sort.cuh"

namespace tessera::cuda {

template <class Memory>
SortedElements<Memory> sorted_elements(std::uint64_t num_vertices, std::uint64_t num_edges,
                                       const VertexId* rows, const VertexId* cols) {
  // What follows is for the host's memory, for ids of more bits and for no edges.
  if constexpr (std::is_same_v<Memory, DeviceMemory>)
    if (num_edges > 0 && EdgeDigits::fit(num_vertices))
      return EdgeSort(num_vertices, num_edges, rows, cols).run();
  const unsigned bits = num_vertices < 2 ? 0 : bits_for(num_vertices - 1);
  BuildVector<Memory, VertexId> sorted_rows(num_edges), sorted_cols(num_edges);
  Memory::copy_sorted(cols, rows, sorted_cols, sorted_rows, bits);
  Memory::sort(sorted_rows, sorted_cols, 0, bits);
  const VertexId *row = sorted_rows.data(), *col = sorted_cols.data();
  const auto edges = find_runs<Memory>(num_edges, [=] __host__ __device__(std::uint64_t e) {
    const std::uint64_t before = e == 0 ? 0 : e - 1;
    const bool same_row = row[e] == row[before], same_col = col[e] == col[before];
    return e == 0 || !(same_row & same_col);
  });
  BuildVector<Memory, VertexId> col_indices(edges.size());
  // Where rows end; rows without elements end where the one before does.
  auto ends = Memory::template zeros<EdgeOffset>(num_vertices + 1);
  VertexId* to = col_indices.data();
  EdgeOffset* end = ends.data();
  edges.each([=] __host__ __device__(std::uint64_t e, std::uint32_t edge, bool begins) {
    if (begins) to[edge] = col[e];
    if (e + 1 == num_edges || row[e + 1] != row[e]) end[row[e] + 1] = EdgeOffset{edge} + 1;
  });
  raise(ends);
  return {std::move(ends), std::move(col_indices)};
}

}  // namespace tessera::cuda
