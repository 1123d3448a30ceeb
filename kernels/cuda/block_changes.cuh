// Changes of walks within a step (walk_step.cuh, cuda_spmv_csr_wide.cu), in shared memory: in registers they
// would take room from loads under way.
#pragma once
#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/row_run_sums.cuh"

namespace tessera::cuda {

/// What the threads of a block have added up of the changes of their vectors. A slot is one thread's at a
/// time: behind construction, which clears that of threadIdx.x, and wherever a slot changes hands, the
/// threads it passes between synchronise.
template <bool kSquares>
class BlockChanges {
 public:
  __device__ BlockChanges() {
    for (unsigned i = 0; i < Words::kCount; ++i) words()[i][threadIdx.x] = 0;
  }
  __device__ void take(const ThreadSums& own, const ExactScale& bound, unsigned slot) const {
    Limb all[kSumWords];
    own.to_words(bound, all);
#pragma unroll
    for (unsigned i = 0; i < Words::kCount; ++i) {
      Limb& word = words()[i][slot];
      word = combined(Words::place_of(i), word, all[Words::place_of(i)]);
    }
  }
  /// To box.sums, by all threads of the block: of each kLanes slots the first `count` are those of vectors
  /// `first` to first + count. One thread of the last block calls finish().
  template <unsigned kLanes, class Finish>
  __device__ static void send(unsigned first, unsigned count, const SumsOutbox& box, const Finish& finish) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < Words::kCount * count; i += kSumThreads) {
      const unsigned word = i / count, q = i % count, place = Words::place_of(word);
      Limb sum = 0;
      for (unsigned slot = q; slot < kSumThreads; slot += kLanes)
        sum = combined(place, sum, words()[word][slot]);
      add_word(place, sum, box.sums + first + q);
    }
    send_if_last(box, threadIdx.x, kSumThreads, [&](const DeviceSums&) { finish(); });
  }

 private:
  using Words = ChangeWords<kSquares>;
  using OfThreads = Limb[Words::kCount][kSumThreads];
  __device__ static OfThreads& words() {
    __shared__ OfThreads of_thread;
    return of_thread;
  }
};

}  // namespace tessera::cuda
