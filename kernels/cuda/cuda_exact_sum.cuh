// Exact sums on the device: each thread adds its terms fold by fold in doubles, warps, blocks and the grid
// add integers. Integer addition is free of order.
#pragma once
#include "kernels/base/exact_sum.hpp"
#include "kernels/cuda/device_sums.hpp"

namespace tessera::cuda {

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
  /// This thread's limb of a fold.
  __device__ long long limb(const ExactScale& scale, int fold) const {
    return static_cast<long long>(fold_sums[fold] / scale.quantum(fold));
  }
};

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
  /// The words of DeviceSums of this thread, in their order.
  __device__ void to_words(const ExactScale& scale, bool squares, Limb* words) const {
    unsigned next = 0;
    for (int f = 0; f < ExactSum::kFolds; ++f) words[next++] = static_cast<Limb>(change_l1.limb(scale, f));
    for (int f = 0; f < WideExactSum::kFolds; ++f)
      words[next++] = squares ? static_cast<Limb>(change_squares.limb(scale, f)) : 0;
    for (int f = 0; f < ExactSum::kFolds; ++f) words[next++] = static_cast<Limb>(total.limb(scale, f));
    for (int f = 0; f < ExactSum::kFolds; ++f) words[next++] = static_cast<Limb>(dangling.limb(scale, f));
    words[next] = static_cast<Limb>(__double_as_longlong(change_max));
  }
};

/// Two words of the same place: sums, but the last is a maximum.
__device__ inline Limb combined(unsigned place, Limb a, Limb b) {
  return place + 1 < kSumWords ? a + b : (a > b ? a : b);
}

/// Adds a block's word to device memory.
__device__ inline void add_word(unsigned place, Limb word, DeviceSums* all) {
  if (word == 0) return;
  Limb* target = reinterpret_cast<Limb*>(all) + place;
  if (place + 1 < kSumWords)
    atomicAdd(target, word);
  else
    atomicMax(target, word);
}

}  // namespace tessera::cuda
