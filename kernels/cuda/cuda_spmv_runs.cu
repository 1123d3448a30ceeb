// Steps of PageRank or HITS one after another in one kernel, of small graphs in CSR: every block of threads
// has its rows, and all blocks meet once a step, with its sums. The bits are those of the product and the
// update by itself (rank_kernel in cuda_vector_ops.cuh).
#include <algorithm>
#include <array>

#include "kernels/cuda/cuda_check.hpp"
#include "kernels/cuda/rank_run_rows.cuh"
#include "kernels/cuda/run_rows_by_window.cuh"
#include "kernels/cuda/shared_memory_limit.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned kWarp = 32;

/// What all threads of a block do next; they find it behind their next barrier.
struct NextStep {
  RankUpdate update;
  double change;  ///< of the last step, of pairs
  bool is_none;
};

template <class Rows, bool kSquares, unsigned kSides>
struct alignas(16) RunShared {
  typename Rows::Scratch scratch;
  typename Rows::Kept rows[kSides];
  typename RunMeetings<kSquares>::Shared meetings;
  NextStep next;
};

template <class S>
__device__ RankUpdate update_after(const RankRun& run, unsigned, const RankUpdate& update,
                                   const DeviceSums& sums, const ExactScale& bound) {
  return run.rule.update_after<S>(update, folded(sums.total), folded(sums.dangling), bound);
}
template <class S>
__device__ RankUpdate update_after(const PairRun& run, unsigned num_steps, const RankUpdate&,
                                   const DeviceSums& sums, const ExactScale& bound) {
  return PairRun::update_by(run.norm_after(num_steps, folded(sums.dangling), bound));
}

/// last_change: of the step before, and becomes that of this one, where the run asks for it.
__device__ bool ends_after(const RankRun& run, unsigned num_steps, double change, double&, const DeviceSums&,
                           const ExactScale&) {
  return run.ends_after(num_steps, change);
}
__device__ bool ends_after(const PairRun& run, unsigned num_steps, double change, double& last_change,
                           const DeviceSums& sums, const ExactScale& bound) {
  const double before = last_change;
  last_change = change;
  return run.ends_after(num_steps, change, before, run.norm_after(num_steps, folded(sums.dangling), bound));
}

/// Behind the meeting after step `num_steps`: what is next, whether anything is, and what the host gets, each
/// by another warp.
template <bool kSquares, class S, class Run>
__device__ void decide(const Run& run, unsigned num_steps, const ExactScale& bound,
                       const RunMeetings<kSquares>& meetings, const SumsOutbox& box, NextStep& next) {
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const DeviceSums& sums = meetings.met();
  if (warp == 0 && lane == 0) next.update = update_after<S>(run, num_steps, next.update, sums, bound);
  if (warp == 1 && lane == 0) {
    const double largest = run.norm == Norm::linf ? meetings.largest_change() : 0;
    const double change =
        change_in(run.norm, folded(sums.change_l1), folded(sums.change_squares), largest, bound);
    next.is_none = ends_after(run, num_steps, change, next.change, sums, bound);
  }
  if (warp != 2 || blockIdx.x != 0) return;
  if (lane < kRunWords) meetings.clear_past(lane);
  if (lane >= kSumWords) return;
  const Limb word = lane == kSumWords - 1 ? static_cast<Limb>(__double_as_longlong(meetings.largest_change()))
                                          : reinterpret_cast<const Limb*>(&sums)[lane];
  send_word(word, box.number, box.host + kHalves * (kSumWords * (num_steps - 1) + lane));
}

/// A step of one side's rows, from x to next_x; false where there is none any more.
template <class Rows, bool kSquares, class S, class Run>
__device__ bool step(const DeviceRun<S, Run>& how, Rows& rows, RunMeetings<kSquares>& meetings,
                     unsigned num_steps, const S* x, S* next_x, NextStep& next) {
  rows.read(x);
  if (num_steps > 0) decide<kSquares, S>(how.run, num_steps, how.bound, meetings, how.box, next);
  rows.stage(x);
  __syncthreads();
  if (next.is_none) return false;
  RunPieces<kSquares> pieces;
  const unsigned num_threads =
      rows.template finish<kSquares>(next.update, how.bound, num_steps < how.kSides, x, next_x, pieces);
  meetings.meet(pieces, num_threads);
  return true;
}

/// Steps until there is none any more.
template <class Rows, bool kSquares, class S>
__device__ void go(const DeviceRun<S, RankRun>& how, RunShared<Rows, kSquares, 1>& shared,
                   RunMeetings<kSquares>& meetings) {
  typename Rows::Room room(how, &shared + 1);
  Rows rows(how.sides[0], shared.rows[0], shared.scratch, room);
  unsigned num_steps = 0;
  S *x = how.x, *next_x = how.other_x;
  for (; step(how, rows, meetings, num_steps, x, next_x, shared.next); ++num_steps) {
    S* const read = x;
    x = next_x, next_x = read;
  }
  rows.leave(true);
}
template <class Rows, bool kSquares, class S>
__device__ void go(const DeviceRun<S, PairRun>& how, RunShared<Rows, kSquares, 2>& shared,
                   RunMeetings<kSquares>& meetings) {
  typename Rows::Room room(how, &shared + 1);
  Rows firsts(how.sides[0], shared.rows[0], shared.scratch, room),
      seconds(how.sides[1], shared.rows[1], shared.scratch, room);
  unsigned num_steps = 0;
  while (step(how, firsts, meetings, num_steps, how.x, how.other_x, shared.next)) {
    ++num_steps;
    if (!step(how, seconds, meetings, num_steps, how.other_x, how.x, shared.next)) break;
    ++num_steps;
  }
  firsts.leave(true);
  seconds.leave(num_steps > 1);
}

