// Where the rows of each bin of a tile-messages matrix are while pass 2 holds the bin's messages in shared
// memory: what an update needs that goes on there.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/base/buffer.hpp"
#include "kernels/tile_messages.hpp"

namespace tessera::cuda {

inline constexpr std::uint16_t kNoMessage = 0xffff;  ///< no offset: a bin has at most 65,535 messages

/// In device memory.
struct BinRows {
  /// Of each row: offset of its element 0 in its bin, a message which no other row reads; kNoMessage: it has
  /// none.
  Buffer<std::uint16_t> first_messages;
  /// Bin b has the rows [first_rows[b], first_rows[b + 1]), some maybe without messages; behind the last bin
  /// no row has any.
  Buffer<std::uint32_t> first_rows;
  std::uint64_t largest = 0;  ///< rows of a bin
};

/// Of a matrix that lies on the device and has messages; `windows` and `slices`: its bins, in host memory.
template <class S>
BinRows find_bin_rows(const TileMessages<S>& matrix, std::span<const Window> windows,
                      std::span<const Slice> slices);

}  // namespace tessera::cuda
