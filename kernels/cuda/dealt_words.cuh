// What blocks that deal elements to tiles tell those behind them, so that each knows where its own go
// (Adinets and Merrill, "Onesweep", 2022; Merrill and Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", 2016). Here every eighth block, and the last, also tells what its group has together,
// and then what all up to it have, so that those far behind look at fewer words.
#pragma once
#include <cstdint>
#include <cuda/atomic>

namespace tessera::cuda {

/// What neighbouring blocks have of a tile; none at first.
struct DealtSpan {
  std::uint32_t elements = 0;
  std::uint32_t pieces = 0;   ///< one that a block before may have begun is among them
  bool begins_open = false;   ///< the tile's first element is of the row that goes on from before
  bool ends_open = false;     ///< its last element is of the row that goes on behind
  bool is_within_row = true;  ///< the blocks have no other row than one, and neither beginning nor end of it

  bool operator==(const DealtSpan&) const = default;

  /// Whether the first piece of these blocks is the last one of those before.
  __host__ __device__ bool goes_on_from(const DealtSpan& before) const {
    return begins_open && before.ends_open;
  }
  /// Of the blocks of `before` and those of `after`, right behind them.
  __host__ __device__ static DealtSpan joined(const DealtSpan& before, const DealtSpan& after) {
    return {
        .elements = before.elements + after.elements,
        .pieces = before.pieces + after.pieces - (after.goes_on_from(before) ? 1 : 0),
        .begins_open = before.elements > 0 ? before.begins_open : before.is_within_row && after.begins_open,
        .ends_open = after.elements > 0 ? after.ends_open : after.is_within_row && before.ends_open,
        .is_within_row = before.is_within_row && after.is_within_row};
  }
};

/// A span in one word, so that it is told at once; 0: nothing yet.
template <class Bits, unsigned kElementBits, unsigned kPieceBits>
struct SpanWord {
  static constexpr Bits kMostElements = (Bits{1} << kElementBits) - 1,
                        kMostPieces = (Bits{1} << kPieceBits) - 1,
                        kBeginsOpen = Bits{1} << (kElementBits + kPieceBits), kEndsOpen = kBeginsOpen << 1,
                        kWithinRow = kBeginsOpen << 2, kTold = kBeginsOpen << 3;
  static_assert(kElementBits + kPieceBits + 4 <= 8 * sizeof(Bits));

  __host__ __device__ static Bits of(const DealtSpan& span) {
    return span.elements | static_cast<Bits>(span.pieces) << kElementBits |
           (span.begins_open ? kBeginsOpen : 0) | (span.ends_open ? kEndsOpen : 0) |
           (span.is_within_row ? kWithinRow : 0) | kTold;
  }
  __host__ __device__ static DealtSpan span(Bits word) {
    return {.elements = static_cast<std::uint32_t>(word & kMostElements),
            .pieces = static_cast<std::uint32_t>(word >> kElementBits & kMostPieces),
            .begins_open = (word & kBeginsOpen) != 0,
            .ends_open = (word & kEndsOpen) != 0,
            .is_within_row = (word & kWithinRow) != 0};
  }
};

/// Of a block, and of a group or all blocks up to its end.
using BlockWord = SpanWord<std::uint32_t, 14, 14>;
using GroupBits = unsigned long long;
struct GroupWord : SpanWord<GroupBits, 30, 29> {
  static constexpr GroupBits kAll = kTold << 1;  ///< of all blocks up to the group's end
};
static_assert(GroupWord::kAll != 0);
inline constexpr std::uint64_t kMostDealt = GroupWord::kMostElements,
                               kMostDealtRows = GroupWord::kMostPieces;  // a row has one piece in a tile

/// Words of all blocks and groups, 0 at first.
struct DealState {
  static constexpr unsigned kGroupBlocks = 8;
  std::uint32_t num_blocks, num_tiles;
  std::uint32_t* blocks;  ///< of block b and tile t at b * num_tiles + t
  GroupBits* groups;      ///< the same

  __device__ bool ends_group(std::uint32_t block) const {
    return block % kGroupBlocks == kGroupBlocks - 1 || block + 1 == num_blocks;
  }
  __device__ void tell(std::uint32_t block, unsigned tile, const DealtSpan& own) const {
    Told<std::uint32_t>(*word(blocks, block, tile)).store(BlockWord::of(own), ::cuda::memory_order_relaxed);
  }
  /// What all blocks before have; `own` is what the block has itself. Words near and far are asked for
  /// together, as one takes as long as all.
  __device__ DealtSpan before(std::uint32_t block, unsigned tile, const DealtSpan& own) const {
    const std::uint32_t group = block / kGroupBlocks;
    GroupBits far[kFar];
    ask_for_groups(group, tile, far);
    DealtSpan span = before_in_group(block, tile);
    const bool ends = ends_group(block);
    if (ends && group > 0) tell_group(group, tile, DealtSpan::joined(span, own), 0);
    for (std::uint32_t left = group; left > 0; ask_for_groups(left, tile, far)) {
#pragma unroll
      for (unsigned i = 0; i < kFar; ++i) {
        if (left == 0) break;
        while (far[i] == 0) far[i] = told(groups, left - 1, tile);
        span = DealtSpan::joined(GroupWord::span(far[i]), span);
        left = (far[i] & GroupWord::kAll) != 0 ? 0 : left - 1;
      }
    }
    if (ends) tell_group(group, tile, DealtSpan::joined(span, own), GroupWord::kAll);
    return span;
  }

 private:
  static constexpr unsigned kFar = 4;
  template <class T>
  using Told = ::cuda::atomic_ref<T, ::cuda::thread_scope_device>;

  template <class T>
  __device__ T* word(T* words, std::uint32_t number, unsigned tile) const {
    return words + std::uint64_t{number} * num_tiles + tile;
  }
  template <class T>
  __device__ T told(T* words, std::uint32_t number, unsigned tile) const {
    return Told<T>(*word(words, number, tile)).load(::cuda::memory_order_relaxed);
  }
  __device__ void tell_group(std::uint32_t group, unsigned tile, const DealtSpan& span,
                             GroupBits flag) const {
    Told<GroupBits>(*word(groups, group, tile))
        .store(GroupWord::of(span) | flag, ::cuda::memory_order_relaxed);
  }
  /// The last kFar before `group`.
  __device__ void ask_for_groups(std::uint32_t group, unsigned tile, GroupBits (&words)[kFar]) const {
#pragma unroll
    for (unsigned i = 0; i < kFar; ++i) words[i] = i < group ? told(groups, group - 1 - i, tile) : 0;
  }
  __device__ DealtSpan before_in_group(std::uint32_t block, unsigned tile) const {
    const unsigned count = block % kGroupBlocks;
    std::uint32_t near[kGroupBlocks - 1];
#pragma unroll
    for (unsigned i = 0; i < kGroupBlocks - 1; ++i)
      near[i] = i < count ? told(blocks, block - 1 - i, tile) : 0;
    DealtSpan span;
#pragma unroll
    for (unsigned i = 0; i < kGroupBlocks - 1; ++i) {
      if (i >= count) break;
      while (near[i] == 0) near[i] = told(blocks, block - 1 - i, tile);
      span = DealtSpan::joined(BlockWord::span(near[i]), span);
    }
    return span;
  }
};

}  // namespace tessera::cuda
