#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/formats/sell.hpp"

namespace tessera {
namespace cuda {
namespace {

/// A warp a slice.
template <class S>
__global__ void multiply_slices(std::uint64_t num_rows, const VertexId* __restrict__ rows,
                                const std::uint32_t* __restrict__ slice_offsets,
                                const VertexId* __restrict__ col_indices, const S* __restrict__ values,
                                const S* __restrict__ x, S* __restrict__ y) {
  constexpr std::uint32_t kRows = Sell<S>::kSliceRows;
  static_assert(kRows == kWarpThreads);
  for (std::uint64_t i = thread_index(); i < num_rows; i += num_threads()) {
    const std::uint64_t slice = i / kRows;
    const std::uint32_t end = slice_offsets[slice + 1];
    S sum = 0;
    for (std::uint32_t k = slice_offsets[slice] + i % kRows; k < end; k += kRows)
      sum += values[k] * x[col_indices[k]];
    y[rows[i]] = sum;
  }
}

}  // namespace
}  // namespace cuda

template <class S>
void multiply_on_device(const Sell<S>& a, const S* x, S* y) {
  if (a.num_rows == 0) return;
  cuda::multiply_slices<<<cuda::blocks_for(a.num_rows), cuda::kBlockThreads>>>(
      a.num_rows, a.rows.data(), a.slice_offsets.data(), a.col_indices.data(), a.values.data(), x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template void multiply_on_device(const Sell<float>&, const float*, float*);
template void multiply_on_device(const Sell<double>&, const double*, double*);

}  // namespace tessera
