// Which places of its bin each row's messages have, tile after tile: what pass 2 adds up.
#pragma once
#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/side_stream.cuh"
#include "kernels/cuda/tile_elements.cuh"
#include "kernels/message_bins.hpp"

namespace tessera::cuda {

inline constexpr unsigned kFewestPlaceThreads = 128, kMostPlaceThreads = 1024,
                          kPlacesOfThread = 2;  // of a batch
/// A bin of usual size takes a block about so many batches.
inline constexpr std::uint32_t kPlaceBatches = 8;

/// Messages by cell (tile, then bin) and length; rows[i]: of the i-th. ends_by_bin: messages in all cells up
/// to each, by bin, then tile.
struct SortedMessages {
  std::uint32_t num_tiles, num_bins, count;
  const std::uint32_t *cell_firsts, *ends_by_bin;
  const VertexId* rows;

  __host__ __device__ const std::uint32_t* cell(std::uint32_t tile, std::uint32_t bin) const {
    return cell_firsts + (std::uint64_t{tile} * num_bins + bin);
  }
};

/// Where a bin's places are put together, by a block.
struct PlacesOfBins {
  const BinEdge* edges;                            ///< of bins
  std::uint32_t num_rows;                          ///< those behind have no messages
  const std::uint32_t* before_row;                 ///< messages before each row
  std::uint32_t rows_in_shared, places_in_shared;  ///< so many a block has in shared memory; more are outside
  std::uint32_t* listed;                           ///< of all rows, for bins of more rows
  std::uint16_t* places;                           ///< of all messages
};

/// A block's work on its bin, whose places come in batches. Rows list them in any order within a batch, and
/// then each place finds where among its row's it belongs.
class BinPlaces {
 public:
  static constexpr unsigned kEach = kPlacesOfThread;

  __device__ BinPlaces(const SortedMessages& messages, const PlacesOfBins& bins, std::uint32_t bin,
                       std::uint32_t* shared)
      : messages_(messages), bin_(bin), first_row_(bins.edges[bin].row) {
    const std::uint32_t num_rows = min(bins.edges[bin + 1].row, bins.num_rows) - first_row_;
    first_ = bins.edges[bin].messages_before;
    ends_ = messages.ends_by_bin + std::uint64_t{bin} * messages.num_tiles;
    count_ = bins.edges[bin + 1].messages_before - first_;
    result_ = bins.places + first_;
    listed_ = num_rows <= bins.rows_in_shared ? shared : bins.listed + first_row_;
    places_ = count_ <= bins.places_in_shared ? reinterpret_cast<std::uint16_t*>(shared + bins.rows_in_shared)
                                              : result_;
    const std::uint32_t* const before_row = bins.before_row + first_row_;
    for (std::uint32_t row = threadIdx.x; row < num_rows; row += blockDim.x)
      listed_[row] = before_row[row] - first_;
    __syncthreads();
  }

  /// Rows are on their way two batches before these are worked on.
  __device__ void run() {
    const std::uint32_t step = kEach * blockDim.x;
    std::uint32_t tiles[kEach] = {};
    VertexId rows[kEach], soon[kEach], later[kEach];
    ask_for_rows(0, tiles, rows);
    ask_for_rows(step, tiles, soon);
#pragma unroll 3  // so that what is on its way is not moved from register to register
    for (std::uint32_t begin = 0; begin < count_; begin += step) {
      ask_for_rows(begin + 2 * step, tiles, later);
      list(begin, rows);
#pragma unroll
      for (unsigned i = 0; i < kEach; ++i) {
        rows[i] = soon[i];
        soon[i] = later[i];
      }
    }
    if (places_ == result_) return;
    for (std::uint32_t i = threadIdx.x; i < count_; i += blockDim.x) result_[i] = places_[i];
  }

 private:
  __device__ static std::uint32_t place(std::uint32_t begin, unsigned i) {
    return begin + i * blockDim.x + threadIdx.x;
  }
  /// tiles: of the warp's first place of each, which only grow; where they are looked for from.
  __device__ void ask_for_rows(std::uint32_t begin, std::uint32_t (&tiles)[kEach],
                               VertexId (&rows)[kEach]) const {
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) {
      const std::uint32_t at = first_ + min(place(begin, i), count_ - 1);
      std::uint32_t tile = tile_of_warp(tiles[i], at);
      tiles[i] = tile;
      std::uint32_t before = tile == 0 ? first_ : ends_[tile - 1], end = ends_[tile];
      while (end <= at) {
        before = end;
        end = ends_[++tile];
      }
      rows[i] = messages_.rows[*messages_.cell(tile, bin_) + (at - before)];
    }
  }
  /// The tile, from `tile` on, in which the first lane's message is.
  __device__ std::uint32_t tile_of_warp(std::uint32_t tile, std::uint32_t at) const {
    const std::uint32_t wanted = __shfl_sync(~0u, at, 0);
    for (;; tile += 32) {
      const std::uint32_t end = ends_[min(tile + threadIdx.x % 32, messages_.num_tiles - 1)];
      const unsigned behind = __ballot_sync(~0u, end > wanted);
      if (behind != 0) return tile + __ffs(behind) - 1;
    }
  }
  /// listed: of a row, where its next place goes among the bin's, which 16 bits hold, and behind that how
  /// many it has of this batch.
  __device__ void list(std::uint32_t begin, const VertexId (&rows)[kEach]) {
    std::uint32_t firsts[kEach], owns[kEach], belongs[kEach];
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) {
      if (place(begin, i) >= count_) continue;
      const std::uint32_t before = atomicAdd(listed_ + (rows[i] - first_row_), 1u << 16);
      firsts[i] = before & 65535u;
      owns[i] = before >> 16;
      places_[firsts[i] + owns[i]] = static_cast<std::uint16_t>(place(begin, i));
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) {
      if (place(begin, i) >= count_) continue;
      const std::uint32_t of_batch = listed_[rows[i] - first_row_] >> 16;
      belongs[i] = 0;
      for (std::uint32_t j = 0; of_batch > 1 && j < of_batch; ++j)
        belongs[i] += places_[firsts[i] + j] < place(begin, i) ? 1 : 0;
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) {
      if (place(begin, i) >= count_) continue;
      std::uint32_t& listed = listed_[rows[i] - first_row_];
      places_[firsts[i] + belongs[i]] = static_cast<std::uint16_t>(place(begin, i));
      if (owns[i] == 0) listed = (listed & 65535u) + (listed >> 16);
    }
    __syncthreads();
  }

  const SortedMessages& messages_;
  const std::uint32_t* ends_;
  std::uint32_t bin_, first_row_, first_, count_;  // of the bin: rows, messages before it, its own
  std::uint32_t* listed_;
  std::uint16_t *places_, *result_;
};

