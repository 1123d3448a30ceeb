// Words that one task works with, by number. A device has others (kernels/cuda/part_filler.cuh).
#pragma once
#include <cstdint>

#include "kernels/base/host_device.hpp"

namespace tessera {

template <unsigned kSize>
struct ScratchWords {
  std::uint32_t words[kSize];

  TESSERA_HD std::uint32_t load(unsigned i) const { return words[i]; }
  TESSERA_HD void store(unsigned i, std::uint32_t word) { words[i] = word; }
  TESSERA_HD void set_bits(unsigned i, std::uint32_t bits) { words[i] |= bits; }
};

}  // namespace tessera
