// The vector work of a step on a device: what cuda_backend.cpp forwards to. All pointers are device memory,
// `kept` is not. See kernels/backend.hpp for what each operation means; the bits are those of
// kernels/cpu/cpu_vector_ops.hpp.
#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/backend.hpp"
#include "kernels/cuda/device_sums.hpp"
#include "kernels/cuda/peer_memory.hpp"

namespace tessera::cuda {

/// Memory of other ranks' devices that this one writes, beside its own: what goes to a place of that goes to
/// the same place of these. In a kernel's arguments, so that nobody waits for it; there __grid_constant__, or
/// the loop would copy it to each thread's stack.
template <class S>
struct OtherRanks {
  static constexpr std::size_t kMost = kMostSharingRanks - 1;
  S* memory[kMost] = {};
  unsigned count = 0;

#ifdef __CUDACC__
  __device__ void put(std::uint64_t place, S value) const {
    for (unsigned r = 0; r < count; ++r) memory[r][place] = value;
  }
  /// Behind the last put of a thread: what meets the other ranks after the kernel finds it there.
  __device__ void end() const {
    if (count > 0) __threadfence_system();
  }
#endif
};

template <class S>
void fill(S* vector, std::uint64_t size, S value);
/// scale may be null: then factors are 1.
template <class S>
void put_inputs(const S* vector, const S* scale, const InputPlaces& places, unsigned num_vectors, S* out,
                const OtherRanks<S>& others = {}, cudaStream_t stream = nullptr);
template <class S>
void select_vectors(const S* block, unsigned num_vectors, std::span<const unsigned> kept,
                    std::uint64_t num_rows, S* out);

/// A product as updates read it: row i is y[positions[i]], 0 where that is kNoVertex, or y[i] without
/// positions.
struct ProductView {
  const double* y = nullptr;
  const VertexId* positions = nullptr;
};

/// Vectors of a PageRank step: from `before` to `score`, which may be the same, and score[i] * scale[i] (of
/// masses, see RowScale, score[i]) to its place in out. jump, scale (then all 1), and without places out, may
/// be null. factor is of rank_update alone: what link is multiplied with, in device memory; null: 1; below 0:
/// nothing is done, and no sums are sent.
template <class S>
struct RankVectors {
  ProductView y;
  const S *jump = nullptr, *scale = nullptr;
  bool are_masses = false;
  const S* before = nullptr;
  S* score = nullptr;
  std::uint64_t num_rows = 0;
  S* out = nullptr;
  InputPlaces places = {};
  OtherRanks<S> others = {};
  const double* factor = nullptr;
};

/// What scores of an update by itself go further from (RankOrigin); may be `score`, null: steps are as they
/// are.
template <class S>
struct OriginView {
  const S* scores = nullptr;
  double weight = 1;
};

/// Vectors of a step of walks, num_vectors numbers a row: from `before` to `walk`; of walk_update these may
/// be the same, and so may `walk` and `origin`, which is null where steps are as they are. out, scale,
/// places and others as in RankVectors.
template <class S>
struct WalkVectors {
  ProductView y;
  const VertexId* restart_rows = nullptr;  // num_vectors
  const S* scale = nullptr;
  const S *before = nullptr, *origin = nullptr;
  S* walk = nullptr;
  std::uint64_t num_rows = 0;
  unsigned num_vectors = 1;
  S* out = nullptr;
  InputPlaces places = {};
  OtherRanks<S> others = {};
  const double* weights = nullptr;  // with an origin, num_vectors; host memory
};

/// Weights in a kernel's arguments, so that nobody waits for them. None where steps are as they are.
template <bool kFurther>
struct WalkWeights {
  explicit WalkWeights(const double*, unsigned) {}
};
template <>
struct WalkWeights<true> {
  double of[kMostFurtherVectors] = {};
  WalkWeights(const double* weights, unsigned count) { std::copy_n(weights, count, of); }
};

// All of these send their sums, one for each vector, by `box`; where there are no rows, zeros.

template <class S>
void rank_update(const RankUpdate& update, const RankVectors<S>& vectors, const OriginView<S>& origin,
                 const ExactScale& bound, bool squares, const SumsOutbox& box);
template <class S>
void walk_update(double continue_probability, double restart, const WalkVectors<S>& vectors,
                 const ExactScale& bound, bool squares, const SumsOutbox& box);
/// From y to the marks `score`, by the masses `scale` (see Backend::mark_rows).
template <class S>
void mark_rows(const RankVectors<S>& vectors, const ExactScale& bound, const SumsOutbox& box);
/// The largest |y| to change_max, the sum of y, or of its squares, to total. factor, in device memory and
/// possibly null, becomes 1 / norm, by `step` with its scale as bound; -1 where that does not cover y.
void norm_sums(const double* y, std::uint64_t size, bool squares, const ExactScale& bound,
               const NormStep& step, double* factor, const SumsOutbox& box);

}  // namespace tessera::cuda
