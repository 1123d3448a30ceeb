// Deals the slices of a pass to the warps of a device: runs of slices of about equal cost, which begin and
// end at blocks of rows. Host code.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/tile_messages_view.hpp"

namespace tessera::cuda {

inline constexpr unsigned kMostWarps = 32;

/// What one block does in one window: warp i takes the slices from block first_block[i] of first_slice[i] on,
/// up to where warp i + 1 begins; its words lie in [first_word[i], first_word[i + 1]).
struct WindowShare {
  std::uint64_t first_slice[kMostWarps + 1] = {};
  std::uint64_t first_word[kMostWarps + 1] = {};
  std::uint64_t first_in = 0;  ///< of the window, as its size
  std::uint32_t size = 0;
  std::uint32_t window = 0;
  std::uint8_t first_block[kMostWarps + 1] = {};
};

/// The slices of one warp in a share: the first from its first block on, the last up to end_block, if that is
/// not 0.
struct WarpSlices {
  std::uint64_t first, end, first_word;
  std::uint32_t first_block, end_block;

  TESSERA_HD WarpSlices(const WindowShare& share, unsigned warp)
      : first(share.first_slice[warp]),
        first_word(share.first_word[warp]),
        first_block(share.first_block[warp]),
        end_block(share.first_block[warp + 1]) {
    end = share.first_slice[warp + 1];
    if (end_block > (end == first ? first_block : 0)) ++end;
  }
  /// What of slice i, one of [first, end), is this warp's.
  TESSERA_HD Slice part_of(Slice slice, std::uint64_t i) const {
    const bool cut_begin = i == first && first_block > 0, cut_end = i + 1 == end && end_block > 0;
    if (cut_begin || cut_end)
      slice = blocks_of_slice(slice, cut_begin ? first_block : 0, cut_end ? end_block : blocks_of(slice));
    return slice;
  }
};

/// What a warp needs for the slices of a pass, in the time that it takes for a word of 32 rows.
struct SliceCosts {
  double slice = 0;        ///< of any kind
  double word = 1;         ///< of up to 32 rows, whatever they are
  double lanes = 0;        ///< beside it, of 32 rows; less in proportion of fewer, whose gathers meet less
  double single_rows = 0;  ///< beside their word, 64 rows of one element
  double joint_row = 0;    ///< beside the slice
};
/// Measured on an H200 (docs/performance.md): tiles of elements of 4 bytes, the same of so many words that
/// they come from far, tiles of elements of 8 bytes, both with values, bins.
inline constexpr SliceCosts kTileCosts = {1.5, 0.7, 0.3, 0.95, 0.7},
                            kFarTileCosts = {2.2, 0.7, 0.3, 0.95, 0.95},
                            kWideTileCosts = {0.6, 0.5, 0.5, 1, 0.35},
                            kWeightedTileCosts = {0.8, 0.7, 0.3, 0.5, 0.5},
                            kWideWeightedTileCosts = {0.45, 0.28, 0.72, 0.6, 0.25},
                            kBinCosts = {5.5, 1, 0, 0.6, 0};
/// input_bytes: of an element.
constexpr SliceCosts tile_costs(std::size_t input_bytes, bool weighted, std::uint64_t num_words) {
  constexpr std::uint64_t kFarWords = 100'000'000;  // between R-MAT 23 and 24; 25 gains, too
  if (weighted) return input_bytes == 4 ? kWeightedTileCosts : kWideWeightedTileCosts;
  if (input_bytes == 8) return kWideTileCosts;
  return num_words < kFarWords ? kTileCosts : kFarTileCosts;
}

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

/// For blocks of num_warps warps, 1,024 threads a multiprocessor at a time. Where there is much to do, or
/// blocks have many windows, they come in several rounds, each of less than the one before, because a cost is
/// only an estimate: the later ones even out what the first took too long for. input_bytes: sizeof an element
/// of the window.
BlockShares share_slices(const PassOutline& pass, unsigned num_multiprocessors, unsigned num_warps,
                         std::uint32_t input_bytes);

/// The same, but windows stay whole, and blocks are as many as run at once: the costliest windows go first,
/// each to the block that has least to do. Window w has the rows [first_rows[w], first_rows[w + 1]), host
/// memory, each of which costs besides as much as moving row_bytes. Windows without slices are left out.
BlockShares share_whole_windows(const PassOutline& pass, unsigned num_multiprocessors, unsigned num_warps,
                                std::uint32_t input_bytes, const std::uint32_t* first_rows,
                                std::uint32_t row_bytes);

}  // namespace tessera::cuda
