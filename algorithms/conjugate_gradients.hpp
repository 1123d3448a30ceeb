// Conjugate gradients for A x = b with a symmetric positive definite A, plain or with the diagonal as
// preconditioner (Hestenes and Stiefel 1952).
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "kernels/backend.hpp"

namespace tessera {

struct CgProgress {
  int iteration = 0;
  double relative_residual = 0;  ///< |r| / |b|, r as the recurrence has it
};

struct CgOptions {
  double tolerance = 1e-8;  ///< on |r| / |b|, in the 2-norm
  int max_iterations = 10000;
  std::span<const double> inverse_diagonal;  ///< 1 / a_ii for the Jacobi preconditioner; empty: none
  /// Called after each step; returning false stops.
  std::function<bool(const CgProgress&)> observer;
};

struct CgResult {
  std::vector<double> x;
  int iterations = 0;
  bool converged = false;  ///< the recurrence's residual, and twice the tolerance holds for the true one
  bool interrupted = false;
  double relative_residual = 0;          ///< of b - A x, computed anew at the end
  std::vector<double> residual_history;  ///< |r| / |b| after each step
};

/// q = A p, both of size n where the backend has them.
template <class S>
using CgProduct = std::function<void(const Buffer<S>& p, Buffer<S>& q)>;

/// From x = 0; b is finite. Throws InputError when p' A p <= 0 or is not finite shows that A is not positive
/// definite, or that numbers leave the range of S.
template <class S>
CgResult conjugate_gradients(const CgProduct<S>& multiply, std::span<const double> b,
                             const CgOptions& options, Backend<S>& backend);

}  // namespace tessera
