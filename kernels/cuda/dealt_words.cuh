// What blocks that deal elements to tiles tell those behind them, so that each knows where its own go
// (Adinets and Merrill, "Onesweep", 2022; Merrill and Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", 2016).
#pragma once
#include <cstdint>
#include <cuda/atomic>

namespace tessera::cuda {

/// What a block tells those behind it of a tile: nothing yet, what it has itself, or what it and all before
/// it have. Of its own pieces it counts one that a block before may have begun.
struct DealtWord {
  using Bits = unsigned long long;
  static constexpr unsigned kElementBits = 30, kPieceBits = 29;
  static constexpr Bits kMostElements = (Bits{1} << kElementBits) - 1,
                        kMostPieces = (Bits{1} << kPieceBits) - 1,
                        kEndsOpen = Bits{1} << (kElementBits + kPieceBits), kBeginsOpen = kEndsOpen << 1,
                        kOneRow = kEndsOpen << 2, kOwn = kEndsOpen << 3, kAll = kEndsOpen << 4;
  static_assert(kElementBits + kPieceBits + 5 == 64);
  Bits bits = 0;

  __host__ __device__ static DealtWord of(std::uint32_t elements, std::uint32_t pieces, Bits flags) {
    return {elements | Bits{pieces} << kElementBits | flags};
  }
  __host__ __device__ std::uint32_t elements() const {
    return static_cast<std::uint32_t>(bits & kMostElements);
  }
  __host__ __device__ std::uint32_t pieces() const {
    return static_cast<std::uint32_t>(bits >> kElementBits & kMostPieces);
  }
  /// kEndsOpen: the tile's last element is of the row that goes on behind the block. kBeginsOpen: its first
  /// is of the row that goes on from before. kOneRow: the block has no other row, and no beginning of it.
  __host__ __device__ bool is(Bits flag) const { return (bits & flag) != 0; }
  __host__ __device__ bool is_nothing() const { return (bits & (kOwn | kAll)) == 0; }
};
inline constexpr std::uint64_t kMostDealt = DealtWord::kMostElements,
                               kMostDealtRows = DealtWord::kMostPieces;  // a row has one piece in a tile

/// Of all blocks before one: elements and pieces of a tile, and whether the last is of the row that goes on.
struct DealtBefore {
  std::uint32_t elements = 0, pieces = 0;
  bool ends_open = false;
};

struct DealState {
  using Word = ::cuda::atomic_ref<DealtWord::Bits, ::cuda::thread_scope_device>;
  DealtWord::Bits* words;  ///< of block b and tile t at b * num_tiles + t; 0 at first
  std::uint32_t num_tiles;

  __device__ void tell(std::uint64_t block, unsigned tile, DealtWord word) const {
    Word(words[block * num_tiles + tile]).store(word.bits, ::cuda::memory_order_relaxed);
  }
  /// is_open: whether it matters if the last element before is of the row that goes on. Several words are
  /// asked for at a time, as each takes as long as all.
  __device__ DealtBefore before(std::uint64_t block, unsigned tile, bool is_open) const {
    DealtBefore sum;
    bool is_own = true;  // the open piece is of the block that asks; else of one whose pieces are in the sum
    while (block > 0) {
      DealtWord near[kNear];
#pragma unroll
      for (unsigned i = 0; i < kNear; ++i) near[i] = told(block > i ? block - 1 - i : 0, tile);
      while (near[0].is_nothing()) near[0] = told(block - 1, tile);
#pragma unroll
      for (unsigned i = 0; i < kNear; ++i) {
        const DealtWord word = near[i];
        if (word.is_nothing()) break;
        const bool has_all = word.is(DealtWord::kAll);
        sum.elements += word.elements();
        sum.pieces += word.pieces();
        if (is_open && (has_all || word.elements() > 0)) {
          if (is_own)
            sum.ends_open = word.is(DealtWord::kEndsOpen);
          else
            sum.pieces -= word.is(DealtWord::kEndsOpen) ? 1 : 0;
          is_open = false;
        }
        if (has_all) return sum;
        if (word.elements() > 0) {
          is_open = word.is(DealtWord::kBeginsOpen);
          is_own = false;
        } else {
          is_open = is_open && word.is(DealtWord::kOneRow);
        }
        --block;
      }
    }
    return sum;
  }

 private:
  static constexpr unsigned kNear = 4;

  __device__ DealtWord told(std::uint64_t block, unsigned tile) const {
    return {Word(words[block * num_tiles + tile]).load(::cuda::memory_order_relaxed)};
  }
};

}  // namespace tessera::cuda
