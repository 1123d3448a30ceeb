#include "kernels/base/types.hpp"
#include "kernels/cuda/cuda_linear_ops.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/dot_order.hpp"

namespace tessera::cuda {
namespace {

/// A block a chunk, a thread a lane.
template <class S>
__global__ void dot_chunks(const S* __restrict__ a, const S* __restrict__ b, std::uint64_t size,
                           double* __restrict__ chunks) {
  __shared__ double lanes[kDotLanes];
  const std::uint64_t first = blockIdx.x * kDotChunk, end = min(size, first + kDotChunk);
  double sum = 0;
  for (std::uint64_t i = first + threadIdx.x; i < end; i += kDotLanes)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  lanes[threadIdx.x] = sum;
  for (std::uint32_t distance = kDotLanes / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance) lanes[threadIdx.x] += lanes[threadIdx.x + distance];
  }
  if (threadIdx.x == 0) chunks[blockIdx.x] = lanes[0];
}

/// work(i) for every i < size.
template <class Work>
__global__ void each_element(std::uint64_t size, Work work) {
  for (std::uint64_t i = thread_index(); i < size; i += num_threads()) work(i);
}

template <class Work>
void for_each_element(std::uint64_t size, const Work& work) {
  if (size == 0) return;
  each_element<<<blocks_for(size), kBlockThreads>>>(size, work);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
struct AddScaled {
  double factor;
  const S* x;
  S* y;
  __device__ void operator()(std::uint64_t i) const {
    y[i] = static_cast<S>(static_cast<double>(y[i]) + factor * static_cast<double>(x[i]));
  }
};

template <class S>
struct ScaleAndAdd {
  const S* x;
  double factor;
  S* y;
  __device__ void operator()(std::uint64_t i) const {
    y[i] = static_cast<S>(static_cast<double>(x[i]) + factor * static_cast<double>(y[i]));
  }
};

template <class S>
struct MultiplyElements {
  const S *a, *b;
  S* out;
  __device__ void operator()(std::uint64_t i) const {
    out[i] = static_cast<S>(static_cast<double>(a[i]) * static_cast<double>(b[i]));
  }
};

}  // namespace

template <class S>
double dot(const S* a, const S* b, std::uint64_t size, Buffer<double>& chunks) {
  if (size == 0) return 0;
  const std::uint64_t num_chunks = ceil_div<std::uint64_t>(size, kDotChunk);
  if (chunks.size() < num_chunks) {
    chunks = {};
    chunks = device_buffer<double>(num_chunks);
  }
  dot_chunks<<<static_cast<unsigned>(num_chunks), kDotLanes>>>(a, b, size, chunks.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  Buffer<double> sums(num_chunks);
  TESSERA_CUDA_CALL(cudaMemcpy(sums.data(), chunks.data(), sums.size_bytes(), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (const double chunk : sums) sum += chunk;
  return sum;
}

template <class S>
void add_scaled(double factor, const S* x, S* y, std::uint64_t size) {
  for_each_element(size, AddScaled<S>{factor, x, y});
}

template <class S>
void scale_and_add(const S* x, double factor, S* y, std::uint64_t size) {
  for_each_element(size, ScaleAndAdd<S>{x, factor, y});
}

template <class S>
void multiply_elements(const S* a, const S* b, S* out, std::uint64_t size) {
  for_each_element(size, MultiplyElements<S>{a, b, out});
}

template double dot(const float*, const float*, std::uint64_t, Buffer<double>&);
template double dot(const double*, const double*, std::uint64_t, Buffer<double>&);
template void add_scaled(double, const float*, float*, std::uint64_t);
template void add_scaled(double, const double*, double*, std::uint64_t);
template void scale_and_add(const float*, double, float*, std::uint64_t);
template void scale_and_add(const double*, double, double*, std::uint64_t);
template void multiply_elements(const float*, const float*, float*, std::uint64_t);
template void multiply_elements(const double*, const double*, double*, std::uint64_t);

}  // namespace tessera::cuda
