#include "kernels/formats/csr_ell.hpp"

namespace tessera {

CsrEllThresholds csr_ell_thresholds(const CsrView<double>& a) {
  constexpr std::uint64_t kLongRow = 256, kWarp = 32, kFewest = 6, kMost = 32;
  std::uint64_t rows = 0, elements = 0;
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    if (row_length(a, row) >= kLongRow) continue;
    ++rows;
    elements += row_length(a, row);
  }
  // Without short rows the mean counts as the largest there is.
  const std::uint64_t mean = rows == 0 ? kMost : elements / rows;
  const std::uint64_t thread_elements = std::clamp(mean, kFewest, kMost);
  return {.row_length = std::min(kLongRow, (mean / kWarp + 1) * kWarp),
          .thread_elements = thread_elements,
          .warp_elements = thread_elements * kWarp};
}

}  // namespace tessera
