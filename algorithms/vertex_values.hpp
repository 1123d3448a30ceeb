// Numbers of vertices: checks and scales what a caller gives as one each (personalization, starts,
// out-weights), and puts right what he gets.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/spmv_operator.hpp"

namespace tessera {

/// The sum in the order of `values`, with what each addition loses added in the end (Neumaier): right to two
/// roundings, however many values of one sign there are.
double accurate_sum(std::span<const double> values);

/// `values` divided by their sum; empty gives 1/n each. Throws OptionError naming `what` when the size is
/// not n, a value is negative or not finite, or all are 0. Sums in the order of vertices: the same on all
/// ranks.
std::vector<double> normalized(std::span<const double> values, std::uint64_t num_vertices, const char* what);

/// (1 - share) of `values`, divided by their sum, and `share` spread over all vertices. Throws as
/// normalized().
std::vector<double> with_even_part(std::span<const double> values, double share, const char* what);

/// Accelerated steps leave scores near 0 a little below: 0 is nearer to what they come to. Gives what that
/// adds to their sum, in the order of vertices.
double raise_negatives(std::span<double> scores);

/// 1 / weight in precision S, 0 for weight 0. Throws InputError when a reciprocal does not fit S, or is so
/// small that its product with a score above the precision's epsilon might lose bits.
template <class S>
Buffer<S> reciprocals(std::span<const double> out_weights, std::uint64_t num_vertices);

/// Those of this rank's rows, in local order as backend memory.
template <class S>
Buffer<S> local_reciprocals(const SpmvOperator<S>& op, std::span<const double> out_weights) {
  const Buffer<S> original = reciprocals<S>(out_weights, op.num_rows());
  return op.to_local(original.span());
}

}  // namespace tessera
