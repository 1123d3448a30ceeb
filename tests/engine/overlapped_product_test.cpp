#include "engine/overlapped_product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

class OverlappedProducts : public testing::Test {
 protected:
  OverlappedProducts() : x_(a_.num_cols), y_(a_.num_rows) {
    for (std::size_t c = 0; c < x_.size(); ++c) x_[c] = 1 + static_cast<double>(c % 4);
  }
  void expect_right_product(OverlappedProduct<double>& product) {
    std::fill(y_.begin(), y_.end(), -1.0);
    product.multiply(x_, y_);
    for (std::uint64_t row = 0; row < a_.num_rows; ++row) {
      double expected = 0;
      for (EdgeOffset k = a_.row_offsets[row]; k < a_.row_offsets[row + 1]; ++k)
        expected += a_.values[k] * x_[a_.col_indices[k]];
      ASSERT_NEAR(y_[row], expected, 1e-12 * (1 + expected)) << row;
    }
  }
  const RandomMatrix a_ = random_matrix(2, 500, 400, 10, true);
  const std::unique_ptr<Backend<double>> backend_ = make_backend<double>("cpu");
  Buffer<double> x_, y_;
};

TEST_F(OverlappedProducts, GoOnInTheBetterFormatOnceItIsThere) {
  OverlappedProduct<double> product(a_.view(), "csr-scalar", "csr-ell", *backend_);
  EXPECT_EQ(product.switched_after(), -1);
  expect_right_product(product);
  product.finish_preparing();
  EXPECT_GT(product.prepare_seconds(), 0);
  EXPECT_EQ(product.refusal(), "");
  expect_right_product(product);
  EXPECT_GE(product.switched_after(), 0);
  EXPECT_LE(product.switched_after(), 1);
  const std::int64_t switched = product.switched_after();
  expect_right_product(product);
  EXPECT_EQ(product.switched_after(), switched);
}

TEST_F(OverlappedProducts, PreparedBeforeTheFirstTheyAreAllInTheBetterFormat) {
  OverlappedProduct<double> product(a_.view(), "coo", "sell", *backend_);
  product.finish_preparing();
  expect_right_product(product);
  EXPECT_EQ(product.switched_after(), 0);
}

TEST_F(OverlappedProducts, StayWhereThereIsNothingBetter) {
  for (const char* better : {"", "csr-scalar"}) {
    OverlappedProduct<double> product(a_.view(), "csr-scalar", better, *backend_);
    product.finish_preparing();
    expect_right_product(product);
    EXPECT_EQ(product.switched_after(), -1);
  }
}

TEST_F(OverlappedProducts, ARefusedFormatIsToldAndTheFirstStays) {
  OverlappedProduct<double> product(a_.view(), "csr-scalar", "dia", *backend_);
  product.finish_preparing();
  expect_right_product(product);
  EXPECT_THAT(product.refusal(), testing::HasSubstr("dia would store"));
  EXPECT_EQ(product.switched_after(), -1);
}

TEST_F(OverlappedProducts, UnknownNamesAreRefusedAtOnce) {
  EXPECT_THROW(OverlappedProduct<double>(a_.view(), "csr", "csr-ell", *backend_), OptionError);
  EXPECT_THROW(OverlappedProduct<double>(a_.view(), "coo", "csr-el", *backend_), OptionError);
}

TEST_F(OverlappedProducts, MayEndWhileTheyPrepare) {
  for (int i = 0; i < 20; ++i) {
    OverlappedProduct<double> product(a_.view(), "coo", "csr-ell", *backend_);
    expect_right_product(product);
  }
}

}  // namespace
}  // namespace tessera::test
