// The order in which every backend adds up a dot product, so that all give the same bits: chunks one after
// the other; in a chunk element i goes to lane i % kDotLanes, and lanes are added as a tree, the upper half
// to the lower.
#pragma once
#include <cstdint>

namespace tessera {

inline constexpr std::uint64_t kDotChunk = 4096;
inline constexpr std::uint32_t kDotLanes = 256;

}  // namespace tessera
