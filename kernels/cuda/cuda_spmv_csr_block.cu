// The plain CSR product of several vectors on a device. A group of kLanes neighbouring threads goes through
// rows, each thread with some of the vectors, whose inputs lie side by side; its accumulators are registers.
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/row_run_sums.cuh"

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
  for (unsigned j = 0; j < kSumLanes; ++j) columns[j] = from[j];
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
__device__ void sum_run(const CsrView<S>& a, const RowRun& run, const S* x, unsigned num_vectors,
                        const Use& use) {
  RunRows rows(a.row_offsets, run);
  const VertexId* columns = a.col_indices + rows.begin();
  const S* values = a.values + (kWeighted ? rows.begin() : 0);
  const auto stride = static_cast<unsigned>(num_vectors * sizeof(S));
  VertexId next[kSumLanes];
  read_columns(columns, next);
  double lanes[kSumLanes] = {}, sum = 0;
  std::uint32_t at = 0, chunk_end = min(rows.end(), kSumChunk);
  wait_for_kernels_before();
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

template <bool kWeighted, unsigned kLanes, class S>
__global__ void __launch_bounds__(kBlockThreads, kBlocksEach)
    multiply_block(CsrView<S> a, RunView deal, const S* x, double* y, unsigned num_vectors) {
  let_next_kernel_begin();
  const auto [group, lane] = group_thread<kLanes>();
  if (group >= deal.num_runs) return wait_for_kernels_before();
  const GroupWork work(deal, group, y, num_vectors);
  for (unsigned q = lane; q < num_vectors; q += kLanes)
    sum_run<kWeighted>(a, work.run, x + q, num_vectors,
                       [&](VertexId row, double sum) { __stcg(work.sums_of(row) + q, sum); });
  work.finish<kLanes>(deal);
}

template <bool kWeighted, unsigned kLanes, class S>
void launch_block(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  launch_early(multiply_block<kWeighted, kLanes, S>, ceil_div(deal.num_runs, kBlockThreads / kLanes),
               kBlockThreads, 0, a, deal, x, y, num_vectors);
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  if constexpr (sizeof(S) == sizeof(float))
    if (is_wide(num_vectors)) return spmv_wide_block(a, deal, x, y, num_vectors);
  if (num_vectors <= 8) {
    launch_block<kWeighted, 8>(a, deal, x, y, num_vectors);
  } else if (num_vectors <= 16) {
    launch_block<kWeighted, 16>(a, deal, x, y, num_vectors);
  } else {
    launch_block<kWeighted, 32>(a, deal, x, y, num_vectors);
  }
}

}  // namespace

template <class S>
void spmv_block(const CsrView<S>& a, const RunView& deal, const S* x, double* y, unsigned num_vectors) {
  if (deal.num_runs == 0) return;
  if (a.values != nullptr)
    launch<true>(a, deal, x, y, num_vectors);
  else
    launch<false>(a, deal, x, y, num_vectors);
}

template void spmv_block(const CsrView<float>&, const RunView&, const float*, double*, unsigned);
template void spmv_block(const CsrView<double>&, const RunView&, const double*, double*, unsigned);

}  // namespace tessera::cuda
