#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/formats/coo.hpp"

namespace tessera {
namespace cuda {
namespace {

template <class S>
__global__ void add_elements(std::uint64_t num_elements, const VertexId* __restrict__ row_indices,
                             const VertexId* __restrict__ col_indices, const S* __restrict__ values,
                             const S* __restrict__ x, S* y) {
  const std::uint64_t lane = threadIdx.x % kWarpThreads;
  for (std::uint64_t base = thread_index() - lane; base < num_elements; base += num_threads()) {
    const std::uint64_t k = base + lane;
    const bool is_mine = k < num_elements;
    add_by_row(is_mine ? row_indices[k] : kNoRow, is_mine ? values[k] * x[col_indices[k]] : S{0}, y);
  }
}

}  // namespace
}  // namespace cuda

template <class S>
void add_on_device(const Coo<S>& a, const S* x, S* y) {
  const std::uint64_t size = a.values.size();
  if (size == 0) return;
  cuda::add_elements<<<cuda::blocks_for(size), cuda::kBlockThreads>>>(
      size, a.row_indices.data(), a.col_indices.data(), a.values.data(), x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
void multiply_on_device(const Coo<S>& a, const S* x, S* y) {
  TESSERA_CUDA_CALL(cudaMemsetAsync(y, 0, a.num_rows * sizeof(S), nullptr));
  add_on_device(a, x, y);
}

template void add_on_device(const Coo<float>&, const float*, float*);
template void add_on_device(const Coo<double>&, const double*, double*);
template void multiply_on_device(const Coo<float>&, const float*, float*);
template void multiply_on_device(const Coo<double>&, const double*, double*);

}  // namespace tessera
