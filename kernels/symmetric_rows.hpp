// Both directions of a pattern's elements: sorting is what the host does slowest.
#pragma once
#include <optional>

#include "kernels/csr_view.hpp"
#include "kernels/pattern_rows.hpp"

namespace tessera {

/// Of the elements of a square pattern in both directions, each once, some rows, made by the device in use;
/// their offsets begin at 0. Values are not looked at. None where no device answers, or where that would take
/// more than half of what is free on it. Throws ResourceError.
std::optional<PatternRows> symmetrised_on_device(const CsrView<double>& pattern, std::uint64_t first_row,
                                                 std::uint64_t num_rows);

}  // namespace tessera
