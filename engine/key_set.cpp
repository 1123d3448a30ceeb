// See key_set.hpp.
#include "engine/key_set.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
// The base instruction set of x86-64 has no population count.
#define TESSERA_WITH_POPCNT __attribute__((target_clones("popcnt", "default")))
#else
#define TESSERA_WITH_POPCNT
#endif

namespace tessera {

KeySet::KeySet(std::uint64_t universe) : universe_(universe), blocks_(universe / 64 + 1) {
  std::fill(blocks_.begin(), blocks_.end(), Block{0, 0});
}

TESSERA_WITH_POPCNT void KeySet::count_ranks() {
  std::uint64_t total = 0;
  for (Block& block : blocks_) {
    block.rank = total;
    total += static_cast<std::uint64_t>(std::popcount(block.bits));
  }
  size_ = total;
}

std::uint64_t KeySet::rank(std::uint64_t key) const {
  const Block& block = blocks_[key >> 6];
  const std::uint64_t below = (std::uint64_t{1} << (key & 63)) - 1;
  return block.rank + static_cast<std::uint64_t>(std::popcount(block.bits & below));
}

TESSERA_WITH_POPCNT void KeySet::ranks(const std::uint32_t* keys, std::uint64_t count,
                                       std::uint32_t* out) const {
  const Block* blocks = blocks_.data();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t key = keys[i];
    const Block block = blocks[key >> 6];
    const std::uint64_t below = (std::uint64_t{1} << (key & 63)) - 1;
    out[i] = static_cast<std::uint32_t>(block.rank) +
             static_cast<std::uint32_t>(std::popcount(block.bits & below));
  }
}

std::uint64_t KeySet::block_of_rank(std::uint64_t rank) const {
  const Block* after = std::upper_bound(blocks_.begin(), blocks_.end(), rank,
                                        [](std::uint64_t wanted, const Block& b) { return wanted < b.rank; });
  return static_cast<std::uint64_t>(after - blocks_.begin()) - (after == blocks_.begin() ? 0 : 1);
}

}  // namespace tessera
