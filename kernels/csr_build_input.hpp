// What a device needs to build CSR itself: what build_csr_matrix (engine/tile_composite_builder.hpp) takes,
// in host memory.
#pragma once
#include <span>

#include "kernels/csr_view.hpp"
#include "kernels/directions.hpp"

namespace tessera {

struct CsrBuildInput {
  CsrView<double> csr;  ///< columns: vertex ids
  Directions directions = Directions::same;
  std::span<const VertexId> rows;            ///< row i of the result is row rows[i] of the matrix
  const VertexId* slot_of_column = nullptr;  ///< of all columns of the matrix
  std::uint64_t num_slots = 0;               ///< length of x
};

}  // namespace tessera
