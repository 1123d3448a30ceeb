// Deals the slices of a pass to the warps of a device: runs of slices of about equal cost. A block's runs may
// reach over the borders of windows, so that no block waits for another. Host code.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/tile_messages_view.hpp"

namespace tessera::cuda {

inline constexpr unsigned kMostWarps = 32;

/// What one block does in one window: warp i takes the slices [first_slice[i], first_slice[i + 1]).
struct WindowShare {
  std::uint64_t first_slice[kMostWarps + 1] = {};
  std::uint32_t window = 0;
};

/// Block b does shares[first_of_block[b], first_of_block[b + 1]).
struct BlockShares {
  std::vector<WindowShare> shares;
  std::vector<std::uint32_t> first_of_block;
  std::uint32_t num_blocks() const { return static_cast<std::uint32_t>(first_of_block.size() - 1); }
};

/// For blocks of num_warps warps, 1,024 threads a multiprocessor at a time. Large matrices get several rounds
/// of blocks, because a cost is only an estimate. input_bytes: sizeof an element of the window. A
/// share names its window as `windows` counts.
BlockShares share_slices(const Window* windows, std::uint64_t first_window, std::uint64_t end_window,
                         const Slice* slices, unsigned num_multiprocessors, unsigned num_warps,
                         std::uint32_t input_bytes);

}  // namespace tessera::cuda
