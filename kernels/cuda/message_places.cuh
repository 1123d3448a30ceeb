// Which places of its bin each row's messages have, tile after tile: what pass 2 adds up.
#pragma once
#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "kernels/cuda/message_cutter.cuh"

namespace tessera::cuda {

inline constexpr unsigned kFewestPlaceThreads = 128, kMostPlaceThreads = 1024;
/// A block with more shared memory than this has as many threads as it may, as few run side by side.
inline constexpr std::size_t kSharedOfSmallBlock = std::size_t{48} << 10;

/// Messages that a piece has at most but for parallel edges that are kept: a tile has fewer than 65,536
/// columns.
inline constexpr std::uint32_t kUsualMostOfPiece = 65536 / kMessageElements;

/// Messages by cell (tile, then bin) and length. order[i] tells which message comes i-th; rows and shapes are
/// in the order in which messages were cut, where those of a piece, a row's in a tile, follow each other.
struct SortedMessages {
  std::uint32_t num_tiles, num_bins, count;
  const std::uint32_t *cell_firsts, *order;
  const VertexId* rows;
  const std::uint32_t* shapes;

  __host__ __device__ const std::uint32_t* cell(std::uint32_t tile, std::uint32_t bin) const {
    return cell_firsts + (std::uint64_t{tile} * num_bins + bin);
  }
  /// Of a piece of several messages: those before message m, and whether it is the last.
  __host__ __device__ std::uint32_t before_in_piece(std::uint32_t m) const {
    std::uint32_t width = kUsualMostOfPiece;
    while (width <= m && are_of_one_piece(m - width, m)) width *= 2;
    std::uint32_t low = m < width ? 0 : m + 1 - width, high = m;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (are_of_one_piece(middle, m))
        high = middle;
      else
        low = middle + 1;
    }
    return m - low;
  }
  __host__ __device__ bool ends_piece(std::uint32_t m) const {
    return m + 1 == count || !are_of_one_piece(m, m + 1);
  }
  __host__ __device__ bool are_of_one_piece(std::uint32_t a, std::uint32_t b) const {
    return rows[a] == rows[b] && MessageShape::tile(shapes[a]) == MessageShape::tile(shapes[b]);
  }
};

/// A thread's first message of a cell, on its way from memory while the cell before is worked on.
struct AwaitedMessage {
  std::uint32_t first = 0, count = 0;  ///< of the cell
  std::uint32_t message = 0, shape = 0;
  VertexId row = 0;

  __device__ bool is_one() const { return threadIdx.x < count; }
  __device__ void ask_for_cell(const SortedMessages& messages, std::uint32_t tile) {
    count = 0;
    if (tile >= messages.num_tiles) return;
    const std::uint32_t* const cell = messages.cell(tile, blockIdx.x);
    first = cell[0];
    count = cell[1] - first;
  }
  __device__ void ask_for_message(const SortedMessages& messages) {
    if (is_one()) message = messages.order[first + threadIdx.x];
  }
  __device__ void ask_for_row(const SortedMessages& messages) {
    if (!is_one()) return;
    row = messages.rows[message];
    shape = messages.shapes[message];
  }
};

/// Where a bin's places are put together, for a block each.
struct PlacesOfBins {
  const std::uint32_t *bin_rows,
      *before_row;  ///< first row of each bin, and the end; messages before each row
  std::uint32_t rows_in_shared, places_in_shared;  ///< so many a block has in shared memory; more are outside
  std::uint32_t* next;                             ///< a copy of before_row, for bins of more rows
  std::uint16_t* places;                           ///< of all messages
};

