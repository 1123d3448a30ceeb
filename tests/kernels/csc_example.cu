#include "kernels/cuda/formats/format_launch.cuh"
#include "tests/kernels/csc_example.hpp"

namespace tessera {
namespace cuda {
namespace {

template <class S>
__global__ void add_columns(std::uint64_t num_cols, const std::uint32_t* __restrict__ column_offsets,
                            const VertexId* __restrict__ row_indices, const S* __restrict__ values,
                            const S* __restrict__ x, S* y) {
  for (std::uint64_t column = thread_index(); column < num_cols; column += num_threads())
    for (std::uint32_t k = column_offsets[column]; k < column_offsets[column + 1]; ++k)
      atomicAdd(y + row_indices[k], values[k] * x[column]);
}

}  // namespace
}  // namespace cuda

template <class S>
void multiply_on_device(const Csc<S>& a, const S* x, S* y) {
  TESSERA_CUDA_CALL(cudaMemsetAsync(y, 0, a.num_rows * sizeof(S), nullptr));
  if (a.num_cols == 0) return;
  cuda::add_columns<<<cuda::blocks_for(a.num_cols), cuda::kBlockThreads>>>(
      a.num_cols, a.column_offsets.data(), a.row_indices.data(), a.values.data(), x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template void multiply_on_device(const Csc<float>&, const float*, float*);
template void multiply_on_device(const Csc<double>&, const double*, double*);

}  // namespace tessera
