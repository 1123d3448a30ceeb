#include "kernels/cuda/cuda_end_update.hpp"

#include "kernels/cuda/bin_rows.hpp"
#include "kernels/cuda/cuda_exact_sum.cuh"
#include "kernels/cuda/row_update.cuh"
#include "kernels/cuda/shared_memory_limit.hpp"
#include "kernels/cuda/slice_sums.cuh"

namespace tessera::cuda {
namespace {

/// The new score of the row whose sum is entry `place` of the product goes where its element 0 was, a
/// message.
template <class S, CacheUse kUse>
struct ScoreStore {
  using Place = std::uint32_t;
  static constexpr bool kNeedsFirst = true, kReadsMessages = true;
  static constexpr CacheUse kCacheUse = kUse;
  EndingUpdate update;
  VertexId restart_place;
  S* window;
  template <class T>
  __device__ void operator()(Place place, T sum, std::uint32_t first) const {
    window[first] = score(static_cast<double>(sum), place == restart_place);
  }
  __device__ S score_without_links(std::uint32_t row) const { return score(0, row == update.restart_row); }
  __device__ S score(double sum, bool restarts) const {
    return static_cast<S>(update.link * sum +
                          (restarts ? update.constant + update.restart : update.constant));
  }
};

template <class S>
struct EndArgs {
  EndingBins<S> bins;
  const S* messages;
  EndingUpdate update;
  RankVectors<S> v;
  ExactScale bound;
  SumsOutbox box;
};

/// What an update reads of one row.
template <class S>
struct RowBefore {
  S score, scale;
  VertexId place;
  std::uint16_t first_message;

  __device__ RowBefore() {}
  /// Of a row below `end`, else of none.
  __device__ RowBefore(const EndArgs<S>& args, std::uint32_t row, std::uint32_t end, bool has_messages) {
    const RankVectors<S>& v = args.v;
    if (row >= end) return;
    first_message = has_messages ? args.bins.first_messages[row] : kNoMessage;
    score = v.before[row];
    scale = v.scale == nullptr ? S{1} : v.scale[row];
    if (row < v.places.count) place = v.places.place_of(row);
  }
};

/// Rows row, row + step, ... below `end`, whose sums `store` has seen; window null: rows without messages,
/// else all threads of the block call.
/// kReaches: other ranks get inputs, too.
template <bool kSquares, bool kReaches, class S, class Store>
__device__ void update_rows(const EndArgs<S>& args, const Store& store, std::uint32_t row, std::uint32_t end,
                            std::uint32_t step, const S* window, WarpSums& all) {
  constexpr unsigned kRows = 2;  // more would take registers from the slices
  ThreadSums sums;
  RowBefore<S> now[kRows];
#pragma unroll
  for (unsigned j = 0; j < kRows; ++j) now[j] = {args, row + j * step, end, window != nullptr};
  if (window != nullptr) __syncthreads();  // the scores of the bin are there
  while (row < end) {
    // The next rows are on their way while these are worked on.
    RowBefore<S> next[kRows];
#pragma unroll
    for (unsigned j = 0; j < kRows; ++j) next[j] = {args, row + (kRows + j) * step, end, window != nullptr};
#pragma unroll
    for (unsigned j = 0; j < kRows; ++j, row += step) {
      if (row >= end) continue;
      const RowBefore<S>& before = now[j];
      const S stored =
          before.first_message == kNoMessage ? store.score_without_links(row) : window[before.first_message];
      const S input =
          put_rank<kSquares>(args.v, args.bound, row, stored, before.score, before.scale, before.place, sums);
      if (kReaches && row < args.v.places.count) args.v.others.put(before.place, input);
    }
#pragma unroll
    for (unsigned j = 0; j < kRows; ++j) now[j] = next[j];
  }
  all.take(sums, args.bound);
}

template <bool kSquares, bool kReaches, CacheUse kUse, unsigned kThreads, class S>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    end_kernel(const __grid_constant__ EndArgs<S> args) {
  extern __shared__ __align__(16) unsigned char shared[];
  S* window = shared_window<kThreads, S>(shared);
  const PassArgs<S> pass{args.bins.bins, args.bins.shares.shares, args.bins.shares.first_of_block,
                         args.messages};
  const std::uint32_t first_share = pass.first_of_block[blockIdx.x],
                      end_share = pass.first_of_block[blockIdx.x + 1];
  let_next_kernel_begin();
  const VertexId row = args.update.restart_row;
  const ScoreStore<S, kUse> store{args.update, row == kNoVertex ? kNoVertex : args.bins.positions[row],
                                  window};
  WarpSums sums;
  const auto num_rows = static_cast<std::uint32_t>(args.v.num_rows);
  for (std::uint32_t i = first_share; i < end_share; ++i) {
    const std::uint32_t* rows = args.bins.first_rows + pass.shares[i].window;
    const std::uint32_t first = rows[0], end = min(rows[1], num_rows);
    run_share<false, kThreads>(pass, i, first_share, end_share, shared, store);
    update_rows<kSquares, kReaches>(args, store, first + threadIdx.x, end, kThreads, window, sums);
  }
  const std::uint32_t behind = args.bins.first_rows[args.bins.bins.num_windows];
  if (behind < num_rows)
    update_rows<kSquares, kReaches>(args, store, behind + blockIdx.x * kThreads + threadIdx.x, num_rows,
                                    gridDim.x * kThreads, static_cast<const S*>(nullptr), sums);
  if (kReaches) args.v.others.end();
  __pipeline_wait_prior(0);
  __syncthreads();  // nobody uses the window or a ring any more
  sums.template reduce<kThreads>(reinterpret_cast<Limb*>(shared), args.box);
}

template <bool kSquares, bool kReaches, CacheUse kUse, unsigned kThreads, class S>
void launch(const EndArgs<S>& args) {
  const SliceShares& shares = args.bins.shares;
  constexpr auto kKernel = end_kernel<kSquares, kReaches, kUse, kThreads, S>;
  const std::size_t bytes = shared_bytes<kKernel, kThreads, S>(shares.largest_window);
  allow_shared_bytes<kKernel>(bytes);
  launch_early(kKernel, shares.num_blocks, kThreads, bytes, args);
}
template <bool kSquares, CacheUse kUse, unsigned kThreads, class S>
void launch(const EndArgs<S>& args) {
  args.v.others.count > 0 ? launch<kSquares, true, kUse, kThreads>(args)
                          : launch<kSquares, false, kUse, kThreads>(args);
}
template <bool kSquares, CacheUse kUse, class S>
void launch(const EndArgs<S>& args) {
  const bool large = threads_for<S>(args.bins.shares.largest_window) == 1024;
  large ? launch<kSquares, kUse, 1024>(args) : launch<kSquares, kUse, 512>(args);
}

}  // namespace

template <class S>
void end_with_update(const EndingBins<S>& bins, const S* messages, const EndingUpdate& update,
                     const RankVectors<S>& vectors, const ExactScale& bound, bool squares,
                     const SumsOutbox& box) {
  const EndArgs<S> args{bins, messages, update, vectors, bound, box};
  with_cache_use(bins.shares.cache_use,
                 [&](auto use) { squares ? launch<true, use()>(args) : launch<false, use()>(args); });
}

#define TESSERA_INSTANTIATE(S)                                                                              \
  template void end_with_update(const EndingBins<S>&, const S*, const EndingUpdate&, const RankVectors<S>&, \
                                const ExactScale&, bool, const SumsOutbox&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cuda
