// What a device calls the uses of its cache (kernels/cuda/cache_use.hpp). Kernels take these numbers as
// arguments: made in the kernel they take registers that each copy and store has to wait for.
#pragma once
#include "kernels/cuda/cache_use.hpp"

namespace tessera::cuda {

using CachePolicy = std::uint64_t;

struct PassPolicies {
  CachePolicy words = 0, window = 0, sums = 0;
};
/// Asks the device, once in a process: all of its GPUs are taken to be alike.
PassPolicies policies_of(const PassCaching& caching);

}  // namespace tessera::cuda
