#include "kernels/symmetric_rows.hpp"

#ifdef TESSERA_HAVE_CUDA
#include "kernels/cuda/symmetric_rows.hpp"
#include "kernels/devices.hpp"
#endif

namespace tessera {

#ifdef TESSERA_HAVE_CUDA
std::optional<PatternRows> symmetrised_on_device(const CsrView<double>& pattern, std::uint64_t first_row,
                                                 std::uint64_t num_rows) {
  if (num_devices() == 0) return std::nullopt;
  return cuda::symmetric_rows_on_device(
      {pattern.num_rows, pattern.num_cols, pattern.row_offsets, pattern.col_indices, nullptr}, first_row,
      num_rows);
}
#else
std::optional<PatternRows> symmetrised_on_device(const CsrView<double>&, std::uint64_t, std::uint64_t) {
  return std::nullopt;
}
#endif

}  // namespace tessera
