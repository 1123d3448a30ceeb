// hyb: an ELL part as wide as it pays, and what longer rows have beyond it as COO (Bell and Garland).
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/formats/coo.hpp"
#include "kernels/formats/ell.hpp"

namespace tessera {

/// Bell and Garland's rule: the widest ELL part of which at least a third of the rows, and 4096 of them, fill
/// the last column (ELL is about three times as fast as COO, and few threads leave a GPU idle).
inline std::uint64_t hyb_width(const CsrView<double>& a) {
  std::vector<std::uint64_t> rows_of_length(longest_row(a) + 2, 0);
  for (std::uint64_t row = 0; row < a.num_rows; ++row) ++rows_of_length[row_length(a, row)];
  const std::uint64_t enough = std::max<std::uint64_t>(4096, ceil_div<std::uint64_t>(a.num_rows, 3));
  std::uint64_t width = rows_of_length.size() - 1, filled = 0;
  while (width > 0) {
    filled += rows_of_length[width];
    if (filled >= enough) break;
    --width;
  }
  return width;
}

template <class S>
struct Hyb {
  using Value = S;
  Ell<S> ell;
  Coo<S> coo;

  explicit Hyb(const CsrView<double>& a) : Hyb(a, hyb_width(a)) {}
  Hyb(const CsrView<double>& a, std::uint64_t width) : ell(a, width, "hyb"), coo(a, width) {}
  std::uint64_t num_stored() const { return ell.num_stored() + coo.num_stored(); }
  template <class Self, class Visit>
  static void each_buffer(Self& self, const Visit& visit) {
    Ell<S>::each_buffer(self.ell, visit);
    Coo<S>::each_buffer(self.coo, visit);
  }
};

template <class S>
void multiply_on_host(const Hyb<S>& a, const S* x, S* y) {
  multiply_on_host(a.ell, x, y);
  add_on_host(a.coo, x, y);
}

// kernels/cuda/formats/cuda_hyb.cu
template <class S>
void multiply_on_device(const Hyb<S>& a, const S* x, S* y);

}  // namespace tessera
