#include "kernels/cuda/cuda_vector_ops.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/cuda_vector_ops.cuh"
#include "kernels/cuda/device_array.hpp"

namespace tessera::cuda {
namespace {

template <int kFolds>
void copy_limbs(const Limb (&from)[kFolds], FoldedSum<kFolds>& to) {
  for (int f = 0; f < kFolds; ++f) to.limbs[f] = static_cast<std::int64_t>(from[f]);
}

VectorSums to_host(const DeviceSums& sums) {
  VectorSums result;
  copy_limbs(sums.change_l1, result.change_l1);
  copy_limbs(sums.change_squares, result.change_squares);
  copy_limbs(sums.total, result.total);
  copy_limbs(sums.dangling, result.dangling);
  std::memcpy(&result.change_max, &sums.change_max, sizeof result.change_max);
  return result;
}

}  // namespace

template <class S>
void fill(S* vector, std::uint64_t size, S value) {
  if (size == 0) return;
  fill_kernel<<<num_blocks(size), kThreads>>>(vector, size, value);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
void scatter_scaled(const S* vector, const S* scale, const VertexId* slots, std::uint64_t count,
                    unsigned num_vectors, S* out, cudaStream_t stream) {
  if (count == 0) return;
  scatter_kernel<<<num_blocks(count * num_vectors), kThreads, 0, stream>>>(vector, scale, slots, count,
                                                                           num_vectors, out);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
void select_vectors(const S* block, unsigned num_vectors, std::span<const unsigned> kept,
                    std::uint64_t num_rows, S* out) {
  const std::uint64_t size = num_rows * kept.size();
  if (size == 0) return;
  DeviceArray<unsigned> which(kept);
  select_kernel<<<num_blocks(size), kThreads>>>(block, num_vectors, which.data(),
                                                static_cast<unsigned>(kept.size()), size, out);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
VectorSums rank_update(const RankUpdate& update, const double* y, const S* jump, const S* scale,
                       const ExactScale& bound, bool squares, S* score, std::uint64_t num_rows) {
  if (num_rows == 0) return {};
  DeviceArray<DeviceSums> sums(1);
  rank_kernel<<<num_reduce_blocks(num_rows), kThreads>>>(update, y, jump, scale, bound, squares, score,
                                                         num_rows, sums.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  return to_host(sums.download()[0]);
}

template <class S>
VectorSums scale_update(double factor, const double* y, const ExactScale& bound, bool squares, S* score,
                        std::uint64_t num_rows) {
  if (num_rows == 0) return {};
  DeviceArray<DeviceSums> sums(1);
  scale_kernel<<<num_reduce_blocks(num_rows), kThreads>>>(factor, y, bound, squares, score, num_rows,
                                                          sums.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  return to_host(sums.download()[0]);
}

template <class S>
std::vector<VectorSums> walk_update(double continue_probability, double restart, const double* y,
                                    std::span<const VertexId> restart_rows, unsigned num_vectors,
                                    const ExactScale& bound, bool squares, S* walk, std::uint64_t num_rows) {
  std::vector<VectorSums> result(num_vectors);
  if (num_rows == 0) return result;
  DeviceArray<VertexId> rows(restart_rows);
  DeviceArray<DeviceSums> sums(num_vectors);
  const dim3 threads(kWalkVectors, kThreads / kWalkVectors);
  const dim3 blocks(num_reduce_blocks(num_rows * kWalkVectors), ceil_div(num_vectors, kWalkVectors));
  walk_kernel<<<blocks, threads>>>(continue_probability, restart, y, rows.data(), num_vectors, bound, squares,
                                   walk, num_rows, sums.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  const std::vector<DeviceSums> host = sums.download();
  std::transform(host.begin(), host.end(), result.begin(), to_host);
  return result;
}

double max_abs(const double* y, std::uint64_t size) {
  if (size == 0) return 0;
  DeviceArray<DeviceSums> sums(1);
  max_kernel<<<num_reduce_blocks(size), kThreads>>>(y, size, ExactScale(1.0), sums.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  return to_host(sums.download()[0]).change_max;
}

ExactSum sum(const double* y, std::uint64_t size, bool squares, const ExactScale& bound) {
  if (size == 0) return {};
  DeviceArray<DeviceSums> sums(1);
  sum_kernel<<<num_reduce_blocks(size), kThreads>>>(y, size, squares, bound, sums.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  return to_host(sums.download()[0]).total;
}

#define TESSERA_INSTANTIATE(S)                                                                             \
  template void fill(S*, std::uint64_t, S);                                                                \
  template void scatter_scaled(const S*, const S*, const VertexId*, std::uint64_t, unsigned, S*,           \
                               cudaStream_t);                                                              \
  template void select_vectors(const S*, unsigned, std::span<const unsigned>, std::uint64_t, S*);          \
  template VectorSums rank_update(const RankUpdate&, const double*, const S*, const S*, const ExactScale&, \
                                  bool, S*, std::uint64_t);                                                \
  template std::vector<VectorSums> walk_update(double, double, const double*, std::span<const VertexId>,   \
                                               unsigned, const ExactScale&, bool, S*, std::uint64_t);      \
  template VectorSums scale_update(double, const double*, const ExactScale&, bool, S*, std::uint64_t);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
