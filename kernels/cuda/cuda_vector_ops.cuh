// The kernels of cuda_vector_ops.cu: grid-stride loops; the reducing ones go through cuda_exact_sum.cuh.
#pragma once
#include <algorithm>

#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/cuda_vector_ops.hpp"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/row_update.cuh"
#include "kernels/extrapolation.hpp"

namespace tessera::cuda {

inline constexpr unsigned kThreads = 256;

inline unsigned num_blocks(std::uint64_t size) {
  return static_cast<unsigned>(std::min<std::uint64_t>(ceil_div<std::uint64_t>(size, kThreads), 1u << 20));
}
/// Fewer, so that each block has something to add up before it goes to device memory. As many as an H200 runs
/// at once of three a multiprocessor (of updates that sum squares two): more would queue at the same words of
/// the sums.
inline constexpr unsigned kMostReduceBlocks = 396;
inline unsigned num_reduce_blocks(std::uint64_t size, unsigned most = kMostReduceBlocks) {
  return std::clamp(num_blocks(size), 1u, most);
}

__device__ inline std::uint64_t first_index() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ inline std::uint64_t index_step() { return std::uint64_t{gridDim.x} * kThreads; }

/// Entry of the product that is row i; kNoVertex: the row is 0.
__device__ inline std::uint64_t place_of(const ProductView& product, std::uint64_t row) {
  return product.positions == nullptr ? row : product.positions[row];
}
__device__ inline double value_at(const ProductView& product, std::uint64_t place) {
  return place == kNoVertex ? 0.0 : product.y[place];
}

/// Sums of all threads of a block, then of all blocks, then to the host. use: of send_if_last.
template <class Use>
__device__ void reduce(const ThreadSums& own, const ExactScale& bound, const SumsOutbox& box,
                       const Use& use) {
  __shared__ Limb of_warp[kSumWords * kThreads / 32];
  WarpSums sums;
  sums.take(own, bound);
  sums.reduce<kThreads>(of_warp, box, use);
}

template <class S>
__global__ void __launch_bounds__(kThreads) fill_kernel(S* vector, std::uint64_t size, S value) {
  for (std::uint64_t i = first_index(); i < size; i += index_step()) vector[i] = value;
}

template <class S>
__global__ void __launch_bounds__(kThreads)
    put_kernel(const S* vector, const S* scale, InputPlaces places, unsigned num_vectors, S* out,
               const __grid_constant__ OtherRanks<S> others) {
  const std::uint64_t size = places.count * num_vectors;
  for (std::uint64_t i = first_index(); i < size; i += index_step()) {
    const std::uint64_t row = i / num_vectors, q = i % num_vectors;
    const std::uint64_t target = std::uint64_t{places.place_of(row)} * num_vectors + q;
    const S input = scale == nullptr ? vector[i] : vector[i] * scale[row];
    out[target] = input;
    others.put(target, input);
  }
  others.end();
}

template <class S>
__global__ void __launch_bounds__(kThreads)
    select_kernel(const S* block, unsigned num_vectors, const unsigned* kept, unsigned num_kept,
                  std::uint64_t size, S* out) {
  for (std::uint64_t i = first_index(); i < size; i += index_step())
    out[i] = block[i / num_kept * num_vectors + kept[i % num_kept]];
}

/// A thread takes kRankRows rows at a time, so that enough loads are under way; one where there are so few
/// that all are under way at once (on an H200): then a step waits for the slowest thread.
inline constexpr unsigned kRankRows = 4, kFewRankRows = 132 * 2 * kThreads;

/// kFurther: there is an origin.
template <bool kSquares, bool kFurther, unsigned kRows, class S>
__global__ void __launch_bounds__(kThreads, kSquares ? 2 : 3)
    rank_kernel(RankUpdate update, const __grid_constant__ RankVectors<S> v, OriginView<S> from_where,
                ExactScale bound, SumsOutbox box) {
  let_next_kernel_begin();
  wait_for_kernels_before();
  if (v.factor != nullptr) {
    const double factor = __ldcg(v.factor);
    if (factor < 0) return;
    update.link *= factor;
  }
  ThreadSums sums;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads * kRows + threadIdx.x; first < v.num_rows;
       first += index_step() * kRows) {
    VertexId from[kRows];
    S old[kRows], origin[kRows], scale[kRows];
    VertexId place[kRows];
#pragma unroll
    for (unsigned j = 0; j < kRows; ++j) {
      const std::uint64_t i = first + j * kThreads;
      if (i >= v.num_rows) continue;
      from[j] = static_cast<VertexId>(place_of(v.y, i));
      old[j] = v.before[i];
      if (kFurther) origin[j] = from_where.scores[i];
      scale[j] = v.scale == nullptr ? S{1} : v.scale[i];
      if (i < v.places.count) place[j] = v.places.place_of(i);
    }
    double y[kRows];
#pragma unroll
    for (unsigned j = 0; j < kRows; ++j)
      if (first + j * kThreads < v.num_rows) y[j] = value_at(v.y, from[j]);
#pragma unroll
    for (unsigned j = 0; j < kRows; ++j) {
      const std::uint64_t i = first + j * kThreads;
      if (i >= v.num_rows) continue;
      S stored = new_rank(update, v, i, y[j]);
      sums.add_change(bound, kSquares, static_cast<double>(stored) - static_cast<double>(old[j]));
      if constexpr (kFurther) stored = extrapolated(from_where.weight, stored, origin[j]);
      const S input = put_score(v, bound, i, stored, scale[j], place[j], sums);
      if (i < v.places.count) v.others.put(place[j], input);
    }
  }
  v.others.end();
  reduce(sums, bound, box, [](const DeviceSums&) {});
}

