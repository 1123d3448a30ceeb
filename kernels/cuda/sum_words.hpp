// Words by which the blocks of a kernel tell each other their sums (running_sums.cuh). They are kept for the
// next such kernel, which knows what is told to it by its number, so that nothing clears them before.
#pragma once
#include <cstdint>

namespace tessera::cuda {

struct SumWords {
  static constexpr std::uint32_t kMostBlocks = 2048;

  unsigned long long* words;  ///< two of a block, for 32 bits each; their upper halves say of which launch
  std::uint32_t launch;

  /// For the next kernel on the default stream of the device in use, which is the only one that uses them.
  /// Throws NoRoomError.
  static SumWords next();
};

}  // namespace tessera::cuda
