// A warp's stream of words from global memory through a ring in shared memory: while some are used, a
// kilobyte more is on the way, whatever the slices look like.
#pragma once
#include <cuda_pipeline.h>

#include <cstdint>

namespace tessera::cuda {

inline constexpr unsigned kPieceWords = 128, kRingPieces = 4, kRingWords = kPieceWords * kRingPieces;

/// All lanes of a warp call alike. `ring`: kRingWords words of shared memory of this warp, 16-byte aligned.
class WordStream {
 public:
  /// Words [begin, end); begin is 16-byte aligned, and up to 12 bytes behind `end` may be read. Nothing that
  /// this thread has started to copy is still on its way then.
  __device__ WordStream(const std::uint32_t* begin, const std::uint32_t* end, std::uint32_t* ring,
                        unsigned lane)
      : next_(begin + 4 * lane), end_(end), ring_(ring), lane_(lane) {
    __pipeline_wait_prior(0);
    __syncwarp();
    fetch();
    fetch();
  }
  /// Makes the words [position, position + count), count <= kPieceWords, readable by at(). Positions count
  /// from `begin` and only grow; words before `position` are given up.
  __device__ void need(std::uint32_t position, std::uint32_t count) {
    while (position + count > ready_) {
      __pipeline_wait_prior(1);
      __syncwarp();  // the lanes' parts have arrived, and what is overwritten next has been read
      ready_ += kPieceWords;
      fetch();
    }
  }
  __device__ std::uint32_t at(std::uint32_t position) const { return ring_[position % kRingWords]; }

 private:
  __device__ void fetch() {
    if (next_ < end_) __pipeline_memcpy_async(ring_ + fetched_ % kRingWords + 4 * lane_, next_, 16);
    __pipeline_commit();
    next_ += kPieceWords;
    fetched_ += kPieceWords;
  }

  const std::uint32_t* next_;
  const std::uint32_t* end_;
  std::uint32_t* ring_;
  unsigned lane_;
  std::uint32_t fetched_ = 0, ready_ = 0;
};

}  // namespace tessera::cuda
