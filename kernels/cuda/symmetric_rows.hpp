// A pattern in both directions, made on a device: sorting is what the host does slowest.
#pragma once
#include <optional>

#include "kernels/csr_view.hpp"
#include "kernels/pattern_rows.hpp"

namespace tessera::cuda {

/// See kernels/symmetric_rows.hpp.
std::optional<PatternRows> symmetric_rows_on_device(const CsrView<double>& pattern, std::uint64_t first_row,
                                                    std::uint64_t num_rows);

}  // namespace tessera::cuda
