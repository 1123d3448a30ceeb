// The vector work of a step on a device: what cuda_backend.cpp forwards to. All pointers are device memory
// but `restart_rows`, `kept` and results. See kernels/backend.hpp for what each operation means; the bits
// are those of kernels/cpu/cpu_vector_ops.hpp.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/backend.hpp"

namespace tessera::cuda {

template <class S>
void fill(S* vector, std::uint64_t size, S value);

/// scale may be null: then factors are 1; slots may be null: then out is filled in order.
template <class S>
void scatter_scaled(const S* vector, const S* scale, const VertexId* slots, std::uint64_t count,
                    unsigned num_vectors, S* out, cudaStream_t stream = nullptr);
template <class S>
void select_vectors(const S* block, unsigned num_vectors, std::span<const unsigned> kept,
                    std::uint64_t num_rows, S* out);

/// jump may be null.
template <class S>
VectorSums rank_update(const RankUpdate& update, const double* y, const S* jump, const S* scale,
                       const ExactScale& bound, bool squares, S* score, std::uint64_t num_rows);
template <class S>
std::vector<VectorSums> walk_update(double continue_probability, double restart, const double* y,
                                    std::span<const VertexId> restart_rows, unsigned num_vectors,
                                    const ExactScale& bound, bool squares, S* walk, std::uint64_t num_rows);
template <class S>
VectorSums scale_update(double factor, const double* y, const ExactScale& bound, bool squares, S* score,
                        std::uint64_t num_rows);

double max_abs(const double* y, std::uint64_t size);
ExactSum sum(const double* y, std::uint64_t size, bool squares, const ExactScale& bound);

}  // namespace tessera::cuda
