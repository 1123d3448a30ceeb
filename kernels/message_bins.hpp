// Cuts the rows of the tile-messages form into bins: the same for builds on the host and on a device.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/base/host_device.hpp"
#include "kernels/base/types.hpp"

namespace tessera {

struct BinLimits {
  std::uint32_t most_messages = 65535;  ///< of a bin, at most 65,535
  std::uint32_t at_once = 1;            ///< bins that a device works on at the same time
  std::uint32_t least_messages = 1;     ///< a bin that is worth its own work
  std::uint32_t row_messages = 0;       ///< what a row costs beside its messages, in messages
};

/// Throws InternalError of limits that allow no bins.
void check(const BinLimits& limits);

/// Of so many messages, where no row is so long that bins have room to spare: as few as most_messages allows,
/// and up to as many more as make a multiple of at_once, if least_messages allows. More messages have no
/// fewer.
TESSERA_HD inline std::uint64_t count_bins(std::uint64_t num_messages, const BinLimits& limits) {
  const std::uint64_t needed = ceil_div<std::uint64_t>(num_messages, limits.most_messages),
                      fewest = needed > 0 ? needed : 1,
                      in_whole_rounds = round_up<std::uint64_t>(fewest, limits.at_once),
                      worth_it = num_messages / limits.least_messages,
                      wanted = fewest > worth_it ? fewest : worth_it;
  return in_whole_rounds < wanted ? in_whole_rounds : wanted;
}

/// Where one bin ends and the next begins.
struct BinEdge {
  VertexId row = 0;
  std::uint32_t messages_before = 0;
};

/// Messages in the first i of num_parts equal parts of all.
TESSERA_HD inline std::uint32_t end_of_part(std::uint64_t i, std::uint64_t num_parts,
                                            std::uint32_t num_messages) {
  return static_cast<std::uint32_t>(i * num_messages / num_parts);
}

/// Of so many pieces, equal parts of all messages, a bin of mean size is joined.
inline constexpr std::uint64_t kPiecesOfBin = 16;
/// The parts that cut_bins() asks for first.
TESSERA_HD inline std::uint64_t count_first_parts(std::uint64_t num_messages, const BinLimits& limits) {
  return count_bins(num_messages, limits) * kPiecesOfBin;
}

/// For each of some targets, ascending and at most all messages, the first row (or the end) with at least so
/// many messages before it.
struct FindRows {
  std::function<std::vector<BinEdge>(std::span<const std::uint32_t> targets)> of_targets;
  /// Of targets that need not be sent: end_of_part(i, num_parts) of all messages, i = 0 to num_parts.
  std::function<std::vector<BinEdge>(std::uint64_t num_parts)> of_parts;
};

/// First row of each bin, and the end. Bins hold whole rows, in order, and messages where there are any. They
/// cost about the same; count_bins says how many they are, or a few beyond where long rows leave bins with
/// room to spare.
/// longest_row: messages of the row that sends most. Throws ResourceError when these are more than
/// most_messages.
std::vector<BinEdge> cut_bins(std::uint64_t num_rows, std::uint32_t num_messages, std::uint64_t longest_row,
                              const FindRows& find, const BinLimits& limits);

/// The same of messages_before: of each row, and of all. Gives rows alone.
std::vector<std::uint64_t> cut_bins(std::span<const std::uint32_t> messages_before, const BinLimits& limits);

}  // namespace tessera
