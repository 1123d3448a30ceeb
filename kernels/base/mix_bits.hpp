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

/// Random numbers one after the other (SplitMix64), the same on every machine.
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    const std::uint64_t bits = mix_bits(state_);
    state_ += 0x9E3779B97F4A7C15u;
    return bits;
  }
  /// From 0 on, below 1.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace tessera
