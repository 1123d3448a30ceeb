// Small blocks of a device's memory for builds: to ask the device's pool for memory takes the host some 1 us,
// to give it back another, and the making of a matrix uses some hundred small arrays, between which a small
// graph's kernels wait for the host. They lie apart from the pool, in which they would keep large arrays from
// using memory again.
#pragma once
#include <cstddef>

namespace tessera::cuda {

/// Of the device in use, for work on its default stream. None where TESSERA_SMALL_BLOCKS=0 is set, for
/// compute-sanitizer, which takes blocks for parts of one array.
class SmallBlocks {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  /// At least one byte, uninitialised. Null: of more than kMostBytes, and where the device has no room.
  static void* take(std::size_t num_bytes);
  /// What take() gave for so many, for others that use it behind what the default stream has to do; false,
  /// and nothing is done, of other memory.
  static bool keep(void* memory, std::size_t num_bytes) noexcept;
  /// Where no block is in use all memory goes back to the device.
  static void give_back();
};

}  // namespace tessera::cuda
