// y = A x on the CPU, for every matrix form, one vector or a block. OpenMP over workloads (or rows); the
// bits of y do not depend on the number of threads.
#pragma once
#include "kernels/csr_view.hpp"
#include "kernels/tile_composite_view.hpp"
#include "kernels/tile_messages_view.hpp"

namespace tessera::cpu {

/// x: num_slots * num_vectors with zeros in the zero slots; y: num_rows * num_vectors, overwritten.
template <class S>
void spmv(const TileCompositeView<S>& a, const S* x, double* y, unsigned num_vectors);

/// As above, but rows without elements are left as they are. Slow: it says what a device must compute.
template <class S>
void spmv(const TileMessagesView<S>& a, const S* x, double* y, unsigned num_vectors);

/// x: num_cols * num_vectors; y: num_rows * num_vectors, overwritten.
template <class S>
void spmv(const CsrView<S>& a, const S* x, double* y, unsigned num_vectors);

}  // namespace tessera::cpu
