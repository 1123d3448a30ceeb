// A block a packet: its x and y in shared memory, a thread an element, sums over warps as in coo.
#include "kernels/cuda/formats/format_launch.cuh"
#include "kernels/formats/packet.hpp"

namespace tessera {
namespace cuda {
namespace {

constexpr unsigned kPacketThreads = 512;

template <class S>
__global__ void __launch_bounds__(kPacketThreads)
    multiply_packets(const PacketPart* __restrict__ parts, const VertexId* __restrict__ rows,
                     const PacketPlace* __restrict__ places, const S* __restrict__ values,
                     const S* __restrict__ x, S* __restrict__ y) {
  extern __shared__ __align__(16) unsigned char memory[];
  const PacketPart part = parts[blockIdx.x], next_part = parts[blockIdx.x + 1];
  const std::uint32_t num_rows = next_part.first_row - part.first_row;
  S* part_x = reinterpret_cast<S*>(memory);
  S* part_y = part_x + num_rows;
  rows += part.first_row;
  for (std::uint32_t i = threadIdx.x; i < num_rows; i += kPacketThreads) {
    part_x[i] = x[rows[i]];
    part_y[i] = 0;
  }
  __syncthreads();
  const unsigned lane = threadIdx.x % kWarpThreads;
  // In 64 bits: steps go beyond the end. All threads of a warp go round together.
  for (std::uint64_t base = part.first_element + (threadIdx.x - lane); base < next_part.first_element;
       base += kPacketThreads) {
    const std::uint64_t k = base + lane;
    const bool is_mine = k < next_part.first_element;
    const PacketPlace place = is_mine ? places[k] : PacketPlace{};
    add_by_row(is_mine ? std::uint32_t{place.row} : kNoRow, is_mine ? values[k] * part_x[place.column] : S{0},
               part_y);
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < num_rows; i += kPacketThreads) y[rows[i]] = part_y[i];
}

}  // namespace
}  // namespace cuda

template <class S>
void multiply_on_device(const Packet<S>& a, const S* x, S* y) {
  if (a.num_parts() == 0) return;
  const std::size_t bytes = std::size_t{2} * a.largest_part * sizeof(S);  // at most 48 KB
  cuda::multiply_packets<<<static_cast<unsigned>(a.num_parts()), cuda::kPacketThreads, bytes>>>(
      a.parts.data(), a.rows.data(), a.places.data(), a.values.data(), x, y);
  TESSERA_CUDA_CALL(cudaGetLastError());
  add_on_device(a.rest, x, y);
}

template void multiply_on_device(const Packet<float>&, const float*, float*);
template void multiply_on_device(const Packet<double>&, const double*, double*);

}  // namespace tessera
