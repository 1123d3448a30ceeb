#include "kernels/cuda/cuda_vector_ops.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>

#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/cuda_vector_ops.cuh"
#include "kernels/cuda/device_array.hpp"

namespace tessera::cuda {

template <class S>
void put_inputs(const S* vector, const S* scale, const VertexId* slots, std::uint64_t count,
                unsigned num_vectors, S* out, cudaStream_t stream) {
  if (count == 0) return;
  put_kernel<<<num_blocks(count * num_vectors), kThreads, 0, stream>>>(vector, scale, slots, count,
                                                                       num_vectors, out);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
void select_vectors(const S* block, unsigned num_vectors, std::span<const unsigned> kept,
                    std::uint64_t num_rows, S* out) {
  const std::uint64_t size = num_rows * kept.size();
  if (size == 0) return;
  DeviceArray<unsigned> which(kept);
  select_kernel<<<num_blocks(size), kThreads>>>(block, num_vectors, which.data(),
                                                static_cast<unsigned>(kept.size()), size, out);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

namespace {

template <unsigned kWide, class S>
bool is_wide(unsigned num_vectors, std::initializer_list<const S*> pointers) {
  return num_vectors % kWide == 0 && std::all_of(pointers.begin(), pointers.end(), [](const S* pointer) {
           return reinterpret_cast<std::uintptr_t>(pointer) % (kWide * sizeof(S)) == 0;
         });
}

template <unsigned kWide, class S>
void launch_extrapolate(std::span<const double> weights, const S* walk, S* before, std::uint64_t num_rows,
                        const S* scale, S* out, const VertexId* slots, std::uint64_t num_out) {
  const auto num_vectors = static_cast<unsigned>(weights.size());
  for (unsigned first = 0; first < num_vectors; first += kWeightsALaunch) {
    ExtrapolationWeights some = {};
    const unsigned count = std::min(kWeightsALaunch, num_vectors - first);
    std::copy_n(weights.begin() + first, count, some.of);
    const auto log_lanes = static_cast<unsigned>(std::bit_width(count / kWide - 1));
    extrapolate_kernel<kWide><<<num_blocks((num_rows << log_lanes) / 2 + 1), kThreads>>>(
        some, first, count, num_vectors, log_lanes, walk, before, num_rows, scale, out, slots, num_out);
    TESSERA_CUDA_CALL(cudaGetLastError());
  }
}

}  // namespace

template <class S>
void extrapolate(std::span<const double> weights, const S* walk, S* before, std::uint64_t num_rows,
                 const S* scale, S* out, const VertexId* slots, std::uint64_t num_out) {
  if (num_rows == 0) return;
  constexpr unsigned kWide = 16 / sizeof(S);
  const auto launch = is_wide<kWide, S>(static_cast<unsigned>(weights.size()), {walk, before, out})
                          ? launch_extrapolate<kWide, S>
                          : launch_extrapolate<1, S>;
  launch(weights, walk, before, num_rows, scale, out, slots, num_out);
}

namespace {

template <unsigned kRows, class S>
void launch_rank(const RankUpdate& update, const RankVectors<S>& vectors, const ExactScale& bound,
                 bool squares, const SumsOutbox& box) {
  const unsigned blocks = num_reduce_blocks(ceil_div<std::uint64_t>(vectors.num_rows, kRows));
  if (squares)
    launch_early(rank_kernel<true, kRows, S>, blocks, kThreads, 0, update, vectors, bound, box);
  else
    launch_early(rank_kernel<false, kRows, S>, blocks, kThreads, 0, update, vectors, bound, box);
}

}  // namespace

template <class S>
void rank_update(const RankUpdate& update, const RankVectors<S>& vectors, const ExactScale& bound,
                 bool squares, const SumsOutbox& box) {
  if (vectors.num_rows > kFewRankRows)
    launch_rank<kRankRows>(update, vectors, bound, squares, box);
  else
    launch_rank<1>(update, vectors, bound, squares, box);
}

template <class S>
void walk_update(double continue_probability, double restart, const WalkVectors<S>& vectors,
                 const ExactScale& bound, bool squares, const SumsOutbox& box) {
  const std::uint64_t size = vectors.num_rows * std::min(vectors.num_vectors, kWalkVectors);
  const dim3 blocks(num_reduce_blocks(ceil_div<std::uint64_t>(size, kWalkRows)),
                    ceil_div(vectors.num_vectors, kWalkVectors));
  if (squares)
    launch_early(walk_kernel<true, S>, blocks, kThreads, 0, continue_probability, restart, vectors, bound,
                 box);
  else
    launch_early(walk_kernel<false, S>, blocks, kThreads, 0, continue_probability, restart, vectors, bound,
                 box);
}

void norm_sums(const double* y, std::uint64_t size, bool squares, const ExactScale& bound,
               const NormStep& step, double* factor, const SumsOutbox& box) {
  launch_early(norm_kernel, num_reduce_blocks(ceil_div<std::uint64_t>(size, kNormRows), kMostNormBlocks),
               kThreads, 0, y, size, squares, bound, step, factor, box);
}

#define TESSERA_INSTANTIATE(S)                                                                              \
  template void put_inputs(const S*, const S*, const VertexId*, std::uint64_t, unsigned, S*, cudaStream_t); \
  template void select_vectors(const S*, unsigned, std::span<const unsigned>, std::uint64_t, S*);           \
  template void extrapolate(std::span<const double>, const S*, S*, std::uint64_t, const S*, S*,             \
                            const VertexId*, std::uint64_t);                                                \
  template void rank_update(const RankUpdate&, const RankVectors<S>&, const ExactScale&, bool,              \
                            const SumsOutbox&);                                                             \
  template void walk_update(double, double, const WalkVectors<S>&, const ExactScale&, bool,                 \
                            const SumsOutbox&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
