#include "kernels/cuda/bin_rows.hpp"

#include <algorithm>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 256, kWarp = 32, kMostBlocks = 1u << 16;

unsigned blocks_for(std::uint64_t threads) {
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(ceil_div<std::uint64_t>(threads, kThreads), 1, kMostBlocks));
}

/// A warp a slice: of_place[p] = offset of element 0 of the row whose sum is entry p of the product.
__global__ void offsets_of_slices(const Slice* slices, std::uint64_t num_slices, const std::uint32_t* words,
                                  std::uint16_t* of_place) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads / kWarp;
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) / kWarp; i < num_slices;
       i += step) {
    const Slice s = slices[i];
    for (std::uint32_t row = threadIdx.x % kWarp; row < rows_of(s); row += kWarp)
      of_place[s.first_out + row] = static_cast<std::uint16_t>(offset_at(words, element_place(s, row, 0)));
  }
}

/// The bin of an entry of the product: the last that begins there or before it.
__device__ std::uint32_t bin_of(VertexId place, const std::uint32_t* first_places, std::uint32_t num_bins) {
  std::uint32_t low = 0, high = num_bins;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (first_places[middle] <= place ? low : high) = middle;
  }
  return low;
}

/// A thread a row. first_rows: the largest number where nothing is known yet; its last entry 0.
__global__ void offsets_of_rows(const VertexId* positions, std::uint32_t num_rows,
                                const std::uint16_t* of_place, const std::uint32_t* first_places,
                                std::uint32_t num_bins, std::uint16_t* first_messages,
                                std::uint32_t* first_rows) {
  const std::uint32_t step = gridDim.x * kThreads;
  for (std::uint64_t row = blockIdx.x * kThreads + threadIdx.x; row < num_rows; row += step) {
    const VertexId place = positions[row];
    if (place == kNoVertex) {
      first_messages[row] = kNoMessage;
      continue;
    }
    first_messages[row] = of_place[place];
    const std::uint32_t bin = bin_of(place, first_places, num_bins);
    const VertexId before = row == 0 ? kNoVertex : positions[row - 1],
                   behind = row + 1 == num_rows ? kNoVertex : positions[row + 1];
    if (before == kNoVertex || bin_of(before, first_places, num_bins) != bin)
      atomicMin(first_rows + bin, static_cast<std::uint32_t>(row));
    if (behind == kNoVertex && row >= first_rows[num_bins])
      atomicMax(first_rows + num_bins, static_cast<std::uint32_t>(row + 1));
  }
}

}  // namespace

template <class S>
BinRows find_bin_rows(const TileMessages<S>& matrix, std::span<const Window> windows,
                      std::span<const Slice> slices) {
  constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  const SlicePass<S>& bins = matrix.bins;
  const auto num_bins = static_cast<std::uint32_t>(bins.num_windows());
  require(matrix.num_products > 0 && matrix.num_rows < kUnknown, "a matrix with messages");
  std::vector<std::uint32_t> first_places(num_bins), first_rows(num_bins + 1, kUnknown);
  for (std::uint32_t b = 0; b < num_bins; ++b) {
    require(windows[b].first_slice < windows[b + 1].first_slice, "every bin has messages");
    first_places[b] = slices[windows[b].first_slice].first_out;
  }
  first_rows.back() = 0;
  Buffer<std::uint16_t> of_place = device_buffer<std::uint16_t>(matrix.num_products);
  const Buffer<std::uint32_t> places = on_device(std::span<const std::uint32_t>(first_places));
  BinRows result;
  result.first_messages = device_buffer<std::uint16_t>(matrix.num_rows);
  result.first_rows = on_device(std::span<const std::uint32_t>(first_rows));
  offsets_of_slices<<<blocks_for(bins.slices.size() * kWarp), kThreads>>>(
      bins.slices.data(), bins.slices.size(), bins.words.data(), of_place.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  offsets_of_rows<<<blocks_for(matrix.num_rows), kThreads>>>(
      matrix.row_positions.data(), static_cast<std::uint32_t>(matrix.num_rows), of_place.data(),
      places.data(), num_bins, result.first_messages.data(), result.first_rows.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  const Buffer<std::uint32_t> found = on_host(result.first_rows);
  std::copy(found.begin(), found.end(), first_rows.begin());
  first_rows.front() = 0;  // rows before the first message are of its bin
  for (std::uint32_t b = 0; b < num_bins; ++b)
    result.largest = std::max<std::uint64_t>(result.largest, first_rows[b + 1] - first_rows[b]);
  result.first_rows = on_device(std::span<const std::uint32_t>(first_rows));
  return result;
}

template BinRows find_bin_rows(const TileMessages<float>&, std::span<const Window>, std::span<const Slice>);
template BinRows find_bin_rows(const TileMessages<double>&, std::span<const Window>, std::span<const Slice>);

}  // namespace tessera::cuda
