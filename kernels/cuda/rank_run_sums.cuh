// Sums of the steps of a run: a block's rows add integers (kernels/base/exact_sum.hpp), all blocks add theirs
// in device memory, and as each addition is counted there, the sums are where the blocks meet.
#pragma once
#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/cuda_spmv.hpp"

namespace tessera::cuda {

static_assert(kMostRowsOfThread < 32 && kRankRunRows / kRankRunThreads <= kMostRowsOfThread,
              "the pieces of a thread's rows in a step, of 26 bits and a sign, have room in an int");

/// What a thread's rows add. Scores and changes are at most the bound, so that a piece has 26 bits and a
/// sign.
template <bool kSquares>
struct RunPieces {
  static constexpr unsigned kChange = 0, kSquaresAt = ExactSum::kFolds,
                            kTotal = kSquaresAt + (kSquares ? WideExactSum::kFolds : 0),
                            kDangling = kTotal + ExactSum::kFolds, kCount = kDangling + ExactSum::kFolds;
  int words[kCount] = {};
  double change_max = 0;

  /// Which word of DeviceSums that is.
  __device__ static constexpr unsigned place_of(unsigned word) {
    return kSquares || word < kSquaresAt ? word : word + WideExactSum::kFolds;
  }
  /// kOfMasses: as is known of pairs; else is_mass says. What dangles has the pieces of its score, so that
  /// only a mass is cut into some of its own.
  template <bool kOfMasses, class S>
  __device__ void add_row(const ExactScale& scale, double change, double stored, S number, bool is_mass) {
    add_change(scale, change);
    int of_stored[ExactSum::kFolds] = {};
    add<ExactSum::kFolds>(scale, of_stored, stored);
#pragma unroll
    for (unsigned f = 0; f < ExactSum::kFolds; ++f) words[kTotal + f] += of_stored[f];
    if (kOfMasses || is_mass)
      add<ExactSum::kFolds>(scale, words + kDangling, stored * static_cast<double>(number));
    else if (number == S{0})
#pragma unroll
      for (unsigned f = 0; f < ExactSum::kFolds; ++f) words[kDangling + f] += of_stored[f];
  }

 private:
  __device__ void add_change(const ExactScale& scale, double change) {
    const double size = fabs(change);
    add<ExactSum::kFolds>(scale, words + kChange, size);
    if constexpr (kSquares) add<WideExactSum::kFolds>(scale, words + kSquaresAt, size * size);
    change_max = fmax(change_max, size);
  }
  /// Of a term that has been shifted to the end of the mantissa by a magic number, whose own bits are above,
  /// the lower half of the bits is the piece.
  template <int kFolds>
  __device__ static void add(const ExactScale& scale, int* sums, double term) {
#pragma unroll
    for (int f = 0; f < kFolds; ++f) {
      const double shifted = term + scale.magic(f);
      sums[f] += __double2loint(shifted);
      term -= shifted - scale.magic(f);
    }
  }
};

/// The sum of a number of every lane, below 2^46.
__device__ inline long long sum_of_warp(long long word) {
  constexpr unsigned kLow = 20;
  const unsigned low = static_cast<unsigned>(word) & ((1u << kLow) - 1);
  const int high = static_cast<int>(word >> kLow);
  return (static_cast<long long>(__reduce_add_sync(~0u, high)) << kLow) + __reduce_add_sync(~0u, low);
}
/// The largest of a number of every lane, none below 0: so their bits order as they do.
__device__ inline double largest_of_warp(double number) {
  const auto high = static_cast<unsigned>(__double2hiint(number)),
             low = static_cast<unsigned>(__double2loint(number)), largest = __reduce_max_sync(~0u, high);
  return __hiloint2double(static_cast<int>(largest),
                          static_cast<int>(__reduce_max_sync(~0u, high == largest ? low : 0)));
}

/// Where all blocks of a grid that runs at once come together, once a step. All threads of all blocks call.
template <bool kSquares>
class RunMeetings {
 public:
  using Pieces = RunPieces<kSquares>;
  struct Shared {
    int of_thread[Pieces::kCount][kRankRunThreads];
    double largest[kRankRunThreads];
    long long of_block[Pieces::kCount];
    DeviceSums met;  ///< of the last meeting, but the largest change
  };

