// A step of walks in one kernel: a product of several vectors (row_run_sums.cuh), and behind each run the
// update of its rows, whose sums never go to memory as doubles. The bits are those of the product and the
// update by itself (walk_kernel in cuda_vector_ops.cuh).
#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/block_changes.cuh"
#include "kernels/cuda/row_run_sums.cuh"
#include "kernels/extrapolation.hpp"

namespace tessera::cuda {

/// Rows that a thread has under way in an update.
inline constexpr unsigned kStepRows = 4;

/// What a step makes of vector q of rows first to end is in step.vectors.walk, written by this thread: what
/// is left of their update. kFurther: walks have an origin.
template <bool kSquares, bool kFurther, class S>
__device__ void finish_rows(const WalkStep<S>& step, const WalkWeights<kFurther>& weights, VertexId first,
                            VertexId end, unsigned q, const BlockChanges<kSquares>& changes) {
  const WalkVectors<S>& v = step.vectors;
  ThreadSums sums;
  for (VertexId row = first; row < end; row += kStepRows) {
    S stored[kStepRows], old[kStepRows], origin[kStepRows], scale[kStepRows];
    // Without branches, so that all loads are under way at once: behind the last row those of the last.
#pragma unroll
    for (unsigned j = 0; j < kStepRows; ++j) {
      const VertexId i = min(row + j, end - 1);
      const std::uint64_t at = std::uint64_t{i} * v.num_vectors + q;
      stored[j] = v.walk[at];
      old[j] = v.before[at];
      if (kFurther) origin[j] = v.origin[at];
      scale[j] = v.scale == nullptr ? S{1} : v.scale[i];
    }
#pragma unroll
    for (unsigned j = 0; j < kStepRows; ++j) {
      const VertexId i = row + j;
      if (i >= end) break;
      sums.add_change(step.bound, kSquares, static_cast<double>(stored[j]) - static_cast<double>(old[j]));
      if constexpr (kFurther) {
        stored[j] = extrapolated(weights.of[q], stored[j], origin[j]);
        v.walk[std::uint64_t{i} * v.num_vectors + q] = stored[j];
      }
      if (i < v.places.count)
        v.out[std::uint64_t{v.places.place_of(i)} * v.num_vectors + q] = stored[j] * scale[j];
    }
  }
  changes.take(sums, step.bound, threadIdx.x);
}

/// Blocks (x: runs, y: groups of kStepVectors vectors); those of a group go through all runs, the first ones
/// as they are dealt, the others as they are taken. Runs: as for multiply_runs. Rows without elements keep
/// what they have in walk and out, but where a walk restarts.
template <class Runs, bool kWeighted, bool kSquares, bool kFurther, class S>
__global__ void __launch_bounds__(kSumThreads, kBlocksEach)
    step_runs(CsrView<S> a, RunView deal, const S* x, WalkStep<S> step, WalkWeights<kFurther> weights) {
  constexpr unsigned kLanes = Runs::kLanes, kGroups = kSumThreads / kLanes;
  let_next_kernel_begin();
  const WalkVectors<S>& v = step.vectors;
  const auto [group, lane] = group_thread<kLanes>();
  const unsigned first = blockIdx.y * kStepVectors, q = first + lane;
  const bool has_vector = q < v.num_vectors;
  const VertexId restart_row = has_vector ? v.restart_rows[q] : kNoVertex;
  const BlockChanges<kSquares> changes;
  const auto put_score = [&](VertexId row, double sum) {
    v.walk[std::uint64_t{row} * v.num_vectors + q] =
        static_cast<S>(step.link * sum + (row == restart_row ? step.restart : 0.0));
  };
  for (unsigned i = group; i < deal.num_runs;) {
    const GroupWork work(deal, i, v.num_vectors);
    Runs::template sum<kWeighted>(a, work.run, x, v.num_vectors, first, lane, i == group,
                                  [&](VertexId row, double sum) {
                                    if (!has_vector) return;
                                    if (work.is_cut())
                                      __stcg(work.chunk_sums() + q, sum);
                                    else
                                      put_score(row, sum);
                                  });
    // Who is done first takes the next run. Not before the first sum() has waited: the step before uses the
    // counter, too.
    unsigned taken = 0;
    if (lane == 0) taken = atomicAdd(deal.runs_taken + blockIdx.y, 1u);
    const bool is_done =
        !work.is_cut() || work.template ends_row<kLanes>(deal.chunks_done + blockIdx.y * deal.num_cut_rows);
    if (is_done && has_vector) {
      if (work.is_cut()) put_score(work.run.first_row, work.row_sum(q));
      finish_rows<kSquares>(step, weights, work.run.first_row, work.run.end_row, q, changes);
    }
    i = gridDim.x * kGroups + first_of_group<kLanes>(taken);
  }
  wait_for_kernels_before();
  if (group == 0 && restart_row != kNoVertex &&
      a.row_offsets[restart_row] == a.row_offsets[restart_row + 1]) {
    put_score(restart_row, 0);
    finish_rows<kSquares>(step, weights, restart_row, restart_row + 1, q, changes);
  }
  changes.template send<kLanes>(first, min(v.num_vectors - first, kStepVectors), step.box, [&] {
    for (unsigned y = 0; y < gridDim.y; ++y) deal.runs_taken[y] = 0;
  });
}

/// For each group of vectors with as many blocks as run at once, at most.
template <class Runs, bool kWeighted, class S>
void launch_step(const CsrView<S>& a, const RunView& deal, const S* x, const WalkStep<S>& step) {
  const unsigned num_vectors = step.vectors.num_vectors,
                 all = ceil_div(deal.num_runs, kSumThreads / Runs::kLanes);
  const dim3 blocks(std::clamp(all, 1u, kBlocksEach * deal.num_multiprocessors),
                    ceil_div(num_vectors, kStepVectors));
  const auto launch = [&](auto squares, auto further) {
    constexpr auto kKernel = step_runs<Runs, kWeighted, squares(), further(), S>;
    static const SharedPercent shared = shared_percent(kKernel, kBlocksEach);
    launch_early(shared, kKernel, blocks, kSumThreads, 0, a, deal, x, step,
                 WalkWeights<further()>(step.vectors.weights, num_vectors));
  };
  const auto with_squares = [&](auto further) {
    step.squares ? launch(std::true_type(), further) : launch(std::false_type(), further);
  };
  step.vectors.origin != nullptr ? with_squares(std::true_type()) : with_squares(std::false_type());
}

}  // namespace tessera::cuda
