// Scores as integers that are in their order, so that the largest are found by looking at digits.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/base/host_device.hpp"

namespace tessera {

template <class S>
using ScoreKey = std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>;

/// Larger for a larger score; of scores up to 0 it is 0, and nothing is larger than what is no number.
template <class S>
TESSERA_HD inline ScoreKey<S> score_key(S score) {
  constexpr ScoreKey<S> kNoSign = static_cast<ScoreKey<S>>(~ScoreKey<S>{0}) >> 1;
  ScoreKey<S> bits = 0;
  memcpy(&bits, &score, sizeof bits);
  return score <= S{0} ? 0 : bits & kNoSign;
}

/// One of the entries of a vector.
template <class S>
struct VectorEntry {
  std::uint64_t index = 0;
  S value = 0;
  friend bool operator==(const VectorEntry&, const VectorEntry&) = default;
};

}  // namespace tessera
