#include "kernels/cuda/cuda_vector_ops.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/cuda_vector_ops.cuh"
#include "kernels/cuda/device_array.hpp"

namespace tessera::cuda {

template <class S>
void fill(S* vector, std::uint64_t size, S value) {
  if (size == 0) return;
  fill_kernel<<<num_blocks(size), kThreads>>>(vector, size, value);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
void put_inputs(const S* vector, const S* scale, const InputPlaces& places, unsigned num_vectors, S* out,
                const OtherRanks<S>& others, cudaStream_t stream) {
  if (places.count == 0) return;
  put_kernel<<<num_blocks(places.count * num_vectors), kThreads, 0, stream>>>(vector, scale, places,
                                                                              num_vectors, out, others);
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

template <unsigned kRows, class S>
void launch_rank(const RankUpdate& update, const RankVectors<S>& vectors, const OriginView<S>& origin,
                 const ExactScale& bound, bool squares, const SumsOutbox& box) {
  const unsigned blocks = num_reduce_blocks(ceil_div<std::uint64_t>(vectors.num_rows, kRows));
  const auto launch = [&](auto squares, auto further) {
    launch_early(rank_kernel<squares(), further(), kRows, S>, blocks, kThreads, 0, update, vectors, origin,
                 bound, box);
  };
  const auto with_squares = [&](auto further) {
    squares ? launch(std::true_type(), further) : launch(std::false_type(), further);
  };
  origin.scores != nullptr ? with_squares(std::true_type()) : with_squares(std::false_type());
}

}  // namespace

template <class S>
void rank_update(const RankUpdate& update, const RankVectors<S>& vectors, const OriginView<S>& origin,
                 const ExactScale& bound, bool squares, const SumsOutbox& box) {
  if (vectors.num_rows > kFewRankRows)
    launch_rank<kRankRows>(update, vectors, origin, bound, squares, box);
  else
    launch_rank<1>(update, vectors, origin, bound, squares, box);
}

template <class S>
void walk_update(double continue_probability, double restart, const WalkVectors<S>& vectors,
                 const ExactScale& bound, bool squares, const SumsOutbox& box) {
  const std::uint64_t size = vectors.num_rows * std::min(vectors.num_vectors, kWalkVectors);
  const dim3 blocks(num_reduce_blocks(ceil_div<std::uint64_t>(size, kWalkRows)),
                    ceil_div(vectors.num_vectors, kWalkVectors));
  const auto launch = [&](auto squares, auto further) {
    launch_early(walk_kernel<squares(), further(), S>, blocks, kThreads, 0, continue_probability, restart,
                 vectors, WalkWeights<further()>(vectors.weights, vectors.num_vectors), bound, box);
  };
  const auto with_squares = [&](auto further) {
    squares ? launch(std::true_type(), further) : launch(std::false_type(), further);
  };
  vectors.origin != nullptr ? with_squares(std::true_type()) : with_squares(std::false_type());
}

template <class S>
void mark_rows(const RankVectors<S>& vectors, const ExactScale& bound, const SumsOutbox& box) {
  launch_early(mark_kernel<S>, num_reduce_blocks(vectors.num_rows), kThreads, 0, vectors, bound, box);
}

void norm_sums(const double* y, std::uint64_t size, bool squares, const ExactScale& bound,
               const NormStep& step, double* factor, const SumsOutbox& box) {
  launch_early(norm_kernel, num_reduce_blocks(ceil_div<std::uint64_t>(size, kNormRows), kMostNormBlocks),
               kThreads, 0, y, size, squares, bound, step, factor, box);
}

#define TESSERA_INSTANTIATE(S)                                                                         \
  template void fill(S*, std::uint64_t, S);                                                            \
  template void put_inputs(const S*, const S*, const InputPlaces&, unsigned, S*, const OtherRanks<S>&, \
                           cudaStream_t);                                                              \
  template void select_vectors(const S*, unsigned, std::span<const unsigned>, std::uint64_t, S*);      \
  template void rank_update(const RankUpdate&, const RankVectors<S>&, const OriginView<S>&,            \
                            const ExactScale&, bool, const SumsOutbox&);                               \
  template void walk_update(double, double, const WalkVectors<S>&, const ExactScale&, bool,            \
                            const SumsOutbox&);                                                        \
  template void mark_rows(const RankVectors<S>&, const ExactScale&, const SumsOutbox&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
