// y = A x on a device, for both matrix forms, one vector or a block. All pointers are device memory, but
// for `host_tiles`: the tile list as the host sees it, which decides the launches.
//
// The sum of a row is the format's (kernels/tile_composite_view.hpp): 8 interleaved accumulators in double,
// then a fixed tree, tiles in order. So y has the bits that the CPU gives for the same matrix.
#pragma once
#include "kernels/csr_view.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {

/// x: num_slots * num_vectors with zeros in the zero slots; y: num_rows * num_vectors, overwritten.
template <class S>
void spmv(const TileCompositeView<S>& a, const Tile* host_tiles, const S* x, double* y, unsigned num_vectors);

/// x: num_cols * num_vectors; y: num_rows * num_vectors, overwritten.
template <class S>
void spmv(const CsrView<S>& a, const S* x, double* y, unsigned num_vectors);

/// Real columns of a tile whose part of x, with the zero slot, fills a block's shared memory.
template <class S>
std::uint32_t shared_tile_columns();

}  // namespace tessera::cuda
