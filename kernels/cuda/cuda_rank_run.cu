// Steps of PageRank one after another in one kernel, of small graphs in CSR: every block of threads keeps its
// rows, and all blocks meet once a step, with its sums. The bits are those of the product and the update by
// itself (rank_kernel in cuda_vector_ops.cuh).
#include <algorithm>
#include <array>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/rank_run_rows.cuh"
#include "kernels/cuda/shared_memory_limit.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kWarp = 32;

/// What all threads of a block do next; they find it behind their next barrier.
struct NextStep {
  RankUpdate update;
  bool is_none;
};

template <bool kWeighted, bool kSquares, class S>
struct RunShared {
  typename RankRunRows<kWeighted, S>::Shared rows;
  typename RunMeetings<kSquares>::Shared meetings;
  NextStep next;
};

/// Behind the meeting after step `num_steps`: what is next, whether anything is, and what is kept, each by
/// another warp.
template <bool kSquares, class S>
__device__ void decide(const RankRun& run, unsigned num_steps, const ExactScale& bound,
                       const RunMeetings<kSquares>& meetings, DeviceSums* of_steps, NextStep& next) {
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const DeviceSums& sums = meetings.met();
  if (warp == 0 && lane == 0)
    next.update = run.rule.update_after<S>(next.update, folded(sums.total), folded(sums.dangling), bound);
  if (warp == 1 && lane == 0) {
    const double largest = run.norm == Norm::linf ? meetings.largest_change() : 0;
    next.is_none = run.ends_after(
        num_steps, change_in(run.norm, folded(sums.change_l1), folded(sums.change_squares), largest, bound));
  }
  if (warp != 2 || blockIdx.x != 0) return;
  if (lane == 0) {
    of_steps[num_steps - 1] = sums;
    of_steps[num_steps - 1].change_max = static_cast<Limb>(__double_as_longlong(meetings.largest_change()));
  }
  if (lane < kRunWords) meetings.clear_past(lane);
}

template <bool kWeighted, bool kSquares, class S>
__global__ void __launch_bounds__(kRankRunThreads, 1)
    run_kernel(CsrView<S> a, CsrDeal deal, const __grid_constant__ RankVectors<S> v, S* x, S* next_x,
               const __grid_constant__ RankRun run, const __grid_constant__ ExactScale bound,
               RunMemory* memory, SumsOutbox box) {
  extern __shared__ double raw[];
  auto& shared = *reinterpret_cast<RunShared<kWeighted, kSquares, S>*>(raw);
  NextStep& next = shared.next;
  RankRunRows<kWeighted, S> rows(a, deal, v, shared.rows);
  RunMeetings<kSquares> meetings(memory, shared.meetings);
  if (threadIdx.x == 0) next.update = run.first, next.is_none = false;
  unsigned num_steps = 0;
  for (;; ++num_steps) {
    rows.read(x);
    if (num_steps > 0) decide<kSquares, S>(run, num_steps, bound, meetings, memory->of_steps, next);
    rows.stage();
    __syncthreads();
    if (next.is_none) break;
    const bool ends_rows = rows.add();
    __syncthreads();
    RunPieces<kSquares> pieces;
    if (ends_rows) rows.template update<kSquares>(next.update, v, bound, num_steps == 0, next_x, pieces);
    meetings.meet(pieces, ends_rows ? rows.num_row_threads() : 0);
    S* const read = x;
    x = next_x, next_x = read;
  }
  rows.leave(v);
  if (blockIdx.x != 0) return;
  if (threadIdx.x == 0) meetings.end();
  const auto* words = reinterpret_cast<const Limb*>(memory->of_steps);
  for (unsigned i = threadIdx.x; i < kSumWords * box.num_vectors; i += kRankRunThreads)
    send_word(i < kSumWords * num_steps ? words[i] : 0, box.number, box.host + kHalves * i);
}

template <class S>
struct RunKernel {
  void (*kernel)(CsrView<S>, CsrDeal, RankVectors<S>, S*, S*, RankRun, ExactScale, RunMemory*, SumsOutbox);
  void (*allow_shared)(std::size_t);
  std::size_t shared_bytes;

  template <bool kWeighted, bool kSquares>
  static RunKernel of() {
    return {run_kernel<kWeighted, kSquares, S>, allow_shared_bytes<run_kernel<kWeighted, kSquares, S>>,
            sizeof(RunShared<kWeighted, kSquares, S>)};
  }
  static RunKernel of(bool weighted, bool squares) {
    if (weighted) return squares ? of<true, true>() : of<true, false>();
    return squares ? of<false, true>() : of<false, false>();
  }
};

}  // namespace

template <class S>
unsigned most_run_blocks(bool weighted, unsigned num_multiprocessors) {
  int device = 0, meets = 0, most_shared = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&meets, cudaDevAttrCooperativeLaunch, device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  // Asked for blocks that run at once, the runtime would load the kernels.
  const std::size_t shared_bytes = RunKernel<S>::of(weighted, true).shared_bytes;
  if (meets == 0 || shared_bytes > static_cast<std::size_t>(most_shared)) return 0;
  return std::min(num_multiprocessors, kMostRunBlocks);
}

template <class S>
void run_rank_steps(const CsrView<S>& a, const CsrDeal& deal, const DeviceRankRun<S>& how) {
  const RunKernel<S> run = RunKernel<S>::of(a.values != nullptr, how.squares);
  run.allow_shared(run.shared_bytes);
  std::array<const void*, 9> arguments{&a,       &deal,      &how.vectors, &how.x,  &how.other_x,
                                       &how.run, &how.bound, &how.memory,  &how.box};
  TESSERA_CUDA_CALL(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(run.kernel), deal.num_blocks,
                                                kRankRunThreads, const_cast<void**>(arguments.data()),
                                                run.shared_bytes, nullptr));
}

#define TESSERA_INSTANTIATE(S)                          \
  template unsigned most_run_blocks<S>(bool, unsigned); \
  template void run_rank_steps(const CsrView<S>&, const CsrDeal&, const DeviceRankRun<S>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
