// A word from one GPU to the memory of others, to see that it arrives: drivers report ways that do not work.
#pragma once
#include <cstdint>
#include <span>

namespace tessera::cuda {

/// Writes `word` to place `place` of the 64-bit words at each of `others`, at most kMostSharingRanks, by a
/// kernel on the default stream.
void put_word(std::span<void* const> others, unsigned place, std::uint64_t word);

}  // namespace tessera::cuda
