// Whether the messages of a product stay in the cache of the whole device (L2) between its passes. Measured
// on an H200 (docs/performance.md).
#pragma once
#include <cstdint>

namespace tessera::cuda {

/// messages_stay: they are the last to make room, until they are read; only_messages_stay: words are the
/// first besides.
enum class CacheUse : std::uint8_t { as_usual, messages_stay, only_messages_stay };

/// word_bytes: of both passes.
constexpr CacheUse cache_use(std::uint64_t word_bytes, std::uint64_t message_bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  if (word_bytes < 24 * kMegabyte) return CacheUse::as_usual;  // all stays anyway
  // Of more words, steps took 5 to 8 % longer with words that make room first.
  return word_bytes <= 190 * kMegabyte && message_bytes <= 40 * kMegabyte ? CacheUse::only_messages_stay
                                                                          : CacheUse::messages_stay;
}

}  // namespace tessera::cuda
