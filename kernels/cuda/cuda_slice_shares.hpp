// Deals the slices of a pass to the warps of a device: runs of slices of about equal cost. A block takes
// whole windows, or, but for share_whole_windows, one of the equal parts of a window that is too much for it.
// Host code.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/tile_messages_view.hpp"

namespace tessera::cuda {

inline constexpr unsigned kMostWarps = 32;

/// What one block does in one window: warp i takes the slices [first_slice[i], first_slice[i + 1]), whose
/// words lie in [first_word[i], first_word[i + 1]).
struct WindowShare {
  std::uint64_t first_slice[kMostWarps + 1] = {};
  std::uint64_t first_word[kMostWarps + 1] = {};
  std::uint64_t first_in = 0;  ///< of the window, as its size
  std::uint32_t size = 0;
  std::uint32_t window = 0;
};

/// What the slices of a pass cost beside their words, in the time that a warp takes for a word of 32 rows.
struct SliceCosts {
  double slice = 0;        ///< of any kind
  double rows = 0;         ///< 32 rows of several words
  double single_rows = 0;  ///< 64 rows of one element: their word, too
  double joint_row = 0;
};
/// Measured on an H200 (docs/performance.md).
inline constexpr SliceCosts kTileCosts = {1.6, 0.1, 1.25, 1.5}, kBinCosts = {5.5, 0, 1.6, 0};

/// What dealing needs of a pass, in host memory: windows [first_window, end_window) of all.
struct PassOutline {
  const Window* windows = nullptr;
  std::uint64_t first_window = 0, end_window = 0;
  const Slice* slices = nullptr;
  std::uint64_t num_slices = 0, num_words = 0;  ///< of all windows
  SliceCosts costs = kTileCosts;
};

/// Block b does shares[first_of_block[b], first_of_block[b + 1]).
struct BlockShares {
  std::vector<WindowShare> shares;
  std::vector<std::uint32_t> first_of_block;
  std::uint32_t num_blocks() const { return static_cast<std::uint32_t>(first_of_block.size() - 1); }
};

/// For blocks of num_warps warps, 1,024 threads a multiprocessor at a time. Large matrices get several rounds
/// of blocks, because a cost is only an estimate. input_bytes: sizeof an element of the window.
BlockShares share_slices(const PassOutline& pass, unsigned num_multiprocessors, unsigned num_warps,
                         std::uint32_t input_bytes);

/// The same, but windows stay whole, and blocks are as many as run at once: the costliest windows go first,
/// each to the block that has least to do. Window w has the rows [first_rows[w], first_rows[w + 1]), host
/// memory, each of which costs besides as much as moving row_bytes. Windows without slices are left out.
BlockShares share_whole_windows(const PassOutline& pass, unsigned num_multiprocessors, unsigned num_warps,
                                std::uint32_t input_bytes, const std::uint32_t* first_rows,
                                std::uint32_t row_bytes);

}  // namespace tessera::cuda
