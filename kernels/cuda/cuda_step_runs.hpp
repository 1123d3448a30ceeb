// Runs of steps (Backend::run_rank_steps, run_pair_steps) on a device, as the host starts them and finds how
// long they were. Host code.
#pragma once
#include <cstdint>

#include "kernels/backend.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/device_sums.hpp"

namespace tessera::cuda {

/// `vectors`: of run_vectors(). Throws InternalError for a matrix whose steps do not run.
template <class S>
void start_run(const Matrix<S>& matrix, const RankRun& run, const RankVectors<S>& vectors,
               const ExactScale& bound, bool squares, const SumsOutbox& box);
template <class S>
void start_run(const PairSide<S> (&sides)[2], const PairRun& run, const ExactScale& bound, bool squares,
               const SumsOutbox& box);

/// What the rows of a run are kept in.
enum class RunKind { none, registers, windows };
template <class S>
RunKind kind_of_run(const RunMatrix<S>& rows);
/// `none`: those of one are not in registers, and windows of both do not fit together, or are not there.
template <class S>
RunKind kind_of_run(const RunMatrix<S>& one, const RunMatrix<S>& other);

/// From `start` to `score`, another vector of its size; inputs go to `places`.
template <class S>
RankVectors<S> run_vectors(const Buffer<S>& start, const Buffer<S>& jump, const RowScale<S>& scale,
                           const InputPlaces& places, Buffer<S>& score);

/// Sums of the run that `mailbox` was opened for under this number, up to the step that ends it by its own
/// rule.
PendingSteps steps_of(const RankRun& run, const ExactScale& bound, SumsMailbox& mailbox,
                      std::uint32_t number);
PendingSteps steps_of(const PairRun& run, const ExactScale& bound, SumsMailbox& mailbox,
                      std::uint32_t number);

}  // namespace tessera::cuda
