// The threads of a cluster's blocks that add up what a step's rows leave, and decide what is next.
#pragma once
#include "kernels/cuda/cluster_parts.cuh"

namespace tessera::cuda {

/// The sums of a step, by the other threads: a warp has a number's words.
template <class S, class Run>
class ClusterSumThreads {
 public:
  static constexpr unsigned kSides = DeviceRun<S, Run>::kSides;

  __device__ ClusterSumThreads(const DeviceRun<S, Run>& how, const RunClusters<S, kSides>& rows,
                               ClusterShared& shared)
      : how_(how),
        shared_(shared),
        num_of_first_(num_row_threads(rows, 0)),
        num_of_last_(num_row_threads(rows, kSides - 1)),
        update_(how.run.first_update()),
        begin_in_block_(address_in(block(), static_cast<SharedAddress>(__cvta_generic_to_shared(&shared)))) {}

  /// Until there is no next step.
  __device__ void go() {
    meet_in_block();  // the first step
    for (unsigned num_steps = 1;; ++num_steps) {
      meet_in_block();
      send_own(num_steps % 2, kSides == 1 || num_steps % 2 == 1 ? num_of_first_ : num_of_last_);
      ByteBarrier& there = shared_.sums_are_there[num_steps % 2];
      there.wait((num_steps - 1) / 2);
      const ExactSum sum = decide(num_steps);
      meet_in_block();
      if (threadIdx.x == kClusterRowThreads) there.expect(ClusterParts<S, kSides>::sum_bytes());
      if (blockIdx.x == 0) tell_host(sum, num_steps);
      if (shared_.is_none) return;
    }
  }

 private:
  static constexpr unsigned kFolds = ExactSum::kFolds, kOfChange = ClusterPieces::kChange / kFolds,
                            kOfTotal = ClusterPieces::kTotal / kFolds,
                            kOfDangling = ClusterPieces::kDangling / kFolds;

  /// Threads of this block that have rows of a side.
  __device__ unsigned num_row_threads(const RunClusters<S, kSides>& rows, unsigned side) const {
    return min(kClusterRowThreads, num_rows_of_block(rows.sides[side], how_.sides[side].vectors));
  }
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
  __device__ void send_own(unsigned turn, unsigned num_row_threads) const {
    const bool is_number = warp() < kClusterNumbers;
    const Limb word = is_number ? own_sum(num_row_threads)
                                : static_cast<Limb>(__double_as_longlong(own_largest(num_row_threads)));
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
  __device__ Limb own_sum(unsigned num_row_threads) const {
    static_assert(4 * kMostClusterRowsEach < 32, "pieces of four threads, of 26 bits and a sign, fit an int");
    static_assert(kFolds * kClusterBlocks <= kWarpLanes);
    const auto* pieces = reinterpret_cast<const int4*>(shared_.of_thread[warp() * kFolds + fold()]);
    long long sum = 0;
#pragma unroll 4
    for (unsigned i = block(); 4 * i < num_row_threads; i += kClusterBlocks) {
      const int4 of_four = pieces[i];
      sum += (of_four.x + of_four.y) + (of_four.z + of_four.w);
    }
    return sum_of_fold(static_cast<Limb>(sum));
  }
  __device__ double own_largest(unsigned num_row_threads) const {
    double largest = 0;
    for (unsigned i = lane(); i < num_row_threads; i += kWarpLanes)
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
  __device__ ExactSum decide(unsigned num_steps) {
    const unsigned turn = num_steps % 2;
    if (warp() == kClusterNumbers) {
      ExactSum largest;
      largest.limbs[0] = __double_as_longlong(largest_of(turn));
      return largest;
    }
    const ExactSum sum = sum_of(warp(), turn);
    if (warp() == kOfChange) {
      const double largest = how_.run.norm == Norm::linf ? largest_of(turn) : 0;
      const bool is_none =
          ends_after(how_.run, num_steps, change_in(how_.run.norm, sum, {}, largest, how_.bound));
      if (lane() == 0) shared_.is_none = is_none;
    } else if (warp() == kOfDangling) {
      update_ = update_after(how_.run, num_steps, sum);
      if (lane() == 0) shared_.update = update_;
    }
    return sum;
  }
  /// By all lanes of the warp of the changes.
  __device__ bool ends_after(const RankRun& run, unsigned num_steps, double change) {
    return run.ends_after(num_steps, change);
  }
  __device__ bool ends_after(const PairRun& run, unsigned num_steps, double change) {
    const double before = last_change_;
    last_change_ = change;
    return run.ends_after(num_steps, change, before,
                          run.norm_after(num_steps, sum_of(kOfDangling, num_steps % 2), how_.bound));
  }
  /// By all lanes of the warp of what dangles, or of the scores times masses: what follows by that sum.
  __device__ RankUpdate update_after(const RankRun& run, unsigned num_steps, const ExactSum& dangling) const {
    const ExactSum total = run.rule.needs_total() ? sum_of(kOfTotal, num_steps % 2) : ExactSum();
    return run.rule.template update_after<S>(update_, total, dangling, how_.bound);
  }
  __device__ RankUpdate update_after(const PairRun& run, unsigned num_steps, const ExactSum& masses) const {
    return PairRun::update_by(run.norm_after(num_steps, masses, how_.bound));
  }
  /// What this warp has of a step's sums; of squares there are none.
  __device__ void tell_host(const ExactSum& sum, unsigned num_steps) const {
    const SumsOutbox& box = how_.box;
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

  const DeviceRun<S, Run>& how_;
  ClusterShared& shared_;
  const unsigned num_of_first_, num_of_last_;
  RankUpdate update_;  // the last one, in the warp that makes it
  const SharedAddress begin_in_block_;
  double last_change_ = 0;  // of pairs
};

}  // namespace tessera::cuda
