// The plain CSR product of many vectors of f32 on a device (rows_in_fours.cuh), and steps of walks: a product
// whose rows are updated as their sums are there, so that no sum goes to memory. Scores and changes have the
// bits of walk_kernel (cuda_vector_ops.cuh) behind a product.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/block_changes.cuh"
#include "kernels/cuda/rows_in_fours.cuh"
#include "kernels/extrapolation.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kWarps = kSumThreads / kSumWarpThreads;
/// Blocks of a multiprocessor: 32 warps of 64 registers a thread, which are too few with values, so that it
/// has 24 warps of 80 there (docs/performance.md).
template <bool kWeighted>
constexpr unsigned kBlocksOf = kWeighted ? 3 : 4;

/// The first of a thread's vectors, of the block's.
__device__ inline unsigned vector_of_thread() { return threadIdx.x % kRowThreads * kThreadVectors; }

/// Ends of a product: sums go to y.
struct StoreSums {
  struct Nothing {};
  double* y;
  unsigned q, num_vectors;

  __device__ Nothing read(VertexId) const { return {}; }
  __device__ void take(bool is_mine, VertexId row, const double (&sums)[kThreadVectors], Nothing) const {
    if (!is_mine) return;
    auto* const to = reinterpret_cast<double2*>(y + std::uint64_t{row} * num_vectors + q);
    __stcg(to, make_double2(sums[0], sums[1]));
    __stcg(to + 1, make_double2(sums[2], sums[3]));
  }
};

/// Blocks (x: a run a warp, y: groups of kStepVectors vectors).
template <bool kWeighted>
__global__ void __launch_bounds__(kSumThreads, kBlocksOf<kWeighted>)
    multiply_wide(CsrView<float> a, RunView deal, const float* x, double* y, unsigned num_vectors) {
  __shared__ WarpRun runs[kWarps];
  let_next_kernel_begin();
  const unsigned which = blockIdx.x * kWarps + threadIdx.x / kSumWarpThreads,
                 own = blockIdx.y * kStepVectors + vector_of_thread(),
                 q = min(own, num_vectors - kThreadVectors);
  if (which >= deal.num_runs) return wait_for_kernels_before();
  StoreSums ending{y, q, num_vectors};
  sum_run_in_fours<kWeighted>(a, deal, which, runs[threadIdx.x / kSumWarpThreads], x, {own, num_vectors},
                              true, ending);
}

/// Loads and stores of what is not read again while a kernel runs: L1 is for inputs.
__device__ inline float4 read_once(const float* from) {
  float4 all;
  asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(all.x), "=f"(all.y), "=f"(all.z), "=f"(all.w)
               : "l"(from));
  return all;
}
__device__ inline void write_once(float* to, const float4& all) {
  asm volatile("st.global.L1::no_allocate.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(all.x), "f"(all.y),
               "f"(all.z), "f"(all.w)
               : "memory");
}

/// all: kVectors vectors of each of kThreadVectors / kVectors rows, row by row; then half as many vectors of
/// twice as many rows. Of two threads with rows of their own one keeps the first half of the vectors, the
/// other the second, and each gives the other what it does not keep. All threads of the warp call.
template <unsigned kVectors>
__device__ inline void halve_vectors(float (&all)[kThreadVectors]) {
  constexpr unsigned kKept = kVectors / 2, kHalf = kThreadVectors / 2,
                     kDistance = kRowThreads * kThreadVectors / kVectors;
  const bool upper = (threadIdx.x & kDistance) != 0;
  float kept[kHalf], given[kHalf];
#pragma unroll
  for (unsigned i = 0; i < kHalf; ++i) {
    const unsigned low = i / kKept * kVectors + i % kKept, high = low + kKept;
    kept[i] = upper ? all[high] : all[low];
    given[i] = upper ? all[low] : all[high];
  }
#pragma unroll
  for (unsigned i = 0; i < kHalf; ++i) {
    all[i] = kept[i];
    all[kHalf + i] = __shfl_xor_sync(~0u, given[i], kDistance);
  }
}

/// So that they are in L2 when they are read.
__device__ inline void ask_for(const float* numbers) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(numbers));
}

/// Ends of a step: rows are updated. The changes of a warp's four rows are added up by a thread a vector.
/// kFurther: walks have an origin.
template <bool kSquares, bool kFurther>
class UpdateWalks {
 public:
  static_assert(kFour == kThreadVectors && kStepVectors == kSumWarpThreads);
  /// Of a block: where its walks restart, and how far they go.
  struct Shared {
    VertexId restart_rows[kStepVectors];
    double weights[kFurther ? kStepVectors : 1];
  };
  struct Row {
    float4 before;
    float scale;
  };