  __device__ RunMeetings(RunMemory* memory, Shared& shared)
      : memory_(memory), shared_(shared), num_met_(memory->turn) {
    if (threadIdx.x < kSumWords) word_of(shared.met, threadIdx.x) = 0;
  }
  /// num_threads: the first so many threads have rows. What any thread has written before, all find behind
  /// it, the sums in met().
  __device__ void meet(const Pieces& own, unsigned num_threads) {
    if (threadIdx.x < num_threads) {
#pragma unroll
      for (unsigned word = 0; word < Pieces::kCount; ++word)
        shared_.of_thread[word][threadIdx.x] = own.words[word];
      shared_.largest[threadIdx.x] = own.change_max;
    }
    __syncthreads();
    RunSums& all = memory_->sums[num_met_ % kSumsInTurn];
    const unsigned warp = threadIdx.x / kWarp;
    if (warp == 0)  // takes long, so others add meanwhile
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
    else if (warp <= Pieces::kCount)
      add_word(warp - 1, num_threads);
    if (warp == kWarps - 1) add_largest(num_threads, all);
    __syncthreads();
    if (warp == 0) {
      add_counted(all);
      wait_for(all);
    }
    ++num_met_;
    __syncthreads();
  }
  __device__ const DeviceSums& met() const { return shared_.met; }
  __device__ double largest_change() const {
    return __longlong_as_double(static_cast<long long>(__ldcg(&last().words[kSumWords - 1].value)));
  }
  /// By threads of one block, before its next meeting: the sums of the meeting before, which nobody reads any
  /// more, are 0 again. `thread` of kRunWords.
  __device__ void clear_past(unsigned thread) const {
    memory_->sums[(num_met_ + 1) % kSumsInTurn].words[thread].value = 0;
  }
  /// By one thread, behind the last one.
  __device__ void end() const { memory_->turn = num_met_ % kSumsInTurn; }

 private:
  static constexpr unsigned kWarp = 32, kCountBits = 8, kSumBits = 64 - kCountBits;
  static constexpr unsigned kWarps = kRankRunThreads / kWarp;
  static_assert(Pieces::kCount < kWarps, "a warp a word, but the first");

  __device__ static Limb& word_of(DeviceSums& sums, unsigned place) {
    return reinterpret_cast<Limb*>(&sums)[place];
  }
  __device__ RunSums& last() const { return memory_->sums[(num_met_ - 1) % kSumsInTurn]; }
  __device__ void add_word(unsigned word, unsigned num_threads) const {
    long long sum = 0;
    for (unsigned i = threadIdx.x % kWarp; i < num_threads; i += kWarp) sum += shared_.of_thread[word][i];
    sum = sum_of_warp(sum);
    if (threadIdx.x % kWarp == 0) shared_.of_block[word] = sum;
  }
  /// By the first warp, behind its fence: what its block has written before is there when the words are.
  __device__ void add_counted(RunSums& all) const {
    if (threadIdx.x >= Pieces::kCount) return;
    const Limb word = (Limb{1} << kSumBits) + static_cast<Limb>(shared_.of_block[threadIdx.x]);
    asm volatile(
        "red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(&all.words[Pieces::place_of(threadIdx.x)].value),
        "l"(word)
        : "memory");
  }
  __device__ void add_largest(unsigned num_threads, RunSums& all) const {
    double largest = 0;
    for (unsigned i = threadIdx.x % kWarp; i < num_threads; i += kWarp)
      largest = fmax(largest, shared_.largest[i]);
    largest = largest_of_warp(largest);
    if (threadIdx.x % kWarp != 0) return;
    atomicMax(&all.words[kSumWords - 1].value, static_cast<Limb>(__double_as_longlong(largest)));
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(&all.words[kSumWords].value),
                 "l"(Limb{1} << kSumBits)
                 : "memory");
  }
  /// By the first warp: until all blocks have added theirs.
  __device__ void wait_for(RunSums& all) const {
    const unsigned lane = threadIdx.x;
    const bool is_one = lane <= Pieces::kCount;
    const unsigned place = lane < Pieces::kCount ? Pieces::place_of(lane) : kSumWords;
    const Limb* from = &all.words[is_one ? place : kSumWords].value;
    long long sum;
    unsigned count;
    do {
      Limb word;
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
      sum = static_cast<long long>(word << kCountBits) >> kCountBits;
      count = static_cast<unsigned>((word - static_cast<Limb>(sum)) >> kSumBits);
    } while (!__all_sync(~0u, count == gridDim.x));
    if (lane < Pieces::kCount) word_of(shared_.met, place) = static_cast<Limb>(sum);
  }

  RunMemory* const memory_;
  Shared& shared_;
  unsigned num_met_;  // of this run, and which sums those before have left off at
};

}  // namespace tessera::cuda
