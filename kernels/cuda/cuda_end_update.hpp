// The second pass of a tile-messages product that ends in an update: what a row adds up to becomes its new
// score where it is, in shared memory, and no product is written.
#pragma once
#include "kernels/backend.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/cuda_vector_ops.hpp"

namespace tessera::cuda {

/// Bins of a matrix as this pass sees them (kernels/cuda/bin_rows.hpp); device memory.
template <class S>
struct EndingBins {
  SlicePassView<S> bins;
  SliceShares shares;  ///< of whole bins
  const std::uint16_t* first_messages = nullptr;
  const std::uint32_t* first_rows = nullptr;
  const VertexId* positions = nullptr;
};

/// A matrix whose products can end in updates. See Backend::end_with_update; `vectors` without y and jump.
/// Sends the sums by `box`.
template <class S>
class EndsWithUpdates {
 public:
  virtual ~EndsWithUpdates() = default;
  virtual void end_with_update(const EndingUpdate& update, const RankVectors<S>& vectors,
                               const ExactScale& bound, bool squares, const SumsOutbox& box) const = 0;
};

/// The same, of these bins.
template <class S>
void end_with_update(const EndingBins<S>& bins, const S* messages, const EndingUpdate& update,
                     const RankVectors<S>& vectors, const ExactScale& bound, bool squares,
                     const SumsOutbox& box);

}  // namespace tessera::cuda
