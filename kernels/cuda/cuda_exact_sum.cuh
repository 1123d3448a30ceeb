// Exact sums on the device: each thread adds its terms fold by fold in doubles, a block adds integers in
// shared memory, the grid adds integers in device memory. Integer addition is free of order.
#pragma once
#include "kernels/base/exact_sum.hpp"

namespace tessera::cuda {

/// A FoldedSum as atomics see it: two's complement, so unsigned addition is right for negative limbs.
using Limb = unsigned long long;

template <int kFolds>
struct ThreadSum {
  double fold_sums[kFolds] = {};

  __device__ void add(const ExactScale& scale, double term) {
#pragma unroll
    for (int f = 0; f < kFolds; ++f) {
      const double piece = (term + scale.magic(f)) - scale.magic(f);
      fold_sums[f] += piece;
      term -= piece;
    }
  }
  /// Adds this thread's sum to kFolds limbs in shared memory.
  __device__ void add_to(const ExactScale& scale, Limb* limbs) const {
#pragma unroll
    for (int f = 0; f < kFolds; ++f) {
      const auto limb = static_cast<long long>(fold_sums[f] / scale.quantum(f));
      if (limb != 0) atomicAdd(limbs + f, static_cast<Limb>(limb));
    }
  }
};

/// The sums of one vector in device memory; the host turns them into VectorSums.
struct DeviceSums {
  Limb change_l1[ExactSum::kFolds];
  Limb change_squares[WideExactSum::kFolds];
  Limb total[ExactSum::kFolds];
  Limb dangling[ExactSum::kFolds];
  Limb change_max;  ///< the bits of a double that is not negative: they order as the numbers do
};
inline constexpr unsigned kSumWords = sizeof(DeviceSums) / sizeof(Limb);

/// One thread's part of DeviceSums.
struct ThreadSums {
  ThreadSum<ExactSum::kFolds> change_l1, total, dangling;
  ThreadSum<WideExactSum::kFolds> change_squares;
  double change_max = 0;

  __device__ void add_change(const ExactScale& scale, bool squares, double change) {
    const double size = fabs(change);
    change_l1.add(scale, size);
    if (squares) change_squares.add(scale, size * size);
    change_max = fmax(change_max, size);
  }
  /// Into sums in shared memory.
  __device__ void add_to(const ExactScale& scale, DeviceSums& sums) const {
    change_l1.add_to(scale, sums.change_l1);
    change_squares.add_to(scale, sums.change_squares);
    total.add_to(scale, sums.total);
    dangling.add_to(scale, sums.dangling);
    atomicMax(&sums.change_max, static_cast<Limb>(__double_as_longlong(change_max)));
  }
};

/// Adds the block's sums, words [0, kSumWords) of shared memory, to device memory; all threads call it after
/// a barrier.
__device__ inline void add_block_sums(const DeviceSums& block, DeviceSums* all, unsigned thread) {
  if (thread >= kSumWords) return;
  const Limb word = reinterpret_cast<const Limb*>(&block)[thread];
  Limb* target = reinterpret_cast<Limb*>(all) + thread;
  if (word == 0) return;
  if (thread == kSumWords - 1)
    atomicMax(target, word);
  else
    atomicAdd(target, word);
}

}  // namespace tessera::cuda
