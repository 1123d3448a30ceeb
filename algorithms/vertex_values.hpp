// Checking and scaling what a caller gives as one number a vertex: personalization, starts, out-weights.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tessera {

/// `values` divided by their sum; empty gives 1/n each. Throws OptionError naming `what` when the size is
/// not n, a value is negative or not finite, or all are 0. Sums in the order of vertices: the same on all
/// ranks.
std::vector<double> normalized(std::span<const double> values, std::uint64_t num_vertices, const char* what);

/// 1 / weight in precision S, 0 for weight 0. Throws InputError when a reciprocal does not fit S.
template <class S>
std::vector<double> reciprocals(std::span<const double> out_weights, std::uint64_t num_vertices);

}  // namespace tessera