template <class Rows, bool kSquares, class S, class Run>
__global__ void __launch_bounds__(kRankRunThreads, 1)
    run_kernel(const __grid_constant__ DeviceRun<S, Run> how) {
  extern __shared__ double raw[];
  auto& shared = *reinterpret_cast<RunShared<Rows, kSquares, DeviceRun<S, Run>::kSides>*>(raw);
  RunMeetings<kSquares> meetings(how.memory, shared.meetings);
  if (threadIdx.x == 0) shared.next = {how.run.first_update(), 0, false};
  go(how, shared, meetings);
  if (blockIdx.x == 0 && threadIdx.x == 0) meetings.end();
}

template <class S, class Run>
struct RunKernel {
  static constexpr bool kOfPair = DeviceRun<S, Run>::kSides == 2;

  void (*kernel)(DeviceRun<S, Run>);
  void (*allow_shared)(std::size_t);
  std::size_t shared_bytes;

  template <class Rows, bool kSquares>
  static RunKernel of() {
    return {run_kernel<Rows, kSquares, S, Run>, allow_shared_bytes<run_kernel<Rows, kSquares, S, Run>>,
            sizeof(RunShared<Rows, kSquares, DeviceRun<S, Run>::kSides>)};
  }
  template <class Rows>
  static RunKernel of(bool squares) {
    return squares ? of<Rows, true>() : of<Rows, false>();
  }
  template <unsigned kElementsEach, unsigned kRowsEach>
  static RunKernel in_registers(bool weighted, bool squares) {
    return weighted ? of<RankRunRows<true, kOfPair, S, kElementsEach, kRowsEach>>(squares)
                    : of<RankRunRows<false, kOfPair, S, kElementsEach, kRowsEach>>(squares);
  }
  static RunKernel by_window(bool weighted, bool squares) {
    return weighted ? of<RunRowsByWindow<true, kOfPair, S>>(squares)
                    : of<RunRowsByWindow<false, kOfPair, S>>(squares);
  }
  /// Elements and rows that a thread may have but has not take instructions, and registers.
  static RunKernel in_registers(const BlockSizes& most, bool weighted, bool squares) {
    const unsigned elements_each = ceil_div(most.elements, kRankRunThreads);
    if (most.rows > kRankRunThreads || elements_each > 6)
      return in_registers<kRankRunStaged / kRankRunThreads, kRankRunRows / kRankRunThreads>(weighted,
                                                                                            squares);
    if (elements_each > 4) return in_registers<6, 1>(weighted, squares);
    return elements_each > 2 ? in_registers<4, 1>(weighted, squares) : in_registers<2, 1>(weighted, squares);
  }
};

/// Of the device in use; 0 where blocks of a grid cannot meet.
std::size_t shared_bytes_of_grid() {
  int device = 0, meets = 0;
  TESSERA_CUDA_CALL(cudaGetDevice(&device));
  TESSERA_CUDA_CALL(cudaDeviceGetAttribute(&meets, cudaDevAttrCooperativeLaunch, device));
  return meets != 0 ? most_shared_bytes() : 0;
}

/// Of the kernel that takes the most, which is one of pairs. (Asked for blocks that run at once, the runtime
/// would load the kernels.)
template <class S>
std::size_t shared_bytes_of(bool has_windows, bool weighted) {
  using Kernel = RunKernel<S, PairRun>;
  return (has_windows ? Kernel::by_window(weighted, true) : Kernel::in_registers({}, weighted, true))
      .shared_bytes;
}

}  // namespace

template <class S>
bool can_run_steps(bool weighted) {
  return shared_bytes_of<S>(false, weighted) <= shared_bytes_of_grid();
}

template <class S>
std::size_t room_for_windows(bool weighted) {
  const std::size_t all = shared_bytes_of_grid(), other = shared_bytes_of<S>(true, weighted);
  return all > other ? all - other : 0;
}

template <class S, class Run>
void run_steps(const DeviceRun<S, Run>& how) {
  const bool has_windows = how.sides[0].windows.num_windows > 0;
  const bool weighted = how.sides[0].a.values != nullptr;
  unsigned num_blocks = 0;
  BlockSizes most;
  for (const RunSide<S>& side : how.sides) {
    num_blocks = std::max(num_blocks, has_windows ? side.windows.num_windows : side.deal.num_blocks);
    most = {std::max(most.elements, side.deal.most.elements), std::max(most.rows, side.deal.most.rows)};
  }
  using Kernel = RunKernel<S, Run>;
  const Kernel run = has_windows ? Kernel::by_window(weighted, how.squares)
                                 : Kernel::in_registers(most, weighted, how.squares);
  // Beside a window copies of what is read once a step find room.
  const std::size_t shared_bytes = has_windows ? shared_bytes_of_grid() : run.shared_bytes;
  run.allow_shared(shared_bytes);
  std::array<const void*, 1> arguments{&how};
  TESSERA_CUDA_CALL(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(run.kernel), num_blocks,
                                                kRankRunThreads, const_cast<void**>(arguments.data()),
                                                shared_bytes, nullptr));
}

#define TESSERA_INSTANTIATE(S)                           \
  template bool can_run_steps<S>(bool);                  \
  template std::size_t room_for_windows<S>(bool);        \
  template void run_steps(const DeviceRun<S, RankRun>&); \
  template void run_steps(const DeviceRun<S, PairRun>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