/// A block a bin. A row has one piece in a cell, so that the messages of a cell need not wait for each other,
/// but for pieces of several.
inline __global__ void __launch_bounds__(kMostPlaceThreads, 1)
    list_places_kernel(SortedMessages messages, PlacesOfBins bins) {
  extern __shared__ std::uint32_t place_memory[];
  const std::uint32_t first_row = bins.bin_rows[blockIdx.x],
                      num_rows = bins.bin_rows[blockIdx.x + 1] - first_row,
                      first = bins.before_row[first_row],
                      num_messages = bins.before_row[first_row + num_rows] - first;
  // Where the next place of each row goes.
  std::uint32_t* const next = num_rows <= bins.rows_in_shared ? place_memory : bins.next + first_row;
  std::uint16_t* const places = num_messages <= bins.places_in_shared
                                    ? reinterpret_cast<std::uint16_t*>(place_memory + bins.rows_in_shared)
                                    : bins.places + first;
  if (next == place_memory)
    for (std::uint32_t row = threadIdx.x; row < num_rows; row += blockDim.x)
      next[row] = bins.before_row[first_row + row];
  std::uint32_t before = 0;  // messages of the bin
  AwaitedMessage now, soon, later, last;
  now.ask_for_cell(messages, 0);
  soon.ask_for_cell(messages, 1);
  later.ask_for_cell(messages, 2);
  now.ask_for_message(messages);
  soon.ask_for_message(messages);
  now.ask_for_row(messages);
  __syncthreads();
#pragma unroll 4  // so that what is on its way is not moved from register to register
  for (std::uint32_t tile = 0; tile < messages.num_tiles; ++tile) {
    last.ask_for_cell(messages, tile + 3);
    later.ask_for_message(messages);
    soon.ask_for_row(messages);
    bool is_left = false;
    const auto place = [&](std::uint32_t i, std::uint32_t m, VertexId row, std::uint32_t shape) {
      const std::uint32_t to = next[row - first_row] - first;
      if (MessageShape::is_of_several(shape)) {
        places[to + messages.before_in_piece(m)] = static_cast<std::uint16_t>(before + i);
        is_left = true;
      } else {
        places[to] = static_cast<std::uint16_t>(before + i);
        ++next[row - first_row];
      }
    };
    if (now.is_one()) place(threadIdx.x, now.message, now.row, now.shape);
    for (std::uint32_t i = threadIdx.x + blockDim.x; i < now.count; i += blockDim.x) {
      const std::uint32_t m = messages.order[now.first + i];
      place(i, m, messages.rows[m], messages.shapes[m]);
    }
    if (__syncthreads_or(is_left)) {
      for (std::uint32_t i = threadIdx.x; i < now.count; i += blockDim.x) {
        const std::uint32_t m = messages.order[now.first + i];
        if (MessageShape::is_of_several(messages.shapes[m]) && messages.ends_piece(m))
          next[messages.rows[m] - first_row] += messages.before_in_piece(m) + 1;
      }
      __syncthreads();
    }
    before += now.count;
    now = soon;
    soon = later;
    later = last;
  }
  if (places == bins.places + first) return;
  for (std::uint32_t i = threadIdx.x; i < num_messages; i += blockDim.x) bins.places[first + i] = places[i];
}

/// The rows of bins and their messages, for list_places().
template <class Memory>
struct BinnedRows {
  const BuildVector<Memory, std::uint32_t>&bin_rows, &before_row;
  std::uint32_t usual_rows, most_messages;  ///< of a bin: rows that few have more of; messages
};

/// So many as nine of ten of these have at most.
inline std::uint32_t most_usual(std::vector<std::uint32_t> sizes) {
  if (sizes.empty()) return 0;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 9 / 10);
  std::nth_element(sizes.begin(), at, sizes.end());
  return *at;
}

/// places: in their bin of all messages, by row, a row's tile after tile.
template <class Memory>
void list_places(const SortedMessages& messages, const BinnedRows<Memory>& bins, std::uint16_t* places) {
  if (messages.count == 0) return;
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const std::size_t limit = most_shared_bytes(), places_bytes = bins.most_messages * sizeof(std::uint16_t),
                      next_bytes = bins.usual_rows * sizeof(std::uint32_t);
    const bool shares_places = places_bytes <= limit,
               shares_next = next_bytes <= limit - (shares_places ? places_bytes : 0);
    const std::size_t num_bytes = (shares_places ? places_bytes : 0) + (shares_next ? next_bytes : 0);
    BuildVector<Memory, std::uint32_t> next(bins.before_row.size());
    Memory::copy(bins.before_row.data(), next.data(), next.size() * sizeof(std::uint32_t));
    const std::uint64_t of_cell = messages.count / (std::uint64_t{messages.num_tiles} * messages.num_bins);
    const auto threads = static_cast<unsigned>(
        num_bytes > kSharedOfSmallBlock
            ? kMostPlaceThreads
            : std::clamp<std::uint64_t>(std::bit_ceil(of_cell), kFewestPlaceThreads, kMostPlaceThreads));
    allow_shared_bytes<list_places_kernel>(num_bytes);
    list_places_kernel<<<messages.num_bins, threads, num_bytes>>>(
        messages, {bins.bin_rows.data(), bins.before_row.data(), shares_next ? bins.usual_rows : 0,
                   shares_places ? bins.most_messages : 0, next.data(), places});
    TESSERA_CUDA_CALL(cudaGetLastError());
  } else {
    std::vector<std::uint32_t> next(bins.before_row.data(), bins.before_row.data() + bins.before_row.size());
    for (std::uint32_t bin = 0; bin < messages.num_bins; ++bin)
      for (std::uint32_t tile = 0, place = 0; tile < messages.num_tiles; ++tile) {
        const std::uint32_t* const cell = messages.cell(tile, bin);
        for (std::uint32_t i = cell[0]; i < cell[1]; ++i)
          places[next[messages.rows[messages.order[i]]]++] = static_cast<std::uint16_t>(place++);
      }
  }
}

}  // namespace tessera::cuda
