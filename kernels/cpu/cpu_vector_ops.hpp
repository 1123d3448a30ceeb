// The vector work of a step on the CPU: what cpu_backend.cpp forwards to. OpenMP over ranges of rows;
// reductions are exact (kernels/base/exact_sum.hpp), so threads may share the rows in any way.
// See kernels/backend.hpp for what each operation means.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/backend.hpp"

namespace tessera::cpu {

template <class S>
void fill(S* vector, std::uint64_t size, S value);
/// scale may be null: then factors are 1.
template <class S>
void put_inputs(const S* vector, const S* scale, const InputPlaces& places, unsigned num_vectors, S* out);
template <class S>
void select_vectors(const S* block, unsigned num_vectors, std::span<const unsigned> kept,
                    std::uint64_t num_rows, S* out);

/// jump may be null, and scale: then no row is dangling. are_masses: see RowScale. weight: with an origin,
/// see RankOrigin.
template <class S>
VectorSums rank_update(const RankUpdate& update, const double* y, const S* jump, const S* scale,
                       bool are_masses, const ExactScale& bound, bool squares, S* score,
                       std::uint64_t num_rows, double weight = 1, S* origin = nullptr);
/// From `before` to `walk`, which may be the same. weights: empty, or of each vector, which goes from what
/// `walk` holds.
template <class S>
std::vector<VectorSums> walk_update(double continue_probability, double restart, const double* y,
                                    std::span<const VertexId> restart_rows, std::span<const double> weights,
                                    const ExactScale& bound, bool squares, const S* before, S* walk,
                                    std::uint64_t num_rows);
/// masses may be null.
template <class S>
VectorSums mark_rows(const double* y, const S* masses, const ExactScale& bound, S* marks,
                     std::uint64_t num_rows);
NormSums norm_sums(const double* y, std::uint64_t size, bool squares, const ExactScale& bound);

}  // namespace tessera::cpu
