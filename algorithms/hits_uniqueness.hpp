// Is the dominant pair of HITS unique? Hubs that share an authority, directly or in a chain, form a
// component; inside one, A A^T is irreducible with a positive diagonal, so by Perron and Frobenius its
// largest eigenvalue is simple. Several dominant pairs exist exactly when several components tie, and the
// power iteration, started from a positive vector, keeps mass on each of them. So: spread from the largest
// hub until its component is full, and look at the hub mass that lies outside.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "algorithms/convergence.hpp"

namespace tessera {

/// hubs: converged, original order. `spread`: from marks (1 or 0 a vertex) to the vertices that share an
/// authority with a marked one (> 0). last_change: of the last step, in L1; rate: by which changes shrink a
/// step, 0 if that is not known. False when the mass outside the largest hub's component is more than what a
/// slower component leaves behind.
bool has_unique_pair(std::span<const double> hubs, double last_change, double rate, int max_steps,
                     const std::function<std::vector<double>(std::span<const double>)>& spread);

/// Shrinking of the change a step, from the last eight changes; 0 when they end in 0.
double convergence_rate(std::span<const double> residual_history, int steps_apart);

}  // namespace tessera
