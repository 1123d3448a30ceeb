// The finaliser of SplitMix64: neighbouring inputs give independent-looking outputs. For random numbers by
// counter, which do not depend on the number of threads.
#pragma once
#include <cstdint>

namespace tessera {

inline std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace tessera
