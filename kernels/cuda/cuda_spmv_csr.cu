// The plain CSR product of one vector on a device, in one launch.
#include "kernels/cuda/csr_row_blocks.cuh"
#include "kernels/cuda/early_launch.cuh"

namespace tessera::cuda {
namespace {

template <bool kWeighted, std::uint32_t kSize, class S>
__global__ void __launch_bounds__(kRowBlockThreads, 8)
    multiply(CsrView<S> a, CsrDeal deal, const S* x, double* y) {  // x is written until the wait is over
  using Rows = BlockOfRows<kWeighted, kSize, S>;
  __shared__ typename Rows::Staged staged;
  Rows rows(deal, staged);
  let_next_kernel_begin();
  wait_for_kernels_before();
  rows.sum(a, x, y + rows.first_row());
}

template <bool kWeighted, class S>
void launch(const CsrView<S>& a, const CsrDeal& deal, const S* x, double* y) {
  if (deal.num_staged == kFewStaged)
    launch_early(multiply<kWeighted, kFewStaged, S>, deal.num_blocks, kRowBlockThreads, 0, a, deal, x, y);
  else
    launch_early(multiply<kWeighted, kManyStaged, S>, deal.num_blocks, kRowBlockThreads, 0, a, deal, x, y);
}

}  // namespace

template <class S>
void spmv(const CsrView<S>& a, const CsrDeal& deal, const S* x, double* y) {
  if (deal.num_blocks == 0) return;
  if (a.values != nullptr)
    launch<true>(a, deal, x, y);
  else
    launch<false>(a, deal, x, y);
}

template void spmv(const CsrView<float>&, const CsrDeal&, const float*, double*);
template void spmv(const CsrView<double>&, const CsrDeal&, const double*, double*);

}  // namespace tessera::cuda
