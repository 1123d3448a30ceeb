// The update of one row of ranks, as all kernels make it: those of updates by themselves, of runs, and of
// products that end in updates.
#pragma once
#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/cuda_vector_ops.hpp"

namespace tessera::cuda {

/// The new score of row i, whose sum is y.
template <class S>
__device__ inline S new_rank(const RankUpdate& update, const RankVectors<S>& v, std::uint64_t i, double y) {
  double value = update.link * y;
  if (v.jump != nullptr) value += update.teleport * static_cast<double>(v.jump[i]);
  return static_cast<S>(value + update.constant);
}

/// What a score is read as by the next product.
template <class S>
__device__ inline S input_of(const RankVectors<S>& v, S stored, S scale) {
  return v.are_masses ? stored : stored * scale;
}

/// Row i gets its new score, what reads it next its input at `place`, and `sums` its part, but for the
/// change. Gives that input; other ranks do not get it here.
template <class S>
__device__ inline S put_score(const RankVectors<S>& v, const ExactScale& bound, std::uint64_t i, S stored,
                              S scale, VertexId place, ThreadSums& sums) {
  sums.add_score(bound, static_cast<double>(stored), scale, v.are_masses);
  v.score[i] = stored;
  const S input = input_of(v, stored, scale);
  if (i < v.places.count) v.out[place] = input;
  return input;
}
/// The same with the change, of a step that is as it is.
template <bool kSquares, class S>
__device__ inline S put_rank(const RankVectors<S>& v, const ExactScale& bound, std::uint64_t i, S stored,
                             S old, S scale, VertexId place, ThreadSums& sums) {
  sums.add_change(bound, kSquares, static_cast<double>(stored) - static_cast<double>(old));
  return put_score(v, bound, i, stored, scale, place, sums);
}

}  // namespace tessera::cuda
