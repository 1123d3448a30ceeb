// A pattern in both directions, made on a device: sorting is what the host does slowest.
#pragma once
#include <optional>

#include "kernels/csr_view.hpp"
#include "kernels/pattern_rows.hpp"

namespace tessera::cuda {

/// See kernels/symmetric_rows.hpp.
std::optional<PatternRows> symmetric_rows_on_device(const CsrView<double>& pattern);

}  // namespace tessera::cuda
