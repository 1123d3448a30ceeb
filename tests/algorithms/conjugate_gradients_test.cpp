// Against elimination, hand values, and what a solver must refuse; on every backend that answers.
#include "algorithms/conjugate_gradients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/base/error.hpp"
#include "tests/reference/oracle.hpp"
#include "tests/support/backends.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using Dense = std::vector<std::vector<double>>;

/// B B' + n I: symmetric and positive definite.
Dense random_system(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Dense b(n, std::vector<double>(n)), a(n, std::vector<double>(n, 0));
  for (auto& row : b)
    for (double& value : row) value = normal(random);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) a[i][j] += b[i][k] * b[j][k];
      if (i == j) a[i][j] += static_cast<double>(n) * static_cast<double>(1 + i % 9);
    }
  return a;
}

template <class S>
CgProduct<S> product_of(const Dense& a, Backend<S>& backend) {
  return [&](const Buffer<S>& p, Buffer<S>& q) {
    std::vector<S> in(a.size()), out(a.size());
    backend.download(p.data(), in.data(), p.size_bytes());
    for (std::size_t i = 0; i < a.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < a.size(); ++j) sum += a[i][j] * static_cast<double>(in[j]);
      out[i] = static_cast<S>(sum);
    }
    backend.upload(out.data(), q.data(), q.size_bytes());
  };
}

template <class S>
CgResult solve_dense(const Dense& a, const std::vector<double>& b, const CgOptions& options,
                     const std::string& backend_name) {
  const auto backend = make_backend<S>(backend_name);
  return conjugate_gradients<S>(product_of(a, *backend), b, options, *backend);
}

std::vector<double> inverse_diagonal(const Dense& a) {
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = 1 / a[i][i];
  return result;
}

double relative_residual(const Dense& a, const std::vector<double>& x, const std::vector<double>& b) {
  double squares = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    double row = b[i];
    for (std::size_t j = 0; j < b.size(); ++j) row -= a[i][j] * x[j];
    squares += row * row;
    norm += b[i] * b[i];
  }
  return std::sqrt(squares / norm);
}

TEST(ConjugateGradients, GivesTheSolutionThatEliminationGives) {
  for (const std::string& name : tested_backends())
    for (const std::size_t n : {1, 7, 60}) {
      const Dense a = random_system(n, static_cast<unsigned>(n));
      std::vector<double> b(n);
      for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<double>(i % 5) - 1.5;
      const std::vector<double> expected = solve(a, b), diagonal = inverse_diagonal(a);
      for (const bool jacobi : {false, true}) {
        CgOptions options;
        options.tolerance = 1e-12;
        if (jacobi) options.inverse_diagonal = diagonal;
        const CgResult result = solve_dense<double>(a, b, options, name);
        EXPECT_TRUE(result.converged);
        EXPECT_EQ(result.residual_history.size(), static_cast<std::size_t>(result.iterations));
        EXPECT_NEAR(result.relative_residual, relative_residual(a, result.x, b), 1e-14);
        EXPECT_LE(result.relative_residual, 2e-12);
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(result.x[i], expected[i], 1e-10) << name << " " << n;
      }
    }
}

TEST(ConjugateGradients, TwoStepsSolveTwoEquations) {
  // 4 x + y = 1, x + 3 y = 2: x = 1/11, y = 7/11
  const CgResult result = solve_dense<double>({{4, 1}, {1, 3}}, {1, 2}, {}, "cpu");
  EXPECT_EQ(result.iterations, 2);
  EXPECT_NEAR(result.x[0], 1.0 / 11, 1e-15);
  EXPECT_NEAR(result.x[1], 7.0 / 11, 1e-15);
}

TEST(ConjugateGradients, TheDiagonalAsPreconditionerSolvesADiagonalSystemInOneStep) {
  const Dense a = {{1e6, 0, 0}, {0, 1, 0}, {0, 0, 1e-3}};
  const std::vector<double> diagonal = inverse_diagonal(a);
  CgOptions options;
  options.inverse_diagonal = diagonal;
  const CgResult result = solve_dense<double>(a, {2e6, 3, 5e-3}, options, "cpu");
  EXPECT_EQ(result.iterations, 1);
  EXPECT_NEAR(result.x[0], 2, 1e-12);
  EXPECT_NEAR(result.x[1], 3, 1e-12);
  EXPECT_NEAR(result.x[2], 5, 1e-12);
}

