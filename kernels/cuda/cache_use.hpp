// How long what the passes of tile-messages touch is to stay in the cache of the whole device (L2). Measured
// on an H200 (docs/performance.md): messages that stay, or part of them, need not come back from memory.
#pragma once
#include <cstdint>

namespace tessera::cuda {

enum class CacheUse : std::uint8_t {
  as_usual,
  once,  ///< the first to make room
  keep,  ///< the last
};

/// Of one pass.
struct PassCaching {
  CacheUse words = CacheUse::as_usual;
  CacheUse window = CacheUse::as_usual;
  CacheUse sums = CacheUse::once;
};
struct ProductCaching {
  PassCaching tiles, bins;
};

/// streamed_bytes: of words and values of both passes.
constexpr ProductCaching caching_of_product(std::uint64_t streamed_bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  if (streamed_bytes < 24 * kMegabyte) return {};  // all of it stays anyway
  // More words than this took 5 to 8 % longer when they made room first.
  const CacheUse words = streamed_bytes <= 190 * kMegabyte ? CacheUse::once : CacheUse::as_usual;
  return {.tiles = {.words = words, .sums = CacheUse::keep},
          .bins = {.words = words, .window = CacheUse::once}};
}

}  // namespace tessera::cuda
