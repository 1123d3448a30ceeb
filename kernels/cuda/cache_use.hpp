// Whether the messages of a product stay in the cache of the whole device (L2) between its passes. Measured
// on an H200 (docs/performance.md).
#pragma once
#include <cstdint>

namespace tessera::cuda {

/// streamed_bytes: of the words of both passes, which are marked to make room first then.
constexpr bool keeps_messages(std::uint64_t streamed_bytes, std::uint64_t message_bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  // Of fewer words, all stays anyway. Of more, steps took 5 to 8 % longer with words that make room first.
  return streamed_bytes >= 24 * kMegabyte && streamed_bytes <= 190 * kMegabyte &&
         message_bytes <= 40 * kMegabyte;
}

}  // namespace tessera::cuda
