#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/formats/csr_ell.hpp"

namespace tessera {
namespace cuda {
namespace {

template <class S>
struct Arrays {
  const VertexId* ell_rows;
  const EllWarp* ell_warps;
  const CsrWarp* csr_warps;
  std::uint64_t num_ell_warps, num_warps;
  const VertexId* col_indices;
  const S* values;
};

template <class S>
__device__ S sum_elements(const Arrays<S>& a, const S* x, std::uint32_t first, std::uint32_t end) {
  S sum = 0;
  for (std::uint32_t k = first; k < end; k += kWarpThreads) sum += a.values[k] * x[a.col_indices[k]];
  return sum;
}

template <class S>
__device__ void multiply_ell_warp(const Arrays<S>& a, const EllWarp& warp, unsigned lane, const S* x, S* y) {
  const unsigned row = lane / warp.threads, thread = lane % warp.threads;
  const bool is_used = row < warp.num_rows;
  const std::uint32_t first = warp.first_element + lane;
  S sum = is_used ? sum_elements(a, x, first, warp.first_element + warp.width * kWarpThreads) : S{0};
  for (unsigned distance = kWarpThreads / 2; distance > 0; distance /= 2) {
    const S other = __shfl_down_sync(0xffffffffu, sum, distance);
    if (thread + distance < warp.threads) sum += other;
  }
  if (is_used && thread == 0) y[a.ell_rows[warp.first_row + row]] = sum;
}

/// A warp an EllWarp or a CsrWarp.
template <class S>
__global__ void multiply_warps(Arrays<S> a, const S* __restrict__ x, S* __restrict__ y) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  for (std::uint64_t w = thread_index() / kWarpThreads; w < a.num_warps; w += num_threads() / kWarpThreads) {
    if (w < a.num_ell_warps) {
      multiply_ell_warp(a, a.ell_warps[w], lane, x, y);
      continue;
    }
    const CsrWarp warp = a.csr_warps[w - a.num_ell_warps];
    const S sum = add_neighbours<kWarpThreads>(sum_elements(a, x, warp.begin + lane, warp.end));
    if (lane != 0) continue;
    if (warp.is_whole_row)
      y[warp.row] = sum;
    else
      atomicAdd(y + warp.row, sum);
  }
}

}  // namespace
}  // namespace cuda

template <class S>
void multiply_on_device(const CsrEll<S>& a, const S* x, S* y) {
  if (a.has_shared_rows) TESSERA_CUDA_CALL(cudaMemsetAsync(y, 0, a.num_rows * sizeof(S), nullptr));
  const cuda::Arrays<S> arrays{a.ell_rows.data(),
                               a.ell_warps.data(),
                               a.csr_warps.data(),
                               a.ell_warps.size(),
                               a.ell_warps.size() + a.csr_warps.size(),
                               a.col_indices.data(),
                               a.values.data()};
  if (arrays.num_warps == 0) return;
  cuda::multiply_warps<<<cuda::blocks_for(arrays.num_warps * cuda::kWarpThreads), cuda::kBlockThreads>>>(
      arrays, x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template void multiply_on_device(const CsrEll<float>&, const float*, float*);
template void multiply_on_device(const CsrEll<double>&, const double*, double*);

}  // namespace tessera
