// Shared memory of the blocks of a cluster, as they write each other's: what is written counts bytes at a
// barrier of the block that gets it, which waits there and needs no fence. For devices from 9.0 on.
#pragma once
#include "kernels/cuda/shared_address.cuh"

namespace tessera::cuda {

/// This block's number in its cluster.
__device__ inline unsigned block_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// What lies at `address` of this block, in that of another.
__device__ inline SharedAddress address_in(unsigned block, SharedAddress address) {
  SharedAddress there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
/// All threads of all blocks.
__device__ inline void meet_in_cluster() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/// A number at `to`, in the block whose barrier counts its bytes.
__device__ inline void send(SharedAddress to, float value, SharedAddress barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
               "r"(__float_as_uint(value)), "r"(barrier)
               : "memory");
}
__device__ inline void send(SharedAddress to, unsigned long long value, SharedAddress barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to),
               "l"(value), "r"(barrier)
               : "memory");
}
__device__ inline void send(SharedAddress to, double value, SharedAddress barrier) {
  send(to, static_cast<unsigned long long>(__double_as_longlong(value)), barrier);
}

/// A barrier in shared memory where bytes are counted, round by round.
struct ByteBarrier {
  std::uint64_t word;

  /// By one thread, before a meeting of the cluster.
  __device__ void start() {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(address())
                 : "memory");
  }
  /// By one thread, once a round, also when some of its bytes are there: how many it has.
  __device__ void expect(unsigned bytes) {
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(address()),
        "r"(bytes)
        : "memory");
  }
  /// Until all bytes of a round are there; no thread may be two rounds behind.
  __device__ void wait(unsigned round) {
    const SharedAddress at = address();
    unsigned is_there;
    do {
      asm volatile(
          "{ .reg .pred there; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 there, [%1], %2; "
          "selp.u32 %0, 1, 0, there; }"
          : "=r"(is_there)
          : "r"(at), "r"(round % 2)
          : "memory");
    } while (is_there == 0);
  }
  __device__ SharedAddress address() const {
    return static_cast<SharedAddress>(__cvta_generic_to_shared(&word));
  }
};

}  // namespace tessera::cuda
