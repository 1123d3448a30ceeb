// A warp's stream of words from global memory through a ring in shared memory: while some are used, a
// kilobyte more is on the way, whatever the slices look like.
#pragma once
#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/cache_policy.cuh"

namespace tessera::cuda {

/// Of a line of the caches: a quarter of a warp's copy asks for one, if streams begin at a multiple.
inline constexpr unsigned kLineWords = 32;
inline constexpr unsigned kPieceWords = 128, kRingPieces = 4, kRingBytes = 4 * kPieceWords * kRingPieces;

/// All lanes of a warp call alike. kOnce: words are the first to make room in the cache. `ring`: kRingBytes
/// of shared memory of this warp, from a multiple of as many on.
template <bool kOnce>
class WordStream {
 public:
  /// Words [begin, end); begin is 16-byte aligned, and up to 12 bytes behind `end` may be read. Nothing that
  /// this thread has started to copy is still on its way then. Before the first need() the caller waits until
  /// the copies of all lanes have arrived.
  __device__ WordStream(const std::uint32_t* begin, const std::uint32_t* end, SharedAddress ring,
                        unsigned lane)
      : first_(begin + 4 * lane),
        size_(static_cast<std::int32_t>(end - begin) - 4 * static_cast<std::int32_t>(lane)),
        ring_(ring),
        ring_of_lane_(ring | 16 * lane) {
    __pipeline_wait_prior(0);
    __syncwarp();
    for (unsigned i = 0; i < kRingPieces; ++i) fetch();
  }
  /// Makes the words [position, position + count), count <= kPieceWords, readable by at(). Positions count
  /// from `begin` and only grow; words before `position` are given up.
  __device__ void need(std::uint32_t position, std::uint32_t count) {
    while (position + count + kAhead > static_cast<std::uint32_t>(fetched_)) {
      __syncwarp();  // what is overwritten now has been read
      fetch();       // before the wait, so that three pieces are on their way meanwhile
      __pipeline_wait_prior(kAhead / kPieceWords);
      __syncwarp();  // the lanes' parts have arrived
    }
  }
  __device__ std::uint32_t at(std::uint32_t position) const {
    return load_word(ring_ | (4 * position & (kRingBytes - 1)));
  }

 private:
  static constexpr std::uint32_t kAhead = 2 * kPieceWords;
  // What need() is asked for, of any place in a piece, lies in two pieces, and behind it kAhead are on their
  // way.
  static_assert(kAhead + 2 * kPieceWords <= kRingPieces * kPieceWords);
  __device__ void fetch() {
    if (fetched_ < size_)
      start_copy<kOnce>(ring_of_lane_ | (4 * static_cast<std::uint32_t>(fetched_) & (kRingBytes - 1)),
                        first_ + fetched_);
    __pipeline_commit();
    fetched_ += static_cast<std::int32_t>(kPieceWords);
  }

  const std::uint32_t* first_;  // of this lane
  std::int32_t size_, fetched_ = 0;
  SharedAddress ring_, ring_of_lane_;
};

}  // namespace tessera::cuda