/// Blocks take bins one after the other, each of which has messages. It leaves registers to what runs beside
/// it.
#if CUDART_VERSION >= 12040
inline __global__ void __maxnreg__(40)
#else  // which do not know that
inline __global__ void __launch_bounds__(kMostPlaceThreads, 1)
#endif
    list_places_kernel(SortedMessages messages, PlacesOfBins bins) {
  extern __shared__ std::uint32_t place_memory[];
  if (blockIdx.x == 0 && threadIdx.x == 0) clear_behind(bins.places, messages.count);
  for (std::uint32_t bin = blockIdx.x; bin < messages.num_bins; bin += gridDim.x) {
    BinPlaces(messages, bins, bin, place_memory).run();
    __syncthreads();
  }
}

/// The rows of bins and their messages, for list_places().
template <class Memory>
struct BinnedRows {
  const BuildVector<Memory, BinEdge>& edges;  ///< this and what follows: as PlacesOfBins has them
  std::uint32_t num_rows;
  const BuildVector<Memory, std::uint32_t>& before_row;
  std::uint32_t usual_rows, most_messages;  ///< of a bin: rows that few have more of; messages
  std::uint32_t* listed;                    ///< room for as many as before_row has
};

/// So many as nine of ten of these have at most.
inline std::uint32_t most_usual(std::vector<std::uint32_t> sizes) {
  if (sizes.empty()) return 0;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 9 / 10);
  std::nth_element(sizes.begin(), at, sizes.end());
  return *at;
}

/// places: in their bin of all messages, by row, and ascending; so a row's come tile after tile; with room
/// (offsets_with_room). Bins have at most 65,535 messages. On a device the arrays are used on `stream`.
template <class Memory>
void list_places(const SortedMessages& messages, const BinnedRows<Memory>& bins, std::uint16_t* places,
                 cudaStream_t stream) {
  if (messages.count == 0) return;
  if constexpr (std::is_same_v<Memory, DeviceMemory>) {
    const std::size_t limit = most_shared_bytes(), places_bytes = bins.most_messages * sizeof(std::uint16_t),
                      rows_bytes = bins.usual_rows * sizeof(std::uint32_t);
    const bool shares_places = places_bytes <= limit,
               shares_rows = rows_bytes <= limit - (shares_places ? places_bytes : 0);
    const std::size_t num_bytes = (shares_places ? places_bytes : 0) + (shares_rows ? rows_bytes : 0);
    const auto threads = static_cast<unsigned>(
        std::clamp(std::bit_ceil(messages.count / messages.num_bins / (kPlacesOfThread * kPlaceBatches) + 1),
                   kFewestPlaceThreads, kMostPlaceThreads));
    allow_shared_bytes<list_places_kernel>(num_bytes);
    // What L1 has of a multiprocessor otherwise leaves kernels beside no room for their shared memory.
    TESSERA_CUDA_CALL(cudaFuncSetAttribute(list_places_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                           cudaSharedmemCarveoutMaxShared));
    const unsigned blocks = std::min(messages.num_bins, blocks_beside());
    list_places_kernel<<<blocks, threads, num_bytes, stream>>>(
        messages,
        {bins.edges.data(), bins.num_rows, bins.before_row.data(), shares_rows ? bins.usual_rows : 0,
         shares_places ? bins.most_messages : 0, bins.listed, places});
    TESSERA_CUDA_CALL(cudaGetLastError());
  } else {
    clear_behind(places, messages.count);
    std::vector<std::uint32_t> next(bins.before_row.data(), bins.before_row.data() + bins.before_row.size());
    for (std::uint32_t bin = 0; bin < messages.num_bins; ++bin)
      for (std::uint32_t tile = 0, place = 0; tile < messages.num_tiles; ++tile) {
        const std::uint32_t* const cell = messages.cell(tile, bin);
        for (std::uint32_t i = cell[0]; i < cell[1]; ++i)
          places[next[messages.rows[i]]++] = static_cast<std::uint16_t>(place++);
      }
  }
}

}  // namespace tessera::cuda