  /// All threads of the block call; first: of its vectors.
  __device__ UpdateWalks(const WalkStep<float>& step, const WalkWeights<kFurther>& weights, Shared& shared,
                         unsigned first, unsigned q)
      : step_(step), shared_(shared), q_(q) {
    if (threadIdx.x < kStepVectors) {
      const unsigned own = first + threadIdx.x;
      shared.restart_rows[threadIdx.x] =
          own < step.vectors.num_vectors ? step.vectors.restart_rows[own] : kNoVertex;
      if constexpr (kFurther) shared.weights[threadIdx.x] = weights.of[min(own, kMostFurtherVectors - 1)];
    }
    __syncthreads();
  }
  __device__ Row read(VertexId row) const {
    const WalkVectors<float>& v = step_.vectors;
    Row of;
    // In registers it would take those of inputs on their way.
    if (kFurther) ask_for(v.origin + std::uint64_t{row} * v.num_vectors + q_);
    of.before = read_once(v.before + std::uint64_t{row} * v.num_vectors + q_);
    of.scale = v.scale == nullptr ? 1.0f : v.scale[row];
    return of;
  }
  __device__ void take(bool is_mine, VertexId row, const double (&sums)[kThreadVectors], const Row& of) {
    const WalkVectors<float>& v = step_.vectors;
    float4 now = {}, before = {};
    if (is_mine) {
      const unsigned first = vector_of_thread();
      before = of.before;
      now = {score(row, first, sums[0]), score(row, first + 1, sums[1]), score(row, first + 2, sums[2]),
             score(row, first + 3, sums[3])};
      const float4 gone = kFurther ? further(row, first, now) : now;
      write_once(v.walk + std::uint64_t{row} * v.num_vectors + q_, gone);
      if (row < v.places.count)
        write_once(v.out + std::uint64_t{v.places.place_of(row)} * v.num_vectors + q_,
                   {gone.x * of.scale, gone.y * of.scale, gone.z * of.scale, gone.w * of.scale});
    }
    add_changes({now.x, now.y, now.z, now.w}, {before.x, before.y, before.z, before.w});
  }
  /// By the threads of one warp, each for vector `q` of the block: a walk that restarts in a row without
  /// elements.
  __device__ void take_restart(const EdgeOffset* row_offsets, unsigned first, unsigned q) {
    const WalkVectors<float>& v = step_.vectors;
    const VertexId row = shared_.restart_rows[q];
    __syncwarp();  // other threads have added to slot q
    if (row == kNoVertex || row_offsets[row] != row_offsets[row + 1]) return;
    const std::uint64_t at = std::uint64_t{row} * v.num_vectors + first + q;
    const float now = score(row, q, 0), before = v.before[at],
                gone = kFurther ? extrapolated(shared_.weights[q], now, v.origin[at]) : now;
    v.walk[at] = gone;
    if (row < v.places.count)
      v.out[std::uint64_t{v.places.place_of(row)} * v.num_vectors + first + q] =
          gone * (v.scale == nullptr ? 1.0f : v.scale[row]);
    ThreadSums sums;
    sums.add_change(step_.bound, kSquares, static_cast<double>(now) - static_cast<double>(before));
    changes_.take(sums, step_.bound, q);
  }
  /// All threads of the block call, then the last block calls finish().
  template <class Finish>
  __device__ void send(unsigned first, const Finish& finish) {
    changes_.template send<kStepVectors>(first, min(step_.vectors.num_vectors - first, kStepVectors),
                                         step_.box, finish);
  }

 private:
  __device__ float score(VertexId row, unsigned q, double sum) const {
    const volatile VertexId* restarts = shared_.restart_rows;  // not in registers
    return static_cast<float>(step_.link * sum + (row == restarts[q] ? step_.restart : 0.0));
  }
  /// Where vectors `first` to first + kThreadVectors of the block go, whose step is `now`.
  __device__ float4 further(VertexId row, unsigned first, const float4& now) const {
    const WalkVectors<float>& v = step_.vectors;
    const volatile double* weights = shared_.weights + first;
    const float4 origin = read_once(v.origin + std::uint64_t{row} * v.num_vectors + q_);
    return {extrapolated(weights[0], now.x, origin.x), extrapolated(weights[1], now.y, origin.y),
            extrapolated(weights[2], now.z, origin.z), extrapolated(weights[3], now.w, origin.w)};
  }
  /// Of this thread's row and vectors.
  __device__ void add_changes(float (&&now)[kThreadVectors], float (&&before)[kThreadVectors]) {
    halve_vectors<4>(now);
    halve_vectors<4>(before);
    halve_vectors<2>(now);
    halve_vectors<2>(before);
    ThreadSums sums;
#pragma unroll
    for (unsigned row = 0; row < kFour; ++row)
      sums.add_change(step_.bound, kSquares,
                      static_cast<double>(now[row]) - static_cast<double>(before[row]));
    // The vector that is left: a warp's slots are those of its vectors in order.
    const unsigned lane = threadIdx.x % kSumWarpThreads, warp = threadIdx.x / kSumWarpThreads,
                   vector = vector_of_thread() + 2 * (lane / kRowThreads % 2) + lane / (2 * kRowThreads);
    changes_.take(sums, step_.bound, warp * kStepVectors + vector);
  }

