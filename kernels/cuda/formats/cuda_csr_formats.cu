// The five kernels on CSR of kernels/formats/csr_formats.hpp.
#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/formats/csr_formats.hpp"

namespace tessera {
namespace cuda {
namespace {

template <class S>
struct Arrays {
  std::uint64_t num_rows;
  const std::uint32_t* row_offsets;
  const VertexId* col_indices;
  const S* values;
  explicit Arrays(const CsrFormat<S>& a)
      : num_rows(a.num_rows),
        row_offsets(a.row_offsets.data()),
        col_indices(a.col_indices.data()),
        values(a.values.data()) {}
};

/// kThreads neighbouring threads a row.
template <unsigned kThreads, class S>
__global__ void multiply_rows(Arrays<S> a, const S* __restrict__ x, S* __restrict__ y) {
  const unsigned lane = threadIdx.x % kThreads;
  // Whole warps go round together: rows are added across lanes.
  const std::uint64_t first = thread_index() / kWarpThreads * kWarpThreads;
  const std::uint64_t mine = threadIdx.x % kWarpThreads / kThreads, step = num_threads() / kThreads;
  for (std::uint64_t base = first / kThreads; base < a.num_rows; base += step) {
    const std::uint64_t row = base + mine;
    S sum = 0;
    if (row < a.num_rows)
      for (std::uint32_t k = a.row_offsets[row] + lane; k < a.row_offsets[row + 1]; k += kThreads)
        sum += a.values[k] * x[a.col_indices[k]];
    sum = add_neighbours<kThreads>(sum);
    if (lane == 0 && row < a.num_rows) y[row] = sum;
  }
}

template <unsigned kThreads, class S>
void launch_rows(const CsrFormat<S>& a, const S* x, S* y) {
  if (a.num_rows == 0) return;
  multiply_rows<kThreads><<<blocks_for(a.num_rows * kThreads), kBlockThreads>>>(Arrays<S>(a), x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

/// Elements of a warp of csr-balanced.
constexpr std::uint32_t kShare = 512;

/// The row of element k: the last one that starts at or before it and is not empty.
__device__ std::uint32_t row_of_element(const std::uint32_t* row_offsets, std::uint64_t num_rows,
                                        std::uint32_t k) {
  std::uint32_t low = 0, high = static_cast<std::uint32_t>(num_rows);
  while (low + 1 < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (row_offsets[middle] <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

template <class S>
__global__ void multiply_shares(Arrays<S> a, std::uint32_t num_elements, const S* __restrict__ x, S* y) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  const std::uint64_t first = thread_index() / kWarpThreads * kShare;
  if (first >= num_elements) return;
  const auto end = static_cast<std::uint32_t>(min(std::uint64_t{num_elements}, first + kShare));
  std::uint32_t row =
      row_of_element(a.row_offsets, a.num_rows, min(static_cast<std::uint32_t>(first) + lane, end - 1));
  for (auto base = static_cast<std::uint32_t>(first); base < end; base += kWarpThreads) {
    const std::uint32_t k = base + lane;
    const bool is_mine = k < end;
    while (is_mine && a.row_offsets[row + 1] <= k) ++row;
    add_by_row(is_mine ? row : kNoRow, is_mine ? a.values[k] * x[a.col_indices[k]] : S{0}, y);
  }
}

}  // namespace
}  // namespace cuda

template <class S>
void multiply_on_device(const CsrScalar<S>& a, const S* x, S* y) {
  cuda::launch_rows<1>(a, x, y);
}
template <class S>
void multiply_on_device(const CsrVector<S>& a, const S* x, S* y) {
  cuda::launch_rows<32>(a, x, y);
}
template <class S>
void multiply_on_device(const CsrHalfWarp<S>& a, const S* x, S* y) {
  cuda::launch_rows<16>(a, x, y);
}
template <class S>
void multiply_on_device(const CsrAdaptive<S>& a, const S* x, S* y) {
  switch (a.threads_a_row) {
    case 1:
      return cuda::launch_rows<1>(a, x, y);
    case 2:
      return cuda::launch_rows<2>(a, x, y);
    case 4:
      return cuda::launch_rows<4>(a, x, y);
    case 8:
      return cuda::launch_rows<8>(a, x, y);
    case 16:
      return cuda::launch_rows<16>(a, x, y);
    default:
      return cuda::launch_rows<32>(a, x, y);
  }
}
template <class S>
void multiply_on_device(const CsrBalanced<S>& a, const S* x, S* y) {
  TESSERA_CUDA_CALL(cudaMemsetAsync(y, 0, a.num_rows * sizeof(S), nullptr));
  const auto size = static_cast<std::uint32_t>(a.values.size());
  if (size == 0) return;
  const std::uint64_t warps = ceil_div(size, cuda::kShare);
  const auto blocks =
      static_cast<unsigned>(ceil_div<std::uint64_t>(warps * cuda::kWarpThreads, cuda::kBlockThreads));
  cuda::multiply_shares<<<blocks, cuda::kBlockThreads>>>(cuda::Arrays<S>(a), size, x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template void multiply_on_device(const CsrScalar<float>&, const float*, float*);
template void multiply_on_device(const CsrScalar<double>&, const double*, double*);
template void multiply_on_device(const CsrVector<float>&, const float*, float*);
template void multiply_on_device(const CsrVector<double>&, const double*, double*);
template void multiply_on_device(const CsrHalfWarp<float>&, const float*, float*);
template void multiply_on_device(const CsrHalfWarp<double>&, const double*, double*);
template void multiply_on_device(const CsrAdaptive<float>&, const float*, float*);
template void multiply_on_device(const CsrAdaptive<double>&, const double*, double*);
template void multiply_on_device(const CsrBalanced<float>&, const float*, float*);
template void multiply_on_device(const CsrBalanced<double>&, const double*, double*);

}  // namespace tessera
