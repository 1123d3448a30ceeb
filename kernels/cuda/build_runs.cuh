// Runs of equal neighbours in an array: numbered, so that what follows of each can be written side by side.
#pragma once
#include "kernels/cuda/build_memory.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/running_sums.cuh"

namespace tessera::cuda {

inline constexpr unsigned kRunThreads = 256, kRunElements = 2048;  // of a block

/// A warp's bits of an element each: does a run begin there? Ballots of all warps, and the heads before each,
/// in the order of elements.
struct RunBallots {
  static constexpr unsigned kWarps = kRunThreads / 32, kRounds = kRunElements / kRunThreads;
  unsigned heads[kRounds * kWarps];
  unsigned before[kRounds * kWarps];
};

/// body(index of a ballot, its heads) of every warp and round; elements beyond `count` > 0 are none. All of a
/// thread's elements are looked at before the first ballot, so that their loads are under way together.
template <class IsHead, class Body>
__device__ void each_ballot(std::uint64_t count, const IsHead& is_head, const Body& body) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kRunElements;
  bool begins[RunBallots::kRounds];
#pragma unroll
  for (unsigned round = 0; round < RunBallots::kRounds; ++round) {
    const std::uint64_t e = first + round * kRunThreads + threadIdx.x;
    begins[round] = is_head(e < count ? e : count - 1) & (e < count);
  }
#pragma unroll
  for (unsigned round = 0; round < RunBallots::kRounds; ++round)
    body(round * RunBallots::kWarps + threadIdx.x / 32, __ballot_sync(~0u, begins[round]));
}

template <class IsHead>
__global__ void __launch_bounds__(kRunThreads)
    count_runs_kernel(std::uint64_t count, IsHead is_head, std::uint32_t* runs_of_block) {
  wait_for_kernels_before();
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  unsigned mine = 0;
  each_ballot(count, is_head, [&](unsigned, unsigned heads) { mine += __popc(heads); });
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) runs_of_block[blockIdx.x] = sum;
}

/// ends[b]: runs that begin in blocks up to b.
template <class IsHead, class Body>
__global__ void __launch_bounds__(kRunThreads)
    each_in_runs_kernel(std::uint64_t count, IsHead is_head, const std::uint32_t* ends, Body body) {
  wait_for_kernels_before();
  __shared__ RunBallots ballots;
  each_ballot(count, is_head, [&](unsigned i, unsigned heads) {
    if (threadIdx.x % 32 == 0) ballots.heads[i] = heads;
  });
  __syncthreads();
  constexpr unsigned kBallots = RunBallots::kRounds * RunBallots::kWarps;
  static_assert(kBallots == 64);
  if (threadIdx.x < 32) {  // two ballots a lane
    const unsigned low = __popc(ballots.heads[2 * threadIdx.x]),
                   both = low + __popc(ballots.heads[2 * threadIdx.x + 1]);
    unsigned sum = both;
    for (unsigned step = 1; step < 32; step *= 2) {
      const unsigned other = __shfl_up_sync(~0u, sum, step);
      if (threadIdx.x >= step) sum += other;
    }
    const unsigned base = (blockIdx.x == 0 ? 0 : ends[blockIdx.x - 1]) + sum - both;
    ballots.before[2 * threadIdx.x] = base;
    ballots.before[2 * threadIdx.x + 1] = base + low;
  }
  __syncthreads();
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kRunElements;
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned round = 0; round < RunBallots::kRounds; ++round) {
    const std::uint64_t e = first + round * kRunThreads + threadIdx.x;
    if (e >= count) return;
    const unsigned i = round * RunBallots::kWarps + threadIdx.x / 32, heads = ballots.heads[i];
    const unsigned up_to = __popc(heads & (~0u >> (31 - lane)));
    body(e, ballots.before[i] + up_to - 1, (heads >> lane & 1) != 0);
  }
}

/// The runs of `count` < 2^32 elements; is_head(e): a run begins at element e, as at 0. Best without
/// branches, which loads would wait for.
template <class Memory, class IsHead>
class Runs;

template <class IsHead>
class Runs<HostMemory, IsHead> {
 public:
  Runs(std::uint64_t count, IsHead is_head) : count_(count), is_head_(is_head) {
    for (std::uint64_t e = 0; e < count; ++e) num_runs_ += is_head(e) ? 1 : 0;
  }
  std::uint64_t size() const { return num_runs_; }
  /// body(element, its run, whether the run begins there) for all elements.
  template <class Body>
  void each(Body body) const {
    std::uint32_t run = ~0u;
    for (std::uint64_t e = 0; e < count_; ++e) {
      const bool head = is_head_(e);
      run += head ? 1 : 0;
      body(e, run, head);
    }
  }

 private:
  std::uint64_t count_, num_runs_ = 0;
  IsHead is_head_;
};

template <class IsHead>
class Runs<DeviceMemory, IsHead> {
 public:
  Runs(std::uint64_t count, IsHead is_head)
      : count_(count), is_head_(is_head), ends_(ceil_div<std::uint64_t>(count, kRunElements)) {
    if (count == 0) return;
    launch_early(count_runs_kernel<IsHead>, num_blocks(), kRunThreads, 0, count, is_head, ends_.data());
    sum_up(ends_);
    num_runs_ = DeviceMemory::read(ends_.data() + ends_.size() - 1);
  }
  std::uint64_t size() const { return num_runs_; }
  template <class Body>
  void each(Body body) const {
    if (count_ == 0) return;
    launch_early(each_in_runs_kernel<IsHead, Body>, num_blocks(), kRunThreads, 0, count_, is_head_,
                 ends_.data(), body);
  }

 private:
  unsigned num_blocks() const { return static_cast<unsigned>(ends_.size()); }

  std::uint64_t count_, num_runs_ = 0;
  IsHead is_head_;
  BuildVector<DeviceMemory, std::uint32_t> ends_;
};

template <class Memory, class IsHead>
Runs<Memory, IsHead> find_runs(std::uint64_t count, IsHead is_head) {
  return Runs<Memory, IsHead>(count, is_head);
}

}  // namespace tessera::cuda
