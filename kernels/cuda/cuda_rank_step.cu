// A step of PageRank in one kernel, of small graphs in CSR: blocks of threads sum their rows as the product
// does (csr_row_blocks.cuh), but to shared memory, and update them there. The bits are those of the product
// and the update by itself (rank_kernel in cuda_vector_ops.cuh).
#include "kernels/cuda/csr_row_blocks.cuh"
#include "kernels/cuda/early_launch.cuh"
#include "kernels/cuda/rank_chain.cuh"
#include "kernels/cuda/row_update.cuh"

namespace tessera::cuda {
namespace {

/// Rows of a block and of a thread.
constexpr std::uint32_t kMostRows = most_rows_of(kFewStaged), kRowsEach = kMostRows / kRowBlockThreads;

/// What the update of a thread's rows reads besides their sums.
template <class S>
struct RowInputs {
  S old[kRowsEach], scale[kRowsEach];
  VertexId place[kRowsEach];
};

/// The `count` rows of a block from `first` on, whose sums are in row_sums: thread by thread.
template <bool kSquares, class S>
__device__ void update_rows(const RankUpdate& update, const RankVectors<S>& v, const ExactScale& bound,
                            const RowInputs<S>& inputs, VertexId first, std::uint32_t count,
                            const double* row_sums, ThreadSums& sums) {
#pragma unroll
  for (unsigned j = 0; j < kRowsEach; ++j) {
    const std::uint32_t row = j * kRowBlockThreads + threadIdx.x;
    const std::uint64_t i = first + row;
    if (row >= count || i >= v.num_rows) continue;
    put_rank<kSquares>(v, bound, i, new_rank(update, v, i, row_sums[row]), inputs.old[j], inputs.scale[j],
                       inputs.place[j], sums);
  }
}

template <bool kWeighted, bool kSquares, class S>
__global__ void __launch_bounds__(kRowBlockThreads, 3)
    step_kernel(CsrView<S> a, CsrDeal deal, const S* x, RankUpdate update, RankVectors<S> v, ExactScale bound,
                SumsOutbox box) {
  using Rows = BlockOfRows<kWeighted, kFewStaged, S>;
  __shared__ typename Rows::Staged staged;
  __shared__ double row_sums[kMostRows];
  __shared__ Limb of_warp[kSumWords * kRowBlockThreads / kRowBlockWarp];
  Rows rows(deal, staged);
  RowInputs<S> inputs;
  const auto each_row = [&](const auto& use) {
#pragma unroll
    for (unsigned j = 0; j < kRowsEach; ++j) {
      const std::uint32_t row = j * kRowBlockThreads + threadIdx.x;
      const std::uint64_t i = rows.first_row() + row;
      if (row < rows.num_rows() && i < v.num_rows) use(j, i);
    }
  };
  each_row([&](unsigned j, std::uint64_t i) {
    inputs.scale[j] = v.scale == nullptr ? S{1} : v.scale[i];
    inputs.place[j] = v.slots == nullptr || i >= v.num_out ? static_cast<VertexId>(i) : v.slots[i];
  });
  let_next_kernel_begin();
  wait_for_kernels_before();
  if (v.chain.next != nullptr) update = given_by(v.chain);
  each_row([&](unsigned j, std::uint64_t i) { inputs.old[j] = v.before[i]; });
  const bool has_sums = rows.sum(a, x, row_sums);
  __syncthreads();
  ThreadSums sums;
  if (has_sums)
    update_rows<kSquares>(update, v, bound, inputs, rows.first_row(), rows.num_rows(), row_sums, sums);
  WarpSums of_block;
  of_block.take(sums, bound);
  of_block.reduce<kRowBlockThreads>(of_warp, box, [&](const DeviceSums& all) {
    if (v.chain.next != nullptr) leave_next<S>(v.chain, update, all, bound);
  });
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const CsrDeal& deal, const S* x, const RankStep<S>& step) {
  launch_early(step.squares ? step_kernel<kWeighted, true, S> : step_kernel<kWeighted, false, S>,
               deal.num_blocks, kRowBlockThreads, 0, a, deal, x, step.update, step.vectors, step.bound,
               step.box);
}

}  // namespace

template <class S>
void step_ranks(const CsrView<S>& a, const CsrDeal& deal, const S* x, const RankStep<S>& step) {
  if (a.values != nullptr)
    launch<true>(a, deal, x, step);
  else
    launch<false>(a, deal, x, step);
}

template void step_ranks(const CsrView<float>&, const CsrDeal&, const float*, const RankStep<float>&);
template void step_ranks(const CsrView<double>&, const CsrDeal&, const double*, const RankStep<double>&);

}  // namespace tessera::cuda
