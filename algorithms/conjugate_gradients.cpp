#include "algorithms/conjugate_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/error.hpp"

namespace tessera {
namespace {

template <class S>
Buffer<S> on_backend(std::span<const double> values, Backend<S>& backend) {
  std::vector<S> host(values.size());
  std::transform(values.begin(), values.end(), host.begin(), [](double v) { return static_cast<S>(v); });
  Buffer<S> buffer = backend.template allocate<S>(host.size());
  backend.upload(host.data(), buffer.data(), buffer.size_bytes());
  return buffer;
}

template <class S>
class Solver {
 public:
  Solver(const CgProduct<S>& multiply, std::span<const double> b, const CgOptions& options,
         Backend<S>& backend)
      : multiply_(multiply),
        options_(options),
        backend_(backend),
        inverse_diagonal_(on_backend(options.inverse_diagonal, backend)),
        r_(on_backend(b, backend)),
        x_(backend.template allocate<S>(b.size())),
        z_(backend.template allocate<S>(inverse_diagonal_.empty() ? 0 : b.size())),
        p_(backend.template allocate<S>(b.size())),
        q_(backend.template allocate<S>(b.size())) {
    backend_.clear(x_);
    backend_.clear(p_);
  }

  CgResult run(std::span<const double> b) {
    const double b_norm = std::sqrt(backend_.dot(r_, r_));
    if (b_norm > 0) iterate(b_norm);
    result_.x = on_host(x_);
    for (const double value : result_.x) check(std::isfinite(value), "a number of the solution", value, true);
    result_.relative_residual = b_norm > 0 ? true_residual(b) / b_norm : 0;
    // Rounding may have led the recurrence away from b - A x.
    result_.converged =
        b_norm == 0 || (result_.converged && result_.relative_residual <= 2 * options_.tolerance);
    return std::move(result_);
  }

 private:
  /// Below it products of residuals would soon leave the range of numbers.
  static constexpr double kSmallestResidual = 1e-30;

  void iterate(double b_norm) {
    double rho_before = 0;
    while (result_.iterations < options_.max_iterations) {
      const double rho = backend_.dot(r_, preconditioned());
      check(rho > 0 && std::isfinite(rho), "r' M r", rho);  // r is not 0 here
      backend_.scale_and_add(z(), rho_before == 0 ? 0 : rho / rho_before, p_);
      rho_before = rho;
      multiply_(p_, q_);
      const double curvature = backend_.dot(p_, q_);
      check(curvature > 0 && std::isfinite(curvature), "p' A p", curvature);
      const double step = rho / curvature;
      check(step <= std::numeric_limits<S>::max(), "a step", step, true);
      backend_.add_scaled(step, p_, x_);
      backend_.add_scaled(-step, q_, r_);
      const double residual = std::sqrt(backend_.dot(r_, r_)) / b_norm;
      ++result_.iterations;
      result_.residual_history.push_back(residual);
      result_.interrupted = options_.observer && !options_.observer({result_.iterations, residual});
      result_.converged = residual <= options_.tolerance;
      if (result_.converged || result_.interrupted || residual < kSmallestResidual) break;
    }
  }

  const Buffer<S>& z() const { return inverse_diagonal_.empty() ? r_ : z_; }
  const Buffer<S>& preconditioned() {
    if (!inverse_diagonal_.empty()) backend_.multiply_elements(inverse_diagonal_, r_, z_);
    return z();
  }

  void check(bool is_fine, const char* what, double value, bool is_range = false) const {
    if (is_fine) return;
    const char* precision = sizeof(S) == 4 ? "f32" : "f64";
    const std::string reason =
        is_range ? fmt::format("numbers leave the range of {}: scale the matrix", precision)
        : value < 0 && std::isfinite(value)
            ? "the matrix is not positive definite"
            : fmt::format(
                  "the matrix is not positive definite, or its numbers leave the range of {}: scale it",
                  precision);
    throw InputError(fmt::format("step {}: {} is {}, expected a number {}: {}{}", result_.iterations + 1,
                                 what, value, is_range ? "in range" : "above 0", reason,
                                 sizeof(S) == 4 ? " (or try --precision f64)" : ""));
  }

  std::vector<double> on_host(const Buffer<S>& buffer) {
    std::vector<S> host(buffer.size());
    backend_.download(buffer.data(), host.data(), buffer.size_bytes());
    return {host.begin(), host.end()};
  }

  double true_residual(std::span<const double> b) {
    multiply_(x_, q_);
    const std::vector<double> product = on_host(q_);
    double squares = 0;
    for (std::size_t i = 0; i < b.size(); ++i) squares += (b[i] - product[i]) * (b[i] - product[i]);
    return std::sqrt(squares);
  }

  const CgProduct<S>& multiply_;
  const CgOptions& options_;
  Backend<S>& backend_;
  Buffer<S> inverse_diagonal_, r_, x_, z_, p_, q_;
  CgResult result_;
};

}  // namespace

template <class S>
CgResult conjugate_gradients(const CgProduct<S>& multiply, std::span<const double> b,
                             const CgOptions& options, Backend<S>& backend) {
  require(options.inverse_diagonal.empty() || options.inverse_diagonal.size() == b.size(),
          "the diagonal has as many entries as the right side");
  // With a largest entry of 1 no square leaves the range of numbers.
  double largest = 0;
  for (const double value : b) {
    require(std::isfinite(value), "the right side has numbers");
    largest = std::max(largest, std::abs(value));
  }
  if (largest == 0) return Solver<S>(multiply, b, options, backend).run(b);
  std::vector<double> scaled(b.begin(), b.end());
  for (double& value : scaled) value /= largest;
  CgResult result = Solver<S>(multiply, scaled, options, backend).run(scaled);
  for (double& value : result.x) value *= largest;
  return result;
}

template CgResult conjugate_gradients(const CgProduct<float>&, std::span<const double>, const CgOptions&,
                                      Backend<float>&);
template CgResult conjugate_gradients(const CgProduct<double>&, std::span<const double>, const CgOptions&,
                                      Backend<double>&);

}  // namespace tessera
