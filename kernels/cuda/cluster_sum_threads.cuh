// The threads of a cluster's blocks that add up what a step's rows leave, and decide what is next.
#pragma once
#include "kernels/cuda/cluster_parts.cuh"

namespace tessera::cuda {

/// The sums of a step, by the other threads: a warp has a number's words.
class ClusterSumThreads {
 public:
  __device__ ClusterSumThreads(ClusterShared& shared, unsigned num_row_threads)
      : shared_(shared),
        num_row_threads_(num_row_threads),
        begin_in_block_(address_in(block(), static_cast<SharedAddress>(__cvta_generic_to_shared(&shared)))) {}

  /// Until there is no next step.
  template <class S>
  __device__ void go(const DeviceRun<S, RankRun>& how) {
    arrive_at(kNextIsKnown, kClusterThreads);  // the first step
    for (unsigned num_steps = 1;; ++num_steps) {
      wait_at(kPiecesAreThere, kClusterThreads);
      send_own(num_steps % 2);
      ByteBarrier& there = shared_.sums_are_there[num_steps % 2];
      there.wait((num_steps - 1) / 2);
      const ExactSum sum = decide(how, num_steps);
      wait_at(kNextIsKnown, kClusterThreads);
      if (threadIdx.x == kClusterRowThreads) there.expect(ClusterParts<S>::sum_bytes());
      if (blockIdx.x == 0) tell_host(sum, num_steps, how.box);
      if (!shared_.is_none) continue;
      if (threadIdx.x == kClusterRowThreads) shared_.num_steps = num_steps;
      return;
    }
  }

 private:
  static constexpr unsigned kFolds = ExactSum::kFolds, kOfChange = ClusterPieces::kChange / kFolds,
                            kOfTotal = ClusterPieces::kTotal / kFolds,
                            kOfDangling = ClusterPieces::kDangling / kFolds;

  __device__ static unsigned warp() { return threadIdx.x / kWarpLanes - kClusterRowThreads / kWarpLanes; }
  __device__ static unsigned lane() { return threadIdx.x % kWarpLanes; }
  /// Of the lanes side by side that have a fold, one for each block; in each of them.
  __device__ static Limb sum_of_fold(Limb word) {
#pragma unroll
    for (unsigned distance = kClusterBlocks / 2; distance > 0; distance /= 2)
      word += __shfl_xor_sync(~0u, word, distance);
    return word;
  }
  __device__ static unsigned block() { return lane() % kClusterBlocks; }
  __device__ static unsigned fold() { return min(lane() / kClusterBlocks, kFolds - 1); }
  /// To all blocks, a lane a word of a block.
  __device__ void send_own(unsigned turn) const {
    const bool is_number = warp() < kClusterNumbers;
    const Limb word = is_number ? own_sum() : static_cast<Limb>(__double_as_longlong(own_largest()));
    if (lane() >= (is_number ? kFolds * kClusterBlocks : kClusterBlocks)) return;
    const unsigned which = warp() * kFolds + (is_number ? fold() : 0);
    send(address_of(shared_.of_blocks[turn][blockIdx.x][which]), word,
         address_of(shared_.sums_are_there[turn]));
  }
  /// In the memory of block(), for which nothing is mapped anew, as that takes long.
  template <class T>
  __device__ SharedAddress address_of(const T& own) const {
    return begin_in_block_ + static_cast<SharedAddress>(reinterpret_cast<const unsigned char*>(&own) -
                                                        reinterpret_cast<const unsigned char*>(&shared_));
  }
  /// Of fold().
  __device__ Limb own_sum() const {
    static_assert(4 * kMostClusterRowsEach < 32, "pieces of four threads, of 26 bits and a sign, fit an int");
    static_assert(kFolds * kClusterBlocks <= kWarpLanes);
    const auto* pieces = reinterpret_cast<const int4*>(shared_.of_thread[warp() * kFolds + fold()]);
    long long sum = 0;
#pragma unroll 4
    for (unsigned i = block(); 4 * i < num_row_threads_; i += kClusterBlocks) {
      const int4 of_four = pieces[i];
      sum += (of_four.x + of_four.y) + (of_four.z + of_four.w);
    }
    return sum_of_fold(static_cast<Limb>(sum));
  }
  __device__ double own_largest() const {
    double largest = 0;
    for (unsigned i = lane(); i < num_row_threads_; i += kWarpLanes)
      largest = fmax(largest, shared_.largest[i]);
    return largest_of_warp(largest);
  }
  /// Of all blocks; in all lanes.
  __device__ ExactSum sum_of(unsigned number, unsigned turn) const {
    const Limb word = sum_of_fold(shared_.of_blocks[turn][block()][number * kFolds + fold()]);
    ExactSum sum;
#pragma unroll
    for (unsigned f = 0; f < kFolds; ++f)
      sum.limbs[f] = static_cast<std::int64_t>(__shfl_sync(~0u, word, f * kClusterBlocks));
    return sum;
  }
  __device__ double largest_of(unsigned turn) const {
    return largest_of_warp(__longlong_as_double(
        static_cast<long long>(shared_.of_blocks[turn][block()][ClusterPieces::kCount])));
  }
  /// Gives what this warp keeps: a number's sum, or the bits of the largest change.
  template <class S>
  __device__ ExactSum decide(const DeviceRun<S, RankRun>& how, unsigned num_steps) const {
    const unsigned turn = num_steps % 2;
    if (warp() == kClusterNumbers) {
      ExactSum largest;
      largest.limbs[0] = __double_as_longlong(largest_of(turn));
      return largest;
    }
    const ExactSum sum = sum_of(warp(), turn);
    if (warp() == kOfChange) {
      const double largest = how.run.norm == Norm::linf ? largest_of(turn) : 0;
      if (lane() == 0)
        shared_.is_none = how.run.ends_after(num_steps, change_in(how.run.norm, sum, {}, largest, how.bound));
    } else if (warp() == kOfDangling) {
      const ExactSum total = how.run.rule.needs_total() ? sum_of(kOfTotal, turn) : ExactSum();
      if (lane() == 0)
        shared_.update = how.run.rule.template update_after<S>(shared_.update, total, sum, how.bound);
    }
    return sum;
  }
  /// What this warp has of a step's sums; of squares there are none.
  __device__ void tell_host(const ExactSum& sum, unsigned num_steps, const SumsOutbox& box) const {
    SentHalf* const to = box.host + kHalves * kSumWords * (num_steps - 1);
    const auto tell = [&](unsigned place, Limb word) { send_word(word, box.number, to + kHalves * place); };
    if (warp() == kClusterNumbers) {
      if (lane() < WideExactSum::kFolds) tell(ExactSum::kFolds + lane(), 0);
      if (lane() == 0) tell(kSumWords - 1, static_cast<Limb>(sum.limbs[0]));
    } else if (lane() == 0) {
#pragma unroll
      for (unsigned f = 0; f < kFolds; ++f)
        tell(ClusterPieces::place_of(warp() * kFolds + f), static_cast<Limb>(sum.limbs[f]));
    }
  }

  ClusterShared& shared_;
  const unsigned num_row_threads_;
  const SharedAddress begin_in_block_;
};

}  // namespace tessera::cuda
