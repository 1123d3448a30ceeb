// Updates that follow one another without the host (kernels/rank_rule.hpp), as their kernels see them.
#pragma once
#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/cuda_vector_ops.hpp"

namespace tessera::cuda {

/// What the kernel before left to be done.
__device__ inline RankUpdate given_by(const ChainView& chain) {
  return {__ldcg(&chain.next->link), __ldcg(&chain.next->teleport), __ldcg(&chain.next->constant)};
}
/// What the next update has to do, behind `update` with these sums; S: of its scores. By one thread, once all
/// blocks have read what was there.
template <class S>
__device__ void leave_next(const ChainView& chain, const RankUpdate& update, const DeviceSums& sums,
                           const ExactScale& bound) {
  *chain.next = chain.rule.update_after<S>(update, folded(sums.total), folded(sums.dangling), bound);
}

}  // namespace tessera::cuda
