// A block a matrix; its x in shared memory where that has room.
#include <algorithm>

#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/formats/batch_formats.hpp"

namespace tessera {
namespace cuda {
namespace {

/// Shared memory that a block of any kernel may have without being asked for more; csr-scalar stages products
/// in some of it.
constexpr std::uint32_t kSharedBytes = 48 << 10, kStageBytes = 16 << 10;
constexpr std::uint32_t kStagedInputBytes = kSharedBytes - kStageBytes;
constexpr unsigned kWarps = kBlockThreads / kWarpThreads;

template <class S>
struct Arrays {
  const BatchItem* items;
  const std::uint32_t* row_offsets;
  const std::uint16_t *row_indices, *col_indices;
  const S* values;
};

constexpr unsigned kFour = kBatchAlignment;
struct alignas(8) FourColumns {
  std::uint16_t column[kFour];
};
template <class S>
struct alignas(16) FourValues {
  S value[kFour];
};

/// Products in shared memory, four side by side; rows as long as there are banks do not all begin in one.
template <class S>
struct Stage {
  static constexpr std::uint32_t kBanks = 128 / sizeof(S), kGap = 16 / sizeof(S);
  static constexpr std::uint32_t kSize = kStageBytes / sizeof(S) / (kBanks + kGap) * kBanks;
  static_assert(kSize <= kStepsBeyond, "positions count in 32 bits");
  __device__ static std::uint32_t place_of(std::uint32_t k) { return k + k / kBanks * kGap; }
  __device__ S operator[](std::uint32_t k) const { return products[place_of(k)]; }
  /// k: a multiple of four.
  __device__ void put(std::uint32_t k, const FourValues<S>& four) {
    *reinterpret_cast<FourValues<S>*>(products + place_of(k)) = four;
  }
  alignas(16) S products[kSize + kSize / kBanks * kGap];
};

/// The input of this block's matrix: in shared memory after this, or where it is.
template <std::uint32_t kInputBytes = kSharedBytes, class S>
__device__ const S* input_of(const BatchItem& item, const S* x) {
  extern __shared__ __align__(16) unsigned char memory[];
  const S* mine = x + item.first_col;
  if (item.num_cols > kInputBytes / sizeof(S)) return mine;
  S* shared = reinterpret_cast<S*>(memory);
  for (std::uint32_t i = threadIdx.x; i < item.num_cols; i += kBlockThreads) shared[i] = mine[i];
  __syncthreads();
  return shared;
}

template <unsigned kThreads, class S>
__device__ void multiply_rows(const Arrays<S>& a, const BatchItem& item, const S* x, S* y) {
  const std::uint32_t* offsets = a.row_offsets + item.first_offset;
  const std::uint16_t* columns = a.col_indices + item.first_element;
  const S* values = a.values + item.first_element;
  const unsigned lane = threadIdx.x % kThreads;
  constexpr unsigned kRows = kBlockThreads / kThreads;
  // Whole warps go round together: rows are added across lanes.
  for (std::uint32_t base = 0; base < item.num_rows; base += kRows) {
    const std::uint32_t row = base + threadIdx.x / kThreads;
    S sum = 0;
    if (row < item.num_rows)
      for (std::uint32_t k = offsets[row] + lane; k < offsets[row + 1]; k += kThreads)
        sum += values[k] * x[columns[k]];
    sum = add_neighbours<kThreads>(sum);
    if (lane == 0 && row < item.num_rows) y[row] = sum;
  }
}

/// A thread a row. All threads read the elements of these rows side by side and leave the products in shared
/// memory, from where the row's thread adds its own.
template <class S>
__global__ void __launch_bounds__(kBlockThreads)
    multiply_csr_scalar(Arrays<S> a, const S* __restrict__ x, S* y) {
  __shared__ Stage<S> stage;
  const BatchItem item = a.items[blockIdx.x];
  const S* input = input_of<kStagedInputBytes>(item, x);
  const std::uint32_t* offsets = a.row_offsets + item.first_offset;
  const auto* columns = reinterpret_cast<const FourColumns*>(a.col_indices + item.first_element);
  const auto* values = reinterpret_cast<const FourValues<S>*>(a.values + item.first_element);
  for (std::uint32_t base = 0; base < item.num_rows; base += kBlockThreads) {
    const std::uint32_t row = base + threadIdx.x;
    const std::uint32_t begin = offsets[min(row, item.num_rows)], end = offsets[min(row + 1, item.num_rows)];
    const std::uint32_t last = offsets[min(base + kBlockThreads, item.num_rows)];
    S sum = 0;
    for (std::uint32_t from = offsets[base] / kFour * kFour; from < last; from += Stage<S>::kSize) {
      const std::uint32_t to = min(last, from + Stage<S>::kSize);
      __syncthreads();  // the stage before has been read
#pragma unroll 4
      for (std::uint32_t k = from + kFour * threadIdx.x; k < to; k += kFour * kBlockThreads) {
        const FourColumns column = columns[k / kFour];
        FourValues<S> product = values[k / kFour];
#pragma unroll
        for (unsigned j = 0; j < kFour; ++j) product.value[j] *= input[column.column[j]];
        stage.put(k - from, product);
      }
      __syncthreads();
      for (std::uint32_t k = max(begin, from); k < min(end, to); ++k) sum += stage[k - from];
    }
    if (row < item.num_rows) y[item.first_row + row] = sum;
  }
}

template <unsigned kThreads, class S>
__global__ void __launch_bounds__(kBlockThreads) multiply_csr(Arrays<S> a, const S* __restrict__ x, S* y) {
  const BatchItem item = a.items[blockIdx.x];
  const S* input = input_of(item, x);
  if constexpr (kThreads > 0) {
    multiply_rows<kThreads>(a, item, input, y + item.first_row);
  } else {
    switch (item.width) {
      case 1:
        return multiply_rows<1>(a, item, input, y + item.first_row);
      case 2:
        return multiply_rows<2>(a, item, input, y + item.first_row);
      case 4:
        return multiply_rows<4>(a, item, input, y + item.first_row);
      case 8:
        return multiply_rows<8>(a, item, input, y + item.first_row);
      case 16:
        return multiply_rows<16>(a, item, input, y + item.first_row);
      default:
        return multiply_rows<32>(a, item, input, y + item.first_row);
    }
  }
}

/// Elements [begin, end) of a matrix by one warp; row_of(k) rises with k.
template <class S, class RowOf>
__device__ void add_elements(const Arrays<S>& a, const BatchItem& item, std::uint32_t begin,
                             std::uint32_t end, const RowOf& row_of, const S* x, S* y) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  for (std::uint32_t base = begin; base < end; base += kWarpThreads) {
    const std::uint32_t k = base + lane;
    const bool is_mine = k < end;
    const std::uint64_t at = item.first_element + k;
    add_by_row(is_mine ? row_of(k) : kNoRow, is_mine ? a.values[at] * x[a.col_indices[at]] : S{0}, y);
  }
}

/// The same number of elements a warp of the block.
template <bool kHasRows, class S>
__global__ void __launch_bounds__(kBlockThreads)
    multiply_elements(Arrays<S> a, const S* __restrict__ x, S* y) {
  const BatchItem item = a.items[blockIdx.x];
  S* mine = y + item.first_row;
  for (std::uint32_t row = threadIdx.x; row < item.num_rows; row += kBlockThreads) mine[row] = 0;
  const S* input = input_of(item, x);
  __syncthreads();
  const std::uint32_t share = (item.num_elements + kWarps - 1) / kWarps;
  const std::uint32_t begin = min(item.num_elements, threadIdx.x / kWarpThreads * share);
  const std::uint32_t end = min(item.num_elements, begin + share);
  if constexpr (kHasRows) {
    const std::uint16_t* rows = a.row_indices + item.first_element;
    add_elements(
        a, item, begin, end, [=](std::uint32_t k) { return std::uint32_t{rows[k]}; }, input, mine);
  } else {
    const std::uint32_t* offsets = a.row_offsets + item.first_offset;
    const auto row_of = [=](std::uint32_t k) {
      std::uint32_t low = 0, high = item.num_rows;
      while (low + 1 < high) {
        const std::uint32_t middle = (low + high) / 2;
        if (offsets[middle] <= k)
          low = middle;
        else
          high = middle;
      }
      return low;
    };
    add_elements(a, item, begin, end, row_of, input, mine);
  }
}

template <class S>
__global__ void __launch_bounds__(kBlockThreads) multiply_ell(Arrays<S> a, const S* __restrict__ x, S* y) {
  const BatchItem item = a.items[blockIdx.x];
  const S* input = input_of(item, x);
  for (std::uint32_t row = threadIdx.x; row < item.num_rows; row += kBlockThreads) {
    S sum = 0;
    std::uint64_t at = item.first_element + row;
    for (std::uint32_t k = 0; k < item.width; ++k, at += item.num_rows)
      sum += a.values[at] * input[a.col_indices[at]];
    y[item.first_row + row] = sum;
  }
}

template <class S, class Kernel>
void launch(const Kernel& kernel, std::size_t num_items, std::uint64_t num_columns, const Arrays<S>& arrays,
            const S* x, S* y, std::uint32_t input_bytes = kSharedBytes) {
  if (num_items == 0) return;
  const std::uint64_t bytes = std::min<std::uint64_t>(input_bytes, num_columns * sizeof(S));
  kernel<<<static_cast<unsigned>(num_items), kBlockThreads, bytes>>>(arrays, x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
Arrays<S> arrays_of(const BatchCsr<S>& a) {
  return {a.items.data(), a.row_offsets.data(), nullptr, a.col_indices.data(), a.values.data()};
}

}  // namespace
}  // namespace cuda

template <class S>
void multiply_on_device(const BatchCsrScalar<S>& a, const S* x, S* y) {
  cuda::launch(cuda::multiply_csr_scalar<S>, a.items.size(), a.num_columns, cuda::arrays_of<S>(a), x, y,
               cuda::kStagedInputBytes);
}
template <class S>
void multiply_on_device(const BatchCsrVector<S>& a, const S* x, S* y) {
  cuda::launch(cuda::multiply_csr<32, S>, a.items.size(), a.num_columns, cuda::arrays_of<S>(a), x, y);
}
template <class S>
void multiply_on_device(const BatchCsrAdaptive<S>& a, const S* x, S* y) {
  cuda::launch(cuda::multiply_csr<0, S>, a.items.size(), a.num_columns, cuda::arrays_of<S>(a), x, y);
}
template <class S>
void multiply_on_device(const BatchCsrBalanced<S>& a, const S* x, S* y) {
  cuda::launch(cuda::multiply_elements<false, S>, a.items.size(), a.num_columns, cuda::arrays_of<S>(a), x, y);
}
template <class S>
void multiply_on_device(const BatchCoo<S>& a, const S* x, S* y) {
  const cuda::Arrays<S> arrays{a.items.data(), nullptr, a.row_indices.data(), a.col_indices.data(),
                               a.values.data()};
  cuda::launch(cuda::multiply_elements<true, S>, a.items.size(), a.num_columns, arrays, x, y);
}
template <class S>
void multiply_on_device(const BatchEll<S>& a, const S* x, S* y) {
  const cuda::Arrays<S> arrays{a.items.data(), nullptr, nullptr, a.col_indices.data(), a.values.data()};
  cuda::launch(cuda::multiply_ell<S>, a.items.size(), a.num_columns, arrays, x, y);
}

template void multiply_on_device(const BatchCsrScalar<float>&, const float*, float*);
template void multiply_on_device(const BatchCsrScalar<double>&, const double*, double*);
template void multiply_on_device(const BatchCsrVector<float>&, const float*, float*);
template void multiply_on_device(const BatchCsrVector<double>&, const double*, double*);
template void multiply_on_device(const BatchCsrAdaptive<float>&, const float*, float*);
template void multiply_on_device(const BatchCsrAdaptive<double>&, const double*, double*);
template void multiply_on_device(const BatchCsrBalanced<float>&, const float*, float*);
template void multiply_on_device(const BatchCsrBalanced<double>&, const double*, double*);
template void multiply_on_device(const BatchCoo<float>&, const float*, float*);
template void multiply_on_device(const BatchCoo<double>&, const double*, double*);
template void multiply_on_device(const BatchEll<float>&, const float*, float*);
template void multiply_on_device(const BatchEll<double>&, const double*, double*);

}  // namespace tessera
