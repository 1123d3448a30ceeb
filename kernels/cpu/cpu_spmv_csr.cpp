// The plain CSR product on the CPU: the fallback where tiling does not pay, and what it is compared with.
#include "kernels/cpu/cpu_row_sum.hpp"
#include "kernels/cpu/cpu_spmv.hpp"
#include "kernels/cpu/cpu_threads.hpp"

namespace tessera::cpu {
namespace {

template <bool kWeighted, class S>
void multiply(const CsrView<S>& a, const S* x, double* y, unsigned num_vectors) {
#pragma omp parallel for schedule(dynamic, 512) if (pays_threads(a.num_nonzeros() * num_vectors))
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    const EdgeOffset begin = a.row_offsets[row], width = a.row_offsets[row + 1] - begin;
    const S* values = kWeighted ? a.values + begin : nullptr;
    if (num_vectors == 1) {
      y[row] = row_sum<kWeighted>(a.col_indices + begin, values, 1, width, x);
    } else {
      if (row + 1 < a.num_rows)
        ask_for_row(a.col_indices + begin + width, 1, a.row_offsets[row + 2] - begin - width, x, num_vectors);
      double* sums = y + row * num_vectors;
      for (unsigned q = 0; q < num_vectors; ++q) sums[q] = 0;
      add_row_sums_block<kWeighted>(a.col_indices + begin, values, 1, width, x, num_vectors, sums);
    }
  }
}

}  // namespace

template <class S>
void spmv(const CsrView<S>& a, const S* x, double* y, unsigned num_vectors) {
  if (a.values != nullptr)
    multiply<true>(a, x, y, num_vectors);
  else
    multiply<false>(a, x, y, num_vectors);
}

template void spmv(const CsrView<float>&, const float*, double*, unsigned);
template void spmv(const CsrView<double>&, const double*, double*, unsigned);

}  // namespace tessera::cpu