template <class S>
__global__ void __launch_bounds__(kThreads)
    mark_kernel(const __grid_constant__ RankVectors<S> v, ExactScale bound, SumsOutbox box) {
  let_next_kernel_begin();
  wait_for_kernels_before();
  ThreadSums sums;
  for (std::uint64_t i = first_index(); i < v.num_rows; i += index_step()) {
    const S old = v.before[i];
    const S mark = value_at(v.y, place_of(v.y, i)) > 0 ? S{1} : old;
    sums.add_change(bound, false, static_cast<double>(mark - old));
    if (v.scale != nullptr) {
      const auto mass = static_cast<double>(v.scale[i]);
      sums.total.add(bound, mass);
      if (mark == S{0}) sums.dangling.add(bound, mass);
    }
    v.score[i] = mark;
    if (i >= v.places.count) continue;
    const std::uint64_t place = v.places.place_of(i);
    v.out[place] = mark;
    v.others.put(place, mark);
  }
  v.others.end();
  reduce(sums, bound, box, [](const DeviceSums&) {});
}

/// Rows that a thread has under way, and vectors that a block takes at most.
inline constexpr unsigned kWalkRows = 4, kWalkVectors = 32;

/// The words of all threads of a block that have the same vector, added up: to box.sums. A thread's vector is
/// first + thread % count, and `groups` threads have it.
__device__ inline void add_words_of_vectors(const ThreadSums& own, const ExactScale& bound, unsigned first,
                                            unsigned count, unsigned groups, const SumsOutbox& box) {
  __shared__ Limb of_thread[kSumWords][kThreads];
  Limb words[kSumWords];
  own.to_words(bound, words);
#pragma unroll
  for (unsigned place = 0; place < kSumWords; ++place) of_thread[place][threadIdx.x] = words[place];
  const unsigned group = threadIdx.x / count;
  while (groups > 1) {
    const unsigned left = (groups + 1) / 2;
    __syncthreads();
    if (group + left < groups)
#pragma unroll
      for (unsigned place = 0; place < kSumWords; ++place)
        of_thread[place][threadIdx.x] =
            combined(place, of_thread[place][threadIdx.x], of_thread[place][threadIdx.x + left * count]);
    groups = left;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kSumWords * count; i += kThreads)
    add_word(i % kSumWords, of_thread[i % kSumWords][i / kSumWords], box.sums + first + i / kSumWords);
}

