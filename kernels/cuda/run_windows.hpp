// Windows of runs of steps of graphs that registers do not hold: a block of threads has the rows of one, and
// brings each input that these read to its shared memory once a step. Which of them an element reads, its
// place, takes 16 bits and stays there, too. Host code.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/cuda_row_blocks.hpp"
#include "kernels/tile_composite_view.hpp"

namespace tessera::cuda {

/// Elements up to which a row is one thread's.
inline constexpr std::uint32_t kMostOfThread = 2 * kSumLanes;
/// Rows that a thread may have in a step: the pieces of its sums (rank_run_sums.cuh) have room for no more.
inline constexpr std::uint32_t kMostRowsOfThread = 31;

/// A row as its window has it: elements of the window, or, of a longer row, chunks.
struct alignas(8) WindowRow {
  static constexpr std::uint32_t kInChunks = std::uint32_t{1} << 31;
  std::uint32_t first = 0, count = 0;  ///< of chunks, with kInChunks
};
/// Elements of its window.
struct WindowChunk {
  std::uint32_t first = 0, size = 0;
};

/// Rows from first_row to that of the next window.
struct RunWindow {
  EdgeOffset first_element = 0;
  std::uint64_t first_chunk = 0;
  VertexId first_row = 0;
  std::uint32_t num_inputs = 0, num_chunks = 0;  ///< as counted on the device
};

/// What a window has at most.
struct WindowSizes {
  std::uint32_t rows = 0, elements = 0, inputs = 0, chunks = 0;
};
WindowSizes most_of(std::span<const RunWindow> windows);

/// As many windows as blocks of threads, if there are rows for so many, of about equal cost, and one more,
/// which says where the rows end. row_cost: of a row beside its elements, in elements. `counted`: windows
/// dealt before, whose inputs are known, or none; the more of them there are for a window's elements, the
/// fewer rows it gets.
std::vector<RunWindow> deal_windows(std::span<const EdgeOffset> row_offsets, unsigned num_blocks,
                                    double row_cost, std::span<const RunWindow> counted);
/// Where the chunks of each window begin, from how many it has.
void place_chunks(std::span<RunWindow> windows);

/// What a block takes of shared memory for its window, of the largest sizes of all sides of a run: sums of
/// chunks, and inputs.
template <class S>
TESSERA_HD constexpr std::size_t window_bytes(const WindowSizes& most) {
  return round_up<std::size_t>(most.chunks * sizeof(double) + most.inputs * sizeof(S), 16);
}
/// What it keeps there of a side: chunks and places.
TESSERA_HD constexpr std::size_t side_bytes(const WindowSizes& most) {
  return round_up<std::size_t>(most.chunks * sizeof(WindowChunk) + most.elements * sizeof(std::uint16_t), 16);
}
/// The larger of each size.
TESSERA_HD inline WindowSizes largest(const WindowSizes& a, const WindowSizes& b) {
  const auto larger = [](std::uint32_t one, std::uint32_t other) { return one > other ? one : other; };
  return {larger(a.rows, b.rows), larger(a.elements, b.elements), larger(a.inputs, b.inputs),
          larger(a.chunks, b.chunks)};
}
/// Whether a block has room for windows of one side.
template <class S>
constexpr bool windows_fit(const WindowSizes& most, std::size_t room_bytes) {
  return most.rows <= kMostRowsOfThread * kRankRunThreads && most.inputs <= std::uint32_t{1} << 16 &&
         window_bytes<S>(most) + side_bytes(most) <= room_bytes;
}
/// Whether it has room for those of two sides, each of which fits.
template <class S>
constexpr bool windows_fit(const WindowSizes& one, const WindowSizes& other, std::size_t room_bytes) {
  return window_bytes<S>(largest(one, other)) + side_bytes(one) + side_bytes(other) <= room_bytes;
}

}  // namespace tessera::cuda
