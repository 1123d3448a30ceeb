// Words that one task works with, by number. A device has others (kernels/cuda/build_kernels.cuh).
#pragma once
#include <cstdint>

namespace tessera {

template <unsigned kSize>
struct ScratchWords {
  std::uint32_t words[kSize];

  std::uint32_t load(unsigned i) const { return words[i]; }
  void store(unsigned i, std::uint32_t word) { words[i] = word; }
  void set_bits(unsigned i, std::uint32_t bits) { words[i] |= bits; }
};

}  // namespace tessera
