// The plain CSR product of several vectors on a device, and steps of walks: up to 16 vectors of f32, any
// number of f64 (more of f32: cuda_spmv_csr_wide.cu). A group of kLanes neighbouring threads goes through
// rows, each thread with some of the vectors, whose inputs lie side by side; its accumulators are registers.
#include <type_traits>

#include "kernels/cuda/walk_step.cuh"
#include "kernels/rows_in_fours.hpp"

namespace tessera::cuda {
namespace {

/// The number at so many bytes behind x, asked for here: the compiler would put the load of the last of eight
/// behind the branch that needs it, where it is waited for.
__device__ inline float read_now(const float* x, std::uint64_t offset) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(reinterpret_cast<const char*>(x) + offset));
  return value;
}
__device__ inline double read_now(const double* x, std::uint64_t offset) {
  double value;
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(reinterpret_cast<const char*>(x) + offset));
  return value;
}

__device__ inline void read_columns(const VertexId* from, VertexId (&columns)[kSumLanes]) {
#pragma unroll
  for (unsigned j = 0; j < kSumLanes; ++j) columns[j] = read_column(from + j);
}

/// The first `count` elements, each to its accumulator.
template <bool kWeighted, class S>
__device__ inline void add_elements(std::uint32_t count, const S* values, const S (&inputs)[kSumLanes],
                                    double (&lanes)[kSumLanes]) {
  if (count == kSumLanes) {
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) lanes[j] += product<kWeighted>(values, j, inputs[j]);
  } else {
#pragma unroll
    for (unsigned j = 0; j < kSumLanes - 1; ++j)
      if (j < count) lanes[j] += product<kWeighted>(values, j, inputs[j]);
  }
}

/// Sums of the rows of a run, for the vector whose inputs are x[0], x[num_vectors], ...: use(row, sum).
/// kSumLanes elements at a time: those behind the end of a row are of the next one (or of the padding behind
/// the matrix), whose inputs are brought nearer, but not added.
template <bool kWeighted, class S, class Use>
__device__ void sum_run(const CsrView<S>& a, const RowRun& run, const S* x, unsigned num_vectors, bool wait,
                        const Use& use) {
  RunRows rows(a.row_offsets, run);
  const VertexId* columns = a.col_indices + rows.begin();
  const S* values = a.values + (kWeighted ? rows.begin() : 0);
  const auto stride = static_cast<unsigned>(num_vectors * sizeof(S));
  VertexId next[kSumLanes];
  read_columns(columns, next);
  double lanes[kSumLanes] = {}, sum = 0;
  std::uint32_t at = 0, chunk_end = min(rows.end(), kSumChunk);
  if (wait) wait_for_kernels_before();
  while (true) {
    S inputs[kSumLanes];
#pragma unroll
    for (unsigned j = 0; j < kSumLanes; ++j) inputs[j] = read_now(x, std::uint64_t{next[j]} * stride);
    const std::uint32_t count = min(chunk_end - at, kSumLanes);
    columns += count;
    read_columns(columns, next);
    add_elements<kWeighted>(count, values, inputs, lanes);
    if (kWeighted) values += count;
    at += count;
    if (at < chunk_end) continue;
    sum += add_lanes(lanes);
#pragma unroll
    for (double& lane : lanes) lane = 0;
    if (at == rows.end()) {
      use(rows.row(), sum);
      sum = 0;
      if (!rows.advance()) return;
    }
    chunk_end = min(rows.end(), at + kSumChunk);
  }
}

/// kWidth threads a run, each for a vector.
template <unsigned kWidth, class S>
struct NarrowRuns {
  static constexpr unsigned kLanes = kWidth;
  template <bool kWeighted, class Use>
  __device__ static void sum(const CsrView<S>& a, const RowRun& run, const S* x, unsigned num_vectors,
                             unsigned first, unsigned lane, bool wait, const Use& use) {
    if (first + lane < num_vectors) sum_run<kWeighted>(a, run, x + first + lane, num_vectors, wait, use);
  }
};

/// use(runs, weighted): of the type, and std::bool_constant, that are for such a product.
template <class S, class Use>
void with_runs(bool weighted, unsigned num_vectors, const Use& use) {
  const auto with_width = [&]<unsigned kWidth>(std::integral_constant<unsigned, kWidth>) {
    if (weighted)
      use(NarrowRuns<kWidth, S>(), std::true_type());
    else
      use(NarrowRuns<kWidth, S>(), std::false_type());
  };
  if (num_vectors <= 8)
    with_width(std::integral_constant<unsigned, 8>());
  else if (num_vectors <= 16)
    with_width(std::integral_constant<unsigned, 16>());
  else
    with_width(std::integral_constant<unsigned, 32>());
}

}  // namespace

template <class S>
void spmv_block(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  if (deal.num_runs == 0) return;
  if constexpr (sizeof(S) == sizeof(float))
    if (adds_in_fours(num_vectors, sizeof(S))) return spmv_wide_block(a, deal, x, y, num_vectors);
  with_runs<S>(a.values != nullptr, num_vectors, [&]<class Runs>(Runs, auto weighted) {
    launch_early(multiply_runs<Runs, weighted(), S>, ceil_div(deal.num_runs, kSumThreads / Runs::kLanes),
                 kSumThreads, 0, a, deal, x, y, num_vectors);
  });
}

template <class S>
void step_walks(const CsrView<S>& a, const RunView& deal, const S* x, const WalkStep<S>& step) {
  const unsigned num_vectors = step.vectors.num_vectors;
  if constexpr (sizeof(S) == sizeof(float))
    if (adds_in_fours(num_vectors, sizeof(S))) return step_wide_walks(a, deal, x, step);
  with_runs<S>(a.values != nullptr, num_vectors,
               [&]<class Runs>(Runs, auto weighted) { launch_step<Runs, weighted()>(a, deal, x, step); });
}

#define TESSERA_INSTANTIATE(S)                                                              \
  template void spmv_block(const CsrView<S>&, const RunView&, const S*, double*, unsigned); \
  template void step_walks(const CsrView<S>&, const RunView&, const S*, const WalkStep<S>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
