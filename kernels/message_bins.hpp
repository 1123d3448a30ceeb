// Cuts the rows of the tile-messages form into bins, on the host: the same for a build on a device.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tessera {

struct BinLimits {
  std::uint32_t most_messages = 65535;  ///< of a bin, at most 65,535
  std::uint32_t at_once = 1;            ///< bins that a device works on at the same time
  std::uint32_t least_messages = 1;     ///< a bin that is worth its own work
};

/// First row of each bin, and the end. Bins hold whole rows, in order; as few as most_messages allows, and
/// up to as many more as make a multiple of at_once, all of about one size. messages_before: of each row, and
/// of all. Throws ResourceError when a row sends more than most_messages.
std::vector<std::uint64_t> cut_bins(std::span<const std::uint32_t> messages_before, const BinLimits& limits);

}  // namespace tessera
