// Exact sums on the device: threads, warps, blocks and the grid add integers, whose addition is free of
// order.
#pragma once
#include "kernels/base/exact_sum.hpp"
#include "kernels/cuda/arrivals.cuh"
#include "kernels/cuda/device_sums.hpp"

namespace tessera::cuda {

/// The piece that `term` leaves in a fold, as a multiple of the fold's quantum: adding `magic` shifts it to
/// the end of the mantissa. So the double pipes, few on most devices, do not add it up. The bits of `magic`
/// are taken off in the end, once for each term.
template <int kFolds>
struct ThreadSum {
  Limb limbs[kFolds] = {};
  unsigned num_terms = 0;

  __device__ void add(const ExactScale& scale, double term) {
#pragma unroll
    for (int f = 0; f < kFolds; ++f) {
      const double shifted = term + scale.magic(f);
      limbs[f] += static_cast<Limb>(__double_as_longlong(shifted));
      term -= shifted - scale.magic(f);
    }
    ++num_terms;
  }
  /// Gives where the next sum goes.
  __device__ Limb* to_words(const ExactScale& scale, Limb* words) const {
#pragma unroll
    for (int f = 0; f < kFolds; ++f)
      words[f] = limbs[f] - num_terms * static_cast<Limb>(__double_as_longlong(scale.magic(f)));
    return words + kFolds;
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
  /// A row's new score, and its number of RowScale.
  template <class S>
  __device__ void add_score(const ExactScale& scale, double stored, S number, bool is_mass) {
    total.add(scale, stored);
    if (is_mass)
      dangling.add(scale, stored * static_cast<double>(number));
    else if (number == S{0})
      dangling.add(scale, stored);
  }
  /// The words of DeviceSums of this thread, in their order.
  __device__ void to_words(const ExactScale& scale, Limb* words) const {
    words = change_l1.to_words(scale, words);
    words = change_squares.to_words(scale, words);
    words = total.to_words(scale, words);
    words = dangling.to_words(scale, words);
    *words = static_cast<Limb>(__double_as_longlong(change_max));
  }
};

/// Two words of the same place: sums, but the last is a maximum.
__device__ inline Limb combined(unsigned place, Limb a, Limb b) {
  return place + 1 < kSumWords ? a + b : (a > b ? a : b);
}

/// The words of changes, among those of DeviceSums: what they and, where asked for, their squares add up to,
/// and the largest.
template <bool kSquares>
struct ChangeWords {
  static constexpr unsigned kFolds = ExactSum::kFolds + (kSquares ? WideExactSum::kFolds : 0),
                            kCount = kFolds + 1;
  __device__ static constexpr unsigned place_of(unsigned word) {
    return word < kFolds ? word : kSumWords - 1;
  }
};

/// Adds a block's word to device memory.
__device__ inline void add_word(unsigned place, Limb word, DeviceSums* all) {
  if (word == 0) return;
  Limb* target = reinterpret_cast<Limb*>(all) + place;
  if (place + 1 < kSumWords)
    atomicAdd(target, word);
  else
    atomicMax(target, word);
}

/// To the host, both halves of it.
__device__ inline void send_word(Limb word, std::uint32_t number, SentHalf* to) {
  const std::uint64_t stamp = std::uint64_t{number} << 32;
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(stamp | (word & 0xffffffffu)),
               "l"(stamp | word >> 32)
               : "memory");
}

/// Once a block has added its words: the last block of the grid sends the sums to the host, and leaves zeros.
/// All threads call; `thread` of num_threads, more than 32. One thread of the last block calls use(sums of
/// the first vector); what it leaves is for later kernels, and may come after what tells the host.
template <class Use>
__device__ void send_if_last(const SumsOutbox& box, unsigned thread, unsigned num_threads, const Use& use) {
  __shared__ bool is_last;
  __shared__ DeviceSums first;
  __syncthreads();
  const unsigned last = gridDim.x * gridDim.y - 1;
  if (thread == 0) {
    is_last = arrive(box.blocks_done, last) == last;
    if (is_last) see_arrived();
  }
  __syncthreads();
  if (!is_last) return;
  auto* sums = reinterpret_cast<Limb*>(box.sums);
  for (unsigned i = thread; i < kSumWords * box.num_vectors; i += num_threads) {
    const Limb word = atomicExch(sums + i, 0);
    if (i < kSumWords) reinterpret_cast<Limb*>(&first)[i] = word;
    send_word(word, box.number, box.host + kHalves * i);
  }
  __syncthreads();
  if (thread == 32) use(first);
}
__device__ inline void send_if_last(const SumsOutbox& box, unsigned thread, unsigned num_threads) {
  send_if_last(box, thread, num_threads, [](const DeviceSums&) {});
}

/// What a warp adds up, a word in every second lane: those of a thread would take many registers for long,
/// and 21 shuffles do instead of 80. For blocks of one dimension.
class WarpSums {
 public:
  /// All lanes call.
  __device__ void take(const ThreadSums& own, const ExactScale& bound) {
    static_assert(kSumWords == 16);
    __syncwarp();
    Limb words[kSumWords];
    own.to_words(bound, words);
    words[kSumWords - 1] = 0;
    change_max_ = fmax(change_max_, own.change_max);
    keep_half<8>(words);
    keep_half<4>(words);
    keep_half<2>(words);
    keep_half<1>(words);
    word_ += words[0] + __shfl_xor_sync(0xffffffffu, words[0], 1);
  }

  /// Adds those of all warps of the block to device memory, and sends all if this block is the last; all
  /// threads call. of_warp: shared memory that nothing else uses any more, kSumWords words a warp. use: of
  /// send_if_last.
  template <unsigned kThreads, class Use>
  __device__ void reduce(Limb* of_warp, const SumsOutbox& box, const Use& use) {
    constexpr unsigned kWarp = 32, kWarps = kThreads / kWarp;
    const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, place = lane / 2;
    auto largest = static_cast<Limb>(__double_as_longlong(change_max_));
    for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
      largest = combined(kSumWords - 1, largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    if (lane % 2 == 0) of_warp[place * kWarps + warp] = place == kSumWords - 1 ? largest : word_;
    __syncthreads();
    if (threadIdx.x < kSumWords) {
      Limb word = 0;
      for (unsigned w = 0; w < kWarps; ++w)
        word = combined(threadIdx.x, word, of_warp[threadIdx.x * kWarps + w]);
      add_word(threadIdx.x, word, box.sums);
    }
    send_if_last(box, threadIdx.x, kThreads, use);
  }

  template <unsigned kThreads>
  __device__ void reduce(Limb* of_warp, const SumsOutbox& box) {
    reduce<kThreads>(of_warp, box, [](const DeviceSums&) {});
  }

 private:
  /// Of twice kHalf words a lane keeps half, with what its partner had of these.
  template <unsigned kHalf>
  __device__ static void keep_half(Limb (&words)[kSumWords]) {
    const bool upper = (threadIdx.x & 2 * kHalf) != 0;
#pragma unroll
    for (unsigned k = 0; k < kHalf; ++k) {
      const Limb given = upper ? words[k] : words[k + kHalf];
      words[k] = (upper ? words[k + kHalf] : words[k]) + __shfl_xor_sync(0xffffffffu, given, 2 * kHalf);
    }
  }

  Limb word_ = 0;
  double change_max_ = 0;
};

}  // namespace tessera::cuda
