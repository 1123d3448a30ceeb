// Counts of the blocks or groups of threads that are done with a part of something, so that the last of them
// goes on with what all have written. As __threadfence() and atomicInc() would do it, but that discards all
// that the multiprocessor has in L1, which others read still.
#pragma once

namespace tessera::cuda {

/// Counts this thread, and gives how many there were: what it has written before, and whoever it has waited
/// for in its block or warp, is there for who comes later. Behind `last` follows 0.
__device__ inline unsigned arrive(unsigned* counter, unsigned last) {
  unsigned before;
  asm volatile("atom.inc.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(last) : "memory");
  return before;
}

/// Behind an arrival that was the last: this thread, and those that wait for it in its block or warp, read
/// what others have written before they arrived.
__device__ inline void see_arrived() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

}  // namespace tessera::cuda
