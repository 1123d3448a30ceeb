#include "kernels/cuda/run_window_rows.hpp"

#include <utility>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/shared_memory_limit.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kThreads = 1024, kWarp = 32, kBits = 32;
/// Windows are dealt a second time, by the inputs that those of the first have; a third changes nothing.
constexpr unsigned kDeals = 2;
/// What a row costs beside its elements, in elements; less, so that windows have more even numbers of
/// elements, where they do not fit.
constexpr double kRowCosts[] = {16, 4, 1};

/// By all threads of a block; every one gets the sum of those before.
__device__ std::uint32_t sum_before(std::uint32_t own) {
  __shared__ std::uint32_t of_warps[kThreads / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  std::uint32_t sum = own;
#pragma unroll
  for (unsigned distance = 1; distance < kWarp; distance *= 2) {
    const std::uint32_t before = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance) sum += before;
  }
  if (lane == kWarp - 1) of_warps[warp] = sum;
  __syncthreads();
  std::uint32_t before = 0;
  for (unsigned w = 0; w < warp; ++w) before += of_warps[w];
  return before + sum - own;
}

/// The columns that a window reads, a bit each, and how many there are before each word of them. By all
/// threads of a block.
class ReadColumns {
 public:
  __device__ ReadColumns(const VertexId* col_indices, EdgeOffset begin, EdgeOffset end,
                         std::uint32_t num_words, std::uint32_t* shared)
      : bits_(shared), before_(reinterpret_cast<std::uint16_t*>(shared + num_words)) {
    for (std::uint32_t w = threadIdx.x; w < num_words; w += kThreads) bits_[w] = 0;
    __syncthreads();
    for (EdgeOffset e = begin + threadIdx.x; e < end; e += kThreads)
      atomicOr(bits_ + col_indices[e] / kBits, 1u << col_indices[e] % kBits);
    __syncthreads();
    const std::uint32_t each = ceil_div(num_words, kThreads);
    first_ = min(threadIdx.x * each, num_words), last_ = min(first_ + each, num_words);
    std::uint32_t own = 0;
    for (std::uint32_t w = first_; w < last_; ++w) own += __popc(bits_[w]);
    begin_ = sum_before(own);
    end_ = begin_ + own;
  }
  /// By the last thread.
  __device__ std::uint32_t num() const { return end_; }
  /// Writes them in ascending order. Before a barrier.
  __device__ void list(VertexId* columns) {
    std::uint32_t at = begin_;
    for (std::uint32_t w = first_; w < last_; ++w) {
      before_[w] = static_cast<std::uint16_t>(at);
      for (std::uint32_t left = bits_[w]; left != 0; left &= left - 1)
        columns[at++] = w * kBits + static_cast<VertexId>(__ffs(static_cast<int>(left))) - 1;
    }
  }
  __device__ std::uint16_t place_of(VertexId column) const {
    const std::uint32_t below = bits_[column / kBits] & ((1u << column % kBits) - 1);
    return static_cast<std::uint16_t>(before_[column / kBits] + __popc(below));
  }

 private:
  std::uint32_t* bits_;
  std::uint16_t* before_;
  std::uint32_t first_, last_, begin_, end_;  // words of a thread, and its columns
};

__device__ std::uint32_t length_of(const EdgeOffset* row_offsets, VertexId row) {
  return static_cast<std::uint32_t>(row_offsets[row + 1] - row_offsets[row]);
}

__global__ void __launch_bounds__(kThreads)
    count_kernel(const EdgeOffset* row_offsets, const VertexId* col_indices, std::uint32_t num_words,
                 RunWindow* windows) {
  extern __shared__ std::uint32_t bits[];
  __shared__ std::uint32_t num_chunks;
  RunWindow& window = windows[blockIdx.x];
  const RunWindow& next = windows[blockIdx.x + 1];
  if (threadIdx.x == 0) num_chunks = 0;
  const ReadColumns columns(col_indices, window.first_element, next.first_element, num_words, bits);
  for (VertexId row = window.first_row + threadIdx.x; row < next.first_row; row += kThreads)
    if (const std::uint32_t length = length_of(row_offsets, row); length > kMostOfThread)
      atomicAdd(&num_chunks, ceil_div(length, kSumChunk));
  __syncthreads();
  if (threadIdx.x != kThreads - 1) return;
  window.num_inputs = columns.num();
  window.num_chunks = num_chunks;
}

struct WindowArrays {
  VertexId* inputs;
  std::uint16_t* places;
  WindowRow* rows;
  WindowChunk* chunks;
};

