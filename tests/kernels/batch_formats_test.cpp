// Batches of matrices of any sizes against plain sums.
#include "kernels/formats/batch_formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "kernels/formats/batch_registry.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

struct Batch {
  std::vector<RandomMatrix> matrices;
  std::vector<CsrView<double>> views;
  std::vector<double> x, expected;
  explicit Batch(std::vector<RandomMatrix> all) : matrices(std::move(all)) {
    for (const RandomMatrix& a : matrices) {
      views.push_back(a.view());
      const std::size_t first = x.size();
      for (std::uint64_t c = 0; c < a.num_cols; ++c) x.push_back(1 + static_cast<double>((first + c) % 5));
      for (std::uint64_t row = 0; row < a.num_rows; ++row) {
        double sum = 0;
        for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
          sum += (a.values.empty() ? 1 : a.values[k]) * x[first + a.col_indices[k]];
        expected.push_back(sum);
      }
    }
  }
};

Batch mixed_batch() {
  std::vector<RandomMatrix> all;
  unsigned seed = 1;
  for (const auto& [rows, cols, mean] :
       {std::tuple(30u, 30u, 4.0), std::tuple(1u, 1u, 9.0), std::tuple(200u, 17u, 3.0),
        std::tuple(5u, 3000u, 300.0), std::tuple(1024u, 1024u, 6.0), std::tuple(40u, 40u, 0.0)})
    for (const bool weighted : {false, true})
      all.push_back(random_matrix(seed++, rows, cols, mean, weighted));
  RandomMatrix none;
  none.row_offsets = {0};
  all.push_back(none);
  return Batch(std::move(all));
}

TEST(BatchFormats, MultiplyEveryMatrixOfTheBatch) {
  const Batch batch = mixed_batch();
  for (const BatchEntry& entry : all_batch_forms()) {
    if (entry.needs_device) continue;
    SCOPED_TRACE(entry.name);
    std::unique_ptr<SparseProduct<double>> product;
    try {
      product = make_batch<double>(entry, batch.views, false);
    } catch (const OptionError& error) {
      EXPECT_STREQ(entry.name, "ell") << error.what();
      continue;
    }
    std::vector<double> y(batch.expected.size(), -7);
    for (int run = 0; run < 2; ++run) product->multiply(batch.x.data(), y.data());
    for (std::size_t row = 0; row < y.size(); ++row)
      ASSERT_NEAR(y[row], batch.expected[row], 1e-11 * (1 + batch.expected[row])) << row;
    std::uint64_t num_nonzeros = 0;
    for (const auto& view : batch.views) num_nonzeros += view.num_nonzeros();
    EXPECT_GE(product->stats().num_stored, num_nonzeros);
    EXPECT_GT(product->stats().bytes, 10 * num_nonzeros);  // 16-bit columns and values at least
  }
}

TEST(BatchFormats, OfTheVendorSayThatTheyNeedADevice) {
  const Batch batch({random_matrix(1, 30, 30, 4, true)});
  for (const BatchEntry& entry : all_batch_forms()) {
    if (!entry.needs_device) continue;
    try {
      make_batch<float>(entry, batch.views, false);
      ADD_FAILURE() << entry.name;
    } catch (const ResourceError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("on a GPU only; use --backend cuda")) << entry.name;
    }
  }
}

TEST(BatchFormats, EllPadsEachMatrixToItsOwnLongestRow) {
  RandomMatrix wide = random_matrix(1, 4, 50, 0, true), narrow = wide;
  wide.row_offsets = {0, 3, 3, 4, 6};
  wide.col_indices = {0, 1, 2, 5, 7, 9};
  wide.values = {1, 2, 3, 4, 5, 6};
  narrow.row_offsets = {0, 1, 2, 2, 3};
  narrow.col_indices = {3, 4, 5};
  narrow.values = {7, 8, 9};
  const Batch batch({wide, narrow});
  const BatchEll<double> ell(batch.views);
  EXPECT_EQ(ell.items[0].width, 3u);
  EXPECT_EQ(ell.items[1].width, 1u);
  EXPECT_EQ(ell.num_stored(), 4u * 3 + 4);
}

TEST(BatchFormats, ThreadsARowFollowEachMatrix) {
  const Batch batch({random_matrix(1, 50, 2000, 1.0, true), random_matrix(2, 20, 2000, 300, true)});
  const BatchCsrAdaptive<float> csr(batch.views);
  ASSERT_EQ(csr.items.size(), 2u);
  for (const BatchItem& item : csr.items.span()) {
    const std::uint64_t mean = item.num_elements / item.num_rows;
    EXPECT_TRUE(item.width == 32 || 2 * item.width > mean);
    EXPECT_TRUE(item.width == 1 || item.width <= mean);
  }
  EXPECT_EQ(csr.items[0].num_rows, 20u);  // the larger one comes first
  EXPECT_EQ(csr.items[0].width, 32u);
  EXPECT_EQ(csr.items[0].first_row, 50u);
}

TEST(BatchFormats, AMatrixThatIsTooLargeIsNamed) {
  RandomMatrix large;
  large.num_rows = 1;
  large.num_cols = 70000;
  large.row_offsets = {0, 0};
  const Batch batch({random_matrix(1, 3, 3, 1, true), large});
  try {
    BatchCoo<float>{batch.views};
    ADD_FAILURE();
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("matrix 2 of the batch is 1 x 70000"));
  }
}

}  // namespace
}  // namespace tessera::test
