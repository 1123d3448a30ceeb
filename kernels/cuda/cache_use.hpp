// Whether the messages of a product stay in the cache of the whole device (L2) between its passes. Measured
// on an H200 (docs/performance.md).
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/base/error.hpp"

namespace tessera::cuda {

/// messages_stay: they are the last to make room, until they are read; only_messages_stay: words are the
/// first besides.
enum class CacheUse : std::uint8_t { as_usual, messages_stay, only_messages_stay };

/// word_bytes: of both passes.
constexpr CacheUse cache_use(std::uint64_t word_bytes, std::uint64_t message_bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  if (word_bytes < 24 * kMegabyte) return CacheUse::as_usual;  // all stays anyway
  // Where not all messages fit, words that make room first make products 1 to 3 % longer.
  return word_bytes <= 190 * kMegabyte && message_bytes <= 40 * kMegabyte ? CacheUse::only_messages_stay
                                                                          : CacheUse::messages_stay;
}

/// Calls with the use as a constant type: call(use), of which use() is known to the compiler.
template <class Call>
void with_cache_use(CacheUse use, const Call& call) {
  switch (use) {
    case CacheUse::as_usual:
      return call(std::integral_constant<CacheUse, CacheUse::as_usual>{});
    case CacheUse::messages_stay:
      return call(std::integral_constant<CacheUse, CacheUse::messages_stay>{});
    case CacheUse::only_messages_stay:
      return call(std::integral_constant<CacheUse, CacheUse::only_messages_stay>{});
  }
  throw InternalError("unknown use of the cache");
}

}  // namespace tessera::cuda
