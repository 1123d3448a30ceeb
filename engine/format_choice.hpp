// Which form of a product suits a matrix, from the lengths of its rows alone (one pass over the offsets): for
// `tessera spmv --kernel auto`.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/csr_view.hpp"

namespace tessera {

struct RowLengthStats {
  std::uint64_t num_rows = 0, num_cols = 0, num_nonzeros = 0;
  double mean = 0, deviation = 0;
  std::uint64_t longest = 0;
};
RowLengthStats row_length_stats(const CsrView<double>& matrix);

/// The form (a name of product_forms) that is expected to be the fastest of ours. On a device by limits read
/// off what an H200 measured (docs/formats.md); on a host only even rows and others are told apart.
std::string choose_form(const RowLengthStats& lengths, bool on_device);

}  // namespace tessera
