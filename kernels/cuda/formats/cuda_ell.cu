#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/formats/ell.hpp"

namespace tessera {
namespace cuda {
namespace {

/// row_lengths: null where every row goes to the full width.
template <class S>
__global__ void multiply_columns(std::uint64_t num_rows, std::uint64_t width,
                                 const std::uint32_t* row_lengths, const VertexId* __restrict__ col_indices,
                                 const S* __restrict__ values, const S* __restrict__ x, S* __restrict__ y) {
  for (std::uint64_t row = thread_index(); row < num_rows; row += num_threads()) {
    const std::uint64_t length = row_lengths == nullptr ? width : row_lengths[row];
    S sum = 0;
    for (std::uint64_t k = 0, at = row; k < length; ++k, at += num_rows)
      sum += values[at] * x[col_indices[at]];
    y[row] = sum;
  }
}

template <class S>
void launch(const Ell<S>& a, const std::uint32_t* row_lengths, const S* x, S* y) {
  if (a.num_rows == 0) return;
  multiply_columns<<<blocks_for(a.num_rows), kBlockThreads>>>(a.num_rows, a.width, row_lengths,
                                                              a.col_indices.data(), a.values.data(), x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

}  // namespace
}  // namespace cuda

template <class S>
void multiply_on_device(const Ell<S>& a, const S* x, S* y) {
  cuda::launch(a, nullptr, x, y);
}
template <class S>
void multiply_on_device(const EllpackR<S>& a, const S* x, S* y) {
  cuda::launch<S>(a, a.row_lengths.data(), x, y);
}

template void multiply_on_device(const Ell<float>&, const float*, float*);
template void multiply_on_device(const Ell<double>&, const double*, double*);
template void multiply_on_device(const EllpackR<float>&, const float*, float*);
template void multiply_on_device(const EllpackR<double>&, const double*, double*);

}  // namespace tessera