__global__ void __launch_bounds__(kThreads)
    fill_kernel(const EdgeOffset* row_offsets, const VertexId* col_indices, std::uint32_t num_words,
                const RunWindow* windows, WindowArrays to) {
  extern __shared__ std::uint32_t bits[];
  __shared__ std::uint32_t num_chunks;
  const RunWindow& window = windows[blockIdx.x];
  const RunWindow& next = windows[blockIdx.x + 1];
  if (threadIdx.x == 0) num_chunks = 0;
  ReadColumns columns(col_indices, window.first_element, next.first_element, num_words, bits);
  columns.list(to.inputs + window.first_element);
  __syncthreads();
  for (EdgeOffset e = window.first_element + threadIdx.x; e < next.first_element; e += kThreads)
    to.places[e] = columns.place_of(col_indices[e]);
  for (VertexId row = window.first_row + threadIdx.x; row < next.first_row; row += kThreads) {
    const auto begin = static_cast<std::uint32_t>(row_offsets[row] - window.first_element);
    const std::uint32_t length = length_of(row_offsets, row);
    to.rows[row] = {begin, length};
    if (length <= kMostOfThread) continue;
    const std::uint32_t count = ceil_div(length, kSumChunk), first = atomicAdd(&num_chunks, count);
    to.rows[row] = {first, count | WindowRow::kInChunks};
    for (std::uint32_t k = 0; k < count; ++k)
      to.chunks[window.first_chunk + first + k] = {begin + k * kSumChunk,
                                                   min(kSumChunk, length - k * kSumChunk)};
  }
}

/// Shared memory for the columns of a matrix.
std::size_t columns_bytes(std::uint32_t num_words) {
  return num_words * (sizeof(std::uint32_t) + sizeof(std::uint16_t));
}

/// What windows have, in place.
void count_inputs(const EdgeOffset* row_offsets, const VertexId* col_indices, std::uint32_t num_words,
                  std::vector<RunWindow>& windows) {
  allow_shared_bytes<count_kernel>(columns_bytes(num_words));
  Buffer<RunWindow> counted = on_device(std::span<const RunWindow>(windows));
  count_kernel<<<static_cast<unsigned>(windows.size() - 1), kThreads, columns_bytes(num_words)>>>(
      row_offsets, col_indices, num_words, counted.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  const Buffer<RunWindow> found = on_host(counted);
  windows.assign(found.begin(), found.end());
}

}  // namespace

template <class S>
std::optional<RunWindowRows> RunWindowRows::of(const CsrView<S>& a, std::span<const EdgeOffset> row_offsets,
                                               unsigned num_blocks, std::size_t room_bytes) {
  const auto num_words = static_cast<std::uint32_t>(ceil_div<std::uint64_t>(a.num_cols, kBits));
  if (row_offsets.back() == row_offsets.front() || columns_bytes(num_words) > room_bytes) return std::nullopt;
  // Best of all with room for another side like it: the other one of a pair.
  std::vector<RunWindow> fitting;
  for (const double row_cost : kRowCosts) {
    std::vector<RunWindow> windows;
    for (unsigned deal = 0; deal < kDeals; ++deal) {
      windows = deal_windows(row_offsets, num_blocks, row_cost, windows);
      count_inputs(a.row_offsets, a.col_indices, num_words, windows);
    }
    const WindowSizes most = most_of(windows);
    const bool fits = windows_fit<S>(most, room_bytes), fits_twice = windows_fit<S>(most, most, room_bytes);
    if (fits && (fitting.empty() || fits_twice)) fitting = std::move(windows);
    if (fits && fits_twice) break;
  }
  if (fitting.empty()) return std::nullopt;
  place_chunks(fitting);
  return RunWindowRows(a.row_offsets, a.col_indices, num_words, fitting);
}

RunWindowRows::RunWindowRows(const EdgeOffset* row_offsets, const VertexId* col_indices,
                             std::uint32_t num_words, std::span<const RunWindow> counted)
    : most_(most_of(counted)),
      windows_(on_device(counted)),
      inputs_(device_buffer<VertexId>(counted.back().first_element)),
      places_(device_buffer<std::uint16_t>(counted.back().first_element)),
      rows_(device_buffer<WindowRow>(counted.back().first_row)),
      chunks_(device_buffer<WindowChunk>(counted.back().first_chunk)) {
  allow_shared_bytes<fill_kernel>(columns_bytes(num_words));
  fill_kernel<<<static_cast<unsigned>(counted.size() - 1), kThreads, columns_bytes(num_words)>>>(
      row_offsets, col_indices, num_words, windows_.data(),
      {inputs_.data(), places_.data(), rows_.data(), chunks_.data()});
  TESSERA_CUDA_CALL(cudaGetLastError());
}

RunWindows RunWindowRows::view() const {
  return {.windows = windows_.data(),
          .num_windows = static_cast<unsigned>(windows_.size() - 1),
          .most = most_,
          .inputs = inputs_.data(),
          .places = places_.data(),
          .rows = rows_.data(),
          .chunks = chunks_.data()};
}

template std::optional<RunWindowRows> RunWindowRows::of(const CsrView<float>&, std::span<const EdgeOffset>,
                                                        unsigned, std::size_t);
template std::optional<RunWindowRows> RunWindowRows::of(const CsrView<double>&, std::span<const EdgeOffset>,
                                                        unsigned, std::size_t);

}  // namespace tessera::cuda
