// How GPUs that write to each other's memory meet, and what they tell each other: by words on a board that
// each of them has, and the others write.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cuda/peer_memory.hpp"

namespace tessera::cuda {

inline constexpr std::size_t kNoticeBytes = 256;  // that a rank can tell the others at a time

/// In memory of each rank's device; zeros at first.
struct PeerBoard {
  /// In a line of its own, as another rank writes it than its neighbour.
  struct alignas(128) Arrival {
    std::uint64_t meeting;
  };
  Arrival arrivals[kMostSharingRanks];  ///< the meeting that each rank came to last; they are numbered from 1
  unsigned char notices[2][kMostSharingRanks][kNoticeBytes];
};

/// The boards of all ranks, as this one reaches them; its own among them.
struct PeerBoards {
  PeerBoard* of[kMostSharingRanks] = {};
  unsigned rank = 0, num_ranks = 1;
};

/// Writes a notice of this rank, of up to kNoticeBytes, to page 0 or 1 of all boards.
void post_notice(const PeerBoards& boards, unsigned page, std::span<const std::byte> notice,
                 cudaStream_t stream);
/// What comes after this on `stream` comes after what came before it on the stream of every rank, and finds
/// what that has written; unless *given_up, in page-locked memory of the host, is no longer 0, as it is from
/// then on where a rank has not come in so many seconds.
void meet(const PeerBoards& boards, std::uint64_t meeting, double most_seconds, unsigned* given_up,
          cudaStream_t stream);

}  // namespace tessera::cuda
