// Every form of a product on every backend against plain sums: random shapes, edge cases, and the matrices of
// the reference data.
#include "engine/matrix_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "engine/io/matrix_reader.hpp"
#include "kernels/base/error.hpp"
#include "kernels/formats/format_registry.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

double x_of(std::uint64_t column) {
  return (column % 2 == 0 ? 1.0 : -1.0) * (1 + static_cast<double>(column % 7));
}

/// A refusal says how much too large the form would be, or what packet lacks: it cuts graphs only, with
/// METIS. What is the matter with the machine is no fault of the choice.
void expect_reason(const std::string& name, const Error& error, const CsrView<double>& a) {
  const std::string message = error.what();
  EXPECT_EQ(error.category(),
            message.find("METIS") == std::string::npos ? ErrorCategory::usage : ErrorCategory::resource);
  if (name != "packet" || message.find(" would store") != std::string::npos)
    EXPECT_THAT(message, HasSubstr(name + " would store"));
  else if (a.num_rows != a.num_cols)
    EXPECT_EQ(message.find("packet: the matrix is " + std::to_string(a.num_rows) + " x "), 0u) << message;
  else
    EXPECT_THAT(message, testing::AnyOf(HasSubstr("packet: this build has no METIS"),
                                        HasSubstr("packet: METIS cannot be loaded")));
}

/// y = A x by every form that takes the matrix, twice (what a first run leaves must not matter), within
/// roundings of S.
template <class S>
void expect_products(const CsrView<double>& a, Backend<S>& backend, const std::string& what) {
  std::vector<double> x(a.num_cols), expected(a.num_rows, 0), allowed(a.num_rows, 0);
  for (std::uint64_t c = 0; c < a.num_cols; ++c) x[c] = x_of(c);
  for (std::uint64_t row = 0; row < a.num_rows; ++row)
    for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const double product = (a.values == nullptr ? 1.0 : a.values[k]) * x[a.col_indices[k]];
      expected[row] += product;
      allowed[row] += std::abs(product) * std::numeric_limits<S>::epsilon() *
                      static_cast<double>(a.row_offsets[row + 1] - a.row_offsets[row] + 2);
    }
  int refused = 0;
  // A tool that looks into kernels is to look into ours only.
  const bool without_vendor = std::getenv("TESSERA_TEST_WITHOUT_VENDOR") != nullptr;
  for (const ProductForm& form : product_forms(!backend.memory_is_host())) {
    if (without_vendor && form.name.starts_with("cusparse")) continue;
    SCOPED_TRACE(what + ", " + form.name + " on " + backend.name());
    std::unique_ptr<MatrixProduct<S>> product;
    try {
      product = make_product<S>(form.name, a, backend);
    } catch (const Error& error) {
      if (std::string(error.what()).starts_with("cuSPARSE cannot be loaded")) continue;
      expect_reason(form.name, error, a);
      ++refused;
      continue;
    }
    EXPECT_GE(product->stats().num_stored, a.num_nonzeros());
    product->set_x(x);
    product->run();
    product->run();
    const std::vector<double> y = product->y();
    ASSERT_EQ(y.size(), expected.size());
    for (std::uint64_t row = 0; row < y.size(); ++row)
      ASSERT_NEAR(y[row], expected[row], allowed[row]) << row;
  }
  EXPECT_LE(refused, backend.memory_is_host() ? 5 : 6);  // cusparse-sell
}

void expect_products(const CsrView<double>& a, const std::string& what) {
  for (const std::string& name : tested_backends()) {
    expect_products(a, *make_backend<float>(name), what);
    expect_products(a, *make_backend<double>(name), what);
  }
}

TEST(MatrixProducts, OfRandomMatricesAreRight) {
  unsigned seed = 1;
  for (const auto& [rows, cols, mean] : {std::tuple(300u, 200u, 9.0), std::tuple(40u, 3000u, 90.0),
                                         std::tuple(5000u, 31u, 2.0), std::tuple(6000u, 6000u, 1.0)})
    for (const bool weighted : {false, true})
      expect_products(random_matrix(seed++, rows, cols, mean, weighted).view(),
                      std::to_string(rows) + " x " + std::to_string(cols));
}

RandomMatrix matrix_of(std::uint64_t num_cols, const std::vector<std::vector<VertexId>>& rows) {
  RandomMatrix a;
  a.num_rows = rows.size();
  a.num_cols = num_cols;
  a.row_offsets.push_back(0);
  for (const auto& row : rows) {
    a.col_indices.insert(a.col_indices.end(), row.begin(), row.end());
    a.row_offsets.push_back(a.col_indices.size());
  }
  return a;
}

TEST(MatrixProducts, OfTheSmallestMatricesAreRight) {
  expect_products(matrix_of(3, {{}, {}}).view(), "no elements");
  expect_products(matrix_of(1, {{0}}).view(), "one element");
  expect_products(matrix_of(4, {{3}, {}, {0, 1, 2, 3}, {}}).view(), "empty rows");
  expect_products(matrix_of(0, {{}, {}, {}}).view(), "no columns");
  expect_products(matrix_of(5, {}).view(), "no rows");
}

TEST(MatrixProducts, OneLongRowAmongManyEmptyOnesIsRight) {
  std::vector<std::vector<VertexId>> rows(3000);
  for (VertexId c = 0; c < 5000; ++c) rows[1234].push_back(c);
  rows[2999] = {4999};
  expect_products(matrix_of(5000, rows).view(), "one long row");
}

TEST(MatrixProducts, OfTheReferenceMatricesAreRight) {
  const std::filesystem::path folder = std::string(TESSERA_REFERENCE_DATA) + "/matrices";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no reference matrices here";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename() == "skew_fp64.mtx") continue;  // holds an infinity, which is not read
    expect_products(read_matrix(entry.path()).view(), entry.path().filename());
    ++count;
  }
  EXPECT_GT(count, 10);
}

TEST(MatrixProducts, APaddedFormatSaysHowMuchTooLargeItWouldBe) {
  std::vector<std::vector<VertexId>> rows(5000);
  for (VertexId c = 0; c < 100; ++c) rows[0].push_back(c);
  const RandomMatrix a = matrix_of(5000, rows);
  const auto backend = make_backend<float>("cpu");
  for (const std::string name : {"ell", "ellpack-r", "dia"}) {
    try {
      make_product<float>(name, a.view(), *backend);
      ADD_FAILURE() << name;
    } catch (const OptionError& error) {
      EXPECT_THAT(error.what(), HasSubstr(name + " would store 500000 elements for 100, 5000 times as many"));
    }
  }
}

TEST(MatrixProducts, AnUnknownNameIsRefused) {
  const auto backend = make_backend<float>("cpu");
  EXPECT_THROW(make_product<float>("elll", matrix_of(1, {{0}}).view(), *backend), OptionError);
}

TEST(MatrixProducts, NamesAreUnique) {
  std::vector<std::string> names;
  for (const ProductForm& form : product_forms(true)) names.push_back(form.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace tessera::test