TEST(ConjugateGradients, ARightSideOfZerosNeedsNoStep) {
  const CgResult result = solve_dense<double>({{2, 0}, {0, 2}}, {0, 0}, {}, "cpu");
  EXPECT_EQ(result.iterations, 0);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.x, (std::vector<double>{0, 0}));
  EXPECT_TRUE(solve_dense<double>({}, {}, {}, "cpu").converged);
}

TEST(ConjugateGradients, SaysWhenTheMatrixIsNotPositiveDefinite) {
  for (const Dense& a : {Dense{{1, 2}, {2, 1}}, Dense{{-1, 0}, {0, -2}}, Dense{{0, 0}, {0, 0}}}) {
    try {
      solve_dense<double>(a, {1, -0.5}, {}, "cpu");
      ADD_FAILURE();
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("not positive definite"));
    }
  }
}

TEST(ConjugateGradients, AToleranceOfZeroEndsWhereResidualsDo) {
  for (unsigned seed = 1; seed < 9; ++seed) {
    const Dense a = random_system(20, seed);
    const std::vector<double> diagonal = inverse_diagonal(a), b(20, 1);
    CgOptions options;
    options.tolerance = 0;
    if (seed % 2 == 0) options.inverse_diagonal = diagonal;
    const CgResult result = solve_dense<double>(a, b, options, "cpu");
    EXPECT_LT(result.relative_residual, 1e-14);
    EXPECT_LT(result.iterations, 1000);
  }
}

TEST(ConjugateGradients, TheSizeOfTheRightSideDoesNotMatter) {
  for (const double size : {1e-300, 1e-170, 1e-60, 1e200, 1e307}) {
    const CgResult result = solve_dense<double>({{4, 1}, {1, 3}}, {size, 2 * size}, {}, "cpu");
    EXPECT_TRUE(result.converged);
    EXPECT_NEAR(result.x[0] / size, 1.0 / 11, 1e-14) << size;
    EXPECT_NEAR(result.x[1] / size, 7.0 / 11, 1e-14) << size;
  }
}

TEST(ConjugateGradients, NumbersBeyondThePrecisionAreNotBlamedOnTheMatrixAlone) {
  const Dense a = {{1e300, 0}, {0, 2e300}};
  CgOptions options;
  const std::vector<double> diagonal = {1e-300, 5e-301};
  options.inverse_diagonal = diagonal;
  try {
    solve_dense<float>(a, {1, 1}, options, "cpu");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("leave the range of f32"));
  }
}

TEST(ConjugateGradients, ASolutionBeyondThePrecisionIsRefused) {
  const Dense a = {{1e-40, 0}, {0, 2e-40}};
  try {
    solve_dense<float>(a, {1, 1}, {}, "cpu");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("leave the range of f32"));
  }
  EXPECT_NEAR(solve_dense<double>(a, {1, 1}, {}, "cpu").x[1] * 2e-40, 1, 1e-12);
}

TEST(ConjugateGradients, StopsWhereItIsToldTo) {
  const Dense a = random_system(40, 3);
  const std::vector<double> b(40, 1);
  CgOptions options;
  options.tolerance = 0;
  options.max_iterations = 4;
  CgResult result = solve_dense<double>(a, b, options, "cpu");
  EXPECT_EQ(result.iterations, 4);
  EXPECT_FALSE(result.converged);
  int calls = 0;
  options.observer = [&](const CgProgress& progress) {
    EXPECT_EQ(progress.iteration, ++calls);
    return calls < 3;
  };
  result = solve_dense<double>(a, b, options, "cpu");
  EXPECT_EQ(result.iterations, 3);
  EXPECT_TRUE(result.interrupted);
}

TEST(ConjugateGradients, ATrueResidualAboveTheToleranceIsNotConverged) {
  // In f32 the recurrence's residual goes on falling where b - A x cannot.
  Dense a = random_system(50, 5);
  for (std::size_t i = 0; i < 50; ++i) a[i][i] -= 0.95 * 50;
  CgOptions options;
  options.tolerance = 1e-10;
  options.max_iterations = 2000;
  const CgResult result = solve_dense<float>(a, std::vector<double>(50, 1), options, "cpu");
  EXPECT_GT(result.relative_residual, 1e-10);
  EXPECT_FALSE(result.converged);
}

}  // namespace
}  // namespace tessera::test