  const WalkStep<float>& step_;
  Shared& shared_;
  const unsigned q_;
  const BlockChanges<kSquares> changes_;
};

/// The run that a warp begins with. The longest runs come first: where there are hardly more than warps, a
/// block that has several of these ends late, so they go to all blocks in turn. Of more runs those of a block
/// follow each other, since L1 has inputs of rows that are like each other.
__device__ inline unsigned first_run(unsigned num_runs) {
  const unsigned warp = threadIdx.x / kSumWarpThreads;
  return num_runs < 2 * gridDim.x * kWarps ? warp * gridDim.x + blockIdx.x : blockIdx.x * kWarps + warp;
}

/// Blocks (x: runs, y: groups of kStepVectors vectors); those of a group go through all runs, the first ones
/// as they are dealt, the others as they are taken. Rows without elements keep what they have in walk and
/// out, but where a walk restarts.
template <bool kWeighted, bool kSquares, bool kFurther>
__global__ void __launch_bounds__(kSumThreads, kBlocksOf<kWeighted>)
    step_wide(CsrView<float> a, RunView deal, const float* x, WalkStep<float> step,
              WalkWeights<kFurther> weights) {
  using Update = UpdateWalks<kSquares, kFurther>;
  __shared__ WarpRun runs[kWarps];
  __shared__ typename Update::Shared shared;
  let_next_kernel_begin();
  const unsigned num_vectors = step.vectors.num_vectors, warp = threadIdx.x / kSumWarpThreads,
                 lane = threadIdx.x % kSumWarpThreads, first = blockIdx.y * kStepVectors,
                 own = first + vector_of_thread(), q = min(own, num_vectors - kThreadVectors);
  Update update(step, weights, shared, first, q);
  bool is_first = true;
  for (unsigned i = first_run(deal.num_runs); i < deal.num_runs;) {
    sum_run_in_fours<kWeighted>(a, deal, i, runs[warp], x, {own, num_vectors}, is_first, update);
    is_first = false;
    // Who is done first takes the next run. Not before the first sum has waited: the step before uses the
    // counter, too. Taken ahead, runs are dealt worse.
    unsigned taken = 0;
    if (lane == 0) taken = atomicAdd(deal.runs_taken + blockIdx.y, 1u);
    i = gridDim.x * kWarps + first_of_group<kSumWarpThreads>(taken);
  }
  wait_for_kernels_before();
  if (blockIdx.x == 0 && warp == 0) update.take_restart(a.row_offsets, first, lane);
  update.send(first, [&] {
    for (unsigned y = 0; y < gridDim.y; ++y) deal.runs_taken[y] = 0;
  });
}

}  // namespace

void spmv_wide_block(const CsrView<float>& a, const RunView& deal, const float* x, double* y,
                     unsigned num_vectors) {
  const dim3 blocks(ceil_div(deal.num_runs, kWarps), ceil_div(num_vectors, kStepVectors));
  launch_early(a.values != nullptr ? multiply_wide<true> : multiply_wide<false>, blocks, kSumThreads, 0, a,
               deal, x, y, num_vectors);
}

void step_wide_walks(const CsrView<float>& a, const RunView& deal, const float* x,
                     const WalkStep<float>& step) {
  const auto with = [&](auto weighted, auto squares, auto further) {
    constexpr auto kKernel = step_wide<weighted(), squares(), further()>;
    const unsigned all = ceil_div(deal.num_runs, kWarps);
    const dim3 blocks(std::clamp(all, 1u, kBlocksOf<weighted()> * deal.num_multiprocessors),
                      ceil_div(step.vectors.num_vectors, kStepVectors));
    static const SharedPercent shared = shared_percent(kKernel, kBlocksOf<weighted()>);
    launch_early(shared, kKernel, blocks, kSumThreads, 0, a, deal, x, step,
                 WalkWeights<further()>(step.vectors.weights, step.vectors.num_vectors));
  };
  using Yes = std::true_type;
  using No = std::false_type;
  const auto with_squares = [&](auto weighted, auto further) {
    step.squares ? with(weighted, Yes(), further) : with(weighted, No(), further);
  };
  const auto with_further = [&](auto weighted) {
    step.vectors.origin != nullptr ? with_squares(weighted, Yes()) : with_squares(weighted, No());
  };
  a.values != nullptr ? with_further(Yes()) : with_further(No());
}

}  // namespace tessera::cuda
