// Blocks take equally many elements of all tiles; the part of x of the tile that they are in lies in shared
// memory. Rows' sums are added as in coo, so tiles need no launch of their own.
#include <string>

#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/cuda/shared_memory_limit.hpp"
#include "kernels/formats/tile_coo.hpp"

namespace tessera {
namespace cuda {
namespace {

constexpr unsigned kTileThreads = 1024;

template <class S>
struct TileElements {
  const CooTile* tiles;
  std::uint32_t num_elements, share;  ///< of a block
  const VertexId* row_indices;
  const std::uint16_t* offsets;
  const S* values;
};

template <class S>
struct TileElement {
  std::uint32_t row = kNoRow;
  std::uint16_t offset = 0;
  S value = 0;
  __device__ TileElement(const TileElements<S>& a, std::uint64_t k, std::uint64_t end) {
    if (k >= end) return;
    row = a.row_indices[k];
    offset = a.offsets[k];
    value = a.values[k];
  }
};

template <class S>
__global__ void __launch_bounds__(kTileThreads, 1)
    add_tiles(TileElements<S> a, const S* __restrict__ slots, S* y) {
  extern __shared__ __align__(16) unsigned char memory[];
  S* window = reinterpret_cast<S*>(memory);
  const std::uint64_t share_begin = std::uint64_t{blockIdx.x} * a.share;
  const std::uint64_t share_end = min(share_begin + a.share, std::uint64_t{a.num_elements});
  // All threads of a block go round the outer loop together, all of a warp the inner one.
  for (const CooTile* tile = a.tiles; tile->first_element < share_end; ++tile) {
    const std::uint64_t begin = max(share_begin, std::uint64_t{tile[0].first_element});
    const std::uint64_t end = min(share_end, std::uint64_t{tile[1].first_element});
    if (begin >= end) continue;
    const unsigned lane = threadIdx.x % kWarpThreads;
    TileElement<S> next(a, begin + threadIdx.x, end);
    __syncthreads();  // the window before is no longer read
    for (std::uint32_t i = threadIdx.x; i < tile->num_columns; i += kTileThreads)
      window[i] = slots[tile->first_slot + i];
    __syncthreads();
    for (std::uint64_t base = begin + (threadIdx.x - lane); base < end; base += kTileThreads) {
      const TileElement<S> element = next;
      next = TileElement<S>(a, base + lane + kTileThreads, end);  // on its way while this one is added
      add_by_row(element.row, element.value * window[element.offset], y);
    }
  }
}

template <class S>
__global__ void gather(std::uint64_t size, const VertexId* __restrict__ columns, const S* __restrict__ x,
                       S* __restrict__ slots) {
  for (std::uint64_t i = thread_index(); i < size; i += num_threads()) slots[i] = x[columns[i]];
}

template <class S>
void launch_tiles(const TileCoo<S>& a, const S* slots, S* y) {
  const std::uint64_t size = a.values.size();
  if (size == 0) return;
  int device = 0, most_blocks = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&most_blocks, cudaDevAttrMultiProcessorCount, device));
  const auto share = round_up<std::uint64_t>(
      ceil_div<std::uint64_t>(size, static_cast<std::uint64_t>(most_blocks)), kTileThreads);
  const std::uint64_t window_bytes = a.widest_tile * sizeof(S);
  allow_shared_bytes<add_tiles<S>>(window_bytes);
  const TileElements<S> elements{a.tiles.data(),
                                 static_cast<std::uint32_t>(size),
                                 static_cast<std::uint32_t>(share),
                                 a.row_indices.data(),
                                 a.offsets.data(),
                                 a.values.data()};
  add_tiles<<<static_cast<unsigned>(ceil_div(size, share)), kTileThreads, window_bytes>>>(elements, slots, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

}  // namespace
}  // namespace cuda

template <class S>
void check_device(const TileCoo<S>& a) {
  int device = 0, most_bytes = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const std::uint64_t window_bytes = a.widest_tile * sizeof(S);
  if (window_bytes > static_cast<std::uint64_t>(most_bytes))
    throw ResourceError("tile-coo: a tile of " + std::to_string(window_bytes >> 10) +
                        " KiB does not fit in the " + std::to_string(most_bytes >> 10) +
                        " KiB of shared memory that a block has on this GPU");
}

template <class S>
void order_input_on_device(const TileCoo<S>& a, const S* x, S* slots) {
  const std::uint64_t size = a.slot_columns.size();
  if (size == 0) return;
  cuda::gather<<<cuda::blocks_for(size), cuda::kBlockThreads>>>(size, a.slot_columns.data(), x, slots);
  TESSERA_CUDA_CALL(cudaGetLastError());
}

template <class S>
void multiply_on_device(const TileCoo<S>& a, const S* slots, S* y) {
  TESSERA_CUDA_CALL(cudaMemsetAsync(y, 0, a.num_rows * sizeof(S), nullptr));
  cuda::launch_tiles(a, slots, y);
  add_on_device(a.rest, slots, y);
}

template void check_device(const TileCoo<float>&);
template void check_device(const TileCoo<double>&);
template void order_input_on_device(const TileCoo<float>&, const float*, float*);
template void order_input_on_device(const TileCoo<double>&, const double*, double*);
template void multiply_on_device(const TileCoo<float>&, const float*, float*);
template void multiply_on_device(const TileCoo<double>&, const double*, double*);

}  // namespace tessera