/// Blocks (x: rows, y: groups of kWalkVectors vectors). Neighbouring threads take the vectors of a row; each
/// keeps to one vector.
template <bool kSquares, bool kFurther, class S>
__global__ void __launch_bounds__(kThreads)
    walk_kernel(double c, double restart, const __grid_constant__ WalkVectors<S> v,
                WalkWeights<kFurther> weights, ExactScale bound, SumsOutbox box) {
  let_next_kernel_begin();
  const unsigned first_vector = blockIdx.y * kWalkVectors,
                 count = min(v.num_vectors - first_vector, kWalkVectors), groups = kThreads / count,
                 q = first_vector + threadIdx.x % count;
  const std::uint64_t step = std::uint64_t{gridDim.x} * groups,
                      begin = threadIdx.x < groups * count ? blockIdx.x * groups + threadIdx.x / count
                                                           : v.num_rows;
  const VertexId restart_row = v.restart_rows[q];
  double weight = 1;
  if constexpr (kFurther) weight = weights.of[q];
  wait_for_kernels_before();
  ThreadSums sums;
  for (std::uint64_t first = begin; first < v.num_rows; first += step * kWalkRows) {
    double sum[kWalkRows];
    S old[kWalkRows], origin[kWalkRows], scale[kWalkRows];
    VertexId place[kWalkRows];
#pragma unroll
    for (unsigned j = 0; j < kWalkRows; ++j) {
      const std::uint64_t i = first + j * step;
      if (i >= v.num_rows) continue;
      const std::uint64_t from = place_of(v.y, i);
      sum[j] = from == kNoVertex ? 0.0 : __ldcs(v.y.y + from * v.num_vectors + q);
      old[j] = v.before[i * v.num_vectors + q];
      if (kFurther) origin[j] = v.origin[i * v.num_vectors + q];
      if (i >= v.places.count) continue;
      scale[j] = v.scale == nullptr ? S{1} : v.scale[i];
      place[j] = v.places.place_of(i);
    }
#pragma unroll
    for (unsigned j = 0; j < kWalkRows; ++j) {
      const std::uint64_t i = first + j * step;
      if (i >= v.num_rows) continue;
      S stored = static_cast<S>(c * sum[j] + (i == restart_row ? restart : 0.0));
      sums.add_change(bound, kSquares, static_cast<double>(stored) - static_cast<double>(old[j]));
      if constexpr (kFurther) stored = extrapolated(weight, stored, origin[j]);
      v.walk[i * v.num_vectors + q] = stored;
      if (i >= v.places.count) continue;
      const std::uint64_t target = std::uint64_t{place[j]} * v.num_vectors + q;
      v.out[target] = stored * scale[j];
      v.others.put(target, stored * scale[j]);
    }
  }
  v.others.end();
  add_words_of_vectors(sums, bound, first_vector, count, groups, box);
  send_if_last(box, threadIdx.x, kThreads);
}

/// 1 / norm; -1 where the step does not cover it.
__device__ inline double factor_of(const NormStep& step, const DeviceSums& sums, const ExactScale& scale) {
  const NormSums norm{__longlong_as_double(static_cast<long long>(sums.change_max)), folded(sums.total)};
  return step.covers(norm.largest) ? 1 / step.size(norm, scale) : -1;
}

/// A thread takes kNormRows numbers at a time, so that enough loads are under way. Fewer blocks gain nothing
/// (docs/performance.md).
inline constexpr unsigned kNormRows = 4, kMostNormBlocks = 1188;

/// factor: gets that of `step`, where it is not null.
__global__ void __launch_bounds__(kThreads)
    norm_kernel(const double* y, std::uint64_t size, bool squares, ExactScale bound, NormStep step,
                double* factor, SumsOutbox box) {
  let_next_kernel_begin();
  wait_for_kernels_before();
  ThreadSums sums;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads * kNormRows + threadIdx.x; first < size;
       first += index_step() * kNormRows) {
    double values[kNormRows];
#pragma unroll
    for (unsigned j = 0; j < kNormRows; ++j)
      values[j] = first + j * kThreads < size ? y[first + j * kThreads] : 0;
#pragma unroll
    for (unsigned j = 0; j < kNormRows; ++j) {
      sums.total.add(bound, squares ? values[j] * values[j] : values[j]);
      sums.change_max = fmax(sums.change_max, fabs(values[j]));
    }
  }
  reduce(sums, bound, box, [&](const DeviceSums& all) {
    if (factor != nullptr) *factor = factor_of(step, all, bound);
  });
}

}  // namespace tessera::cuda
