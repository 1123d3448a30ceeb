#include "kernels/cuda/cache_policy.hpp"

#include "kernels/cuda/device_memory.hpp"

namespace tessera::cuda {
namespace {

/// One for each CacheUse, in order.
__global__ void policies_kernel(CachePolicy* policies) {
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policies[0]));
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policies[1]));
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policies[2]));
}

Buffer<CachePolicy> ask_device() {
  Buffer<CachePolicy> policies = device_buffer<CachePolicy>(3);
  policies_kernel<<<1, 1>>>(policies.data());
  TESSERA_CUDA_CALL(cudaGetLastError());
  return on_host(policies);
}

}  // namespace

PassPolicies policies_of(const PassCaching& caching) {
  static const Buffer<CachePolicy> policies = ask_device();
  const auto of = [&](CacheUse use) { return policies[static_cast<std::size_t>(use)]; };
  return {of(caching.words), of(caching.window), of(caching.sums)};
}

}  // namespace tessera::cuda
