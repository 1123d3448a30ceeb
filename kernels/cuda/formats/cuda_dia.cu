#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/formats/dia.hpp"

namespace tessera {
namespace cuda {
namespace {

template <class S>
__global__ void multiply_diagonals(std::uint64_t num_rows, std::int64_t num_cols, std::uint64_t num_diagonals,
                                   const std::int64_t* __restrict__ offsets, const S* __restrict__ values,
                                   const S* __restrict__ x, S* __restrict__ y) {
  for (std::uint64_t row = thread_index(); row < num_rows; row += num_threads()) {
    S sum = 0;
    for (std::uint64_t d = 0; d < num_diagonals; ++d) {
      const std::int64_t column = static_cast<std::int64_t>(row) + offsets[d];
      if (column >= 0 && column < num_cols) sum += values[d * num_rows + row] * x[column];
    }
    y[row] = sum;
  }
}

}  // namespace
}  // namespace cuda

template <class S>
void multiply_on_device(const Dia<S>& a, const S* x, S* y) {
  if (a.num_rows == 0) return;
  cuda::multiply_diagonals<<<cuda::blocks_for(a.num_rows), cuda::kBlockThreads>>>(
      a.num_rows, static_cast<std::int64_t>(a.num_cols), a.offsets.size(), a.offsets.data(), a.values.data(),
      x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template void multiply_on_device(const Dia<float>&, const float*, float*);
template void multiply_on_device(const Dia<double>&, const double*, double*);

}  // namespace tessera
