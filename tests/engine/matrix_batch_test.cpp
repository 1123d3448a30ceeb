#include "engine/matrix_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "engine/matrix_product.hpp"
#include "kernels/base/error.hpp"
#include "kernels/formats/batch_registry.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

TEST(SmallSuite, HasValidSmallMatricesOfEveryKind) {
  std::set<std::string> names;
  bool has_empty_row = false, has_long_row = false, has_full = false;
  for (const NamedMatrix& named : small_suite()) {
    const SparseMatrix& a = named.matrix;
    EXPECT_TRUE(names.insert(named.name).second) << named.name;
    EXPECT_GE(a.num_rows, 32u);
    EXPECT_LE(a.num_rows, 1024u);
    EXPECT_EQ(a.num_rows, a.num_cols);
    EXPECT_EQ(a.row_offsets[a.num_rows], a.num_nonzeros());
    for (std::uint64_t row = 0; row < a.num_rows; ++row) {
      const auto begin = a.col_indices.begin() + a.row_offsets[row],
                 end = a.col_indices.begin() + a.row_offsets[row + 1];
      EXPECT_TRUE(std::is_sorted(begin, end, std::less_equal<>()) || begin == end)
          << named.name << " " << row;
      EXPECT_TRUE(begin == end || *(end - 1) < a.num_cols);
      has_empty_row |= begin == end;
      has_long_row |= end - begin > 200;
    }
    has_full |= a.num_nonzeros() == a.num_rows * a.num_cols;
  }
  EXPECT_GE(names.size(), 10u);
  EXPECT_TRUE(has_empty_row && has_long_row && has_full);
}

TEST(SmallSuite, IsTheSameEveryTime) {
  const auto first = small_suite(), second = small_suite();
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_TRUE(std::equal(first[i].matrix.col_indices.begin(), first[i].matrix.col_indices.end(),
                           second[i].matrix.col_indices.begin(), second[i].matrix.col_indices.end()));
}

TEST(BlockDiagonal, HasTheMatricesAfterEachOther) {
  std::vector<SparseMatrix> matrices;
  for (NamedMatrix& named : small_suite()) matrices.push_back(std::move(named.matrix));
  matrices.erase(matrices.begin() + 2, matrices.end());
  const auto views = repeated_views(matrices, 2);
  ASSERT_EQ(views.size(), 4u);
  const SparseMatrix all = block_diagonal(views);
  EXPECT_EQ(all.num_rows, 2 * (views[0].num_rows + views[1].num_rows));
  EXPECT_EQ(all.num_nonzeros(), 2 * (views[0].num_nonzeros() + views[1].num_nonzeros()));
  const std::uint64_t row = views[0].num_rows + 5;  // row 5 of the second
  ASSERT_EQ(all.row_offsets[row + 1] - all.row_offsets[row],
            views[1].row_offsets[6] - views[1].row_offsets[5]);
  for (EdgeOffset k = all.row_offsets[row], j = views[1].row_offsets[5]; k < all.row_offsets[row + 1];
       ++k, ++j) {
    EXPECT_EQ(all.col_indices[k], views[1].col_indices[j] + views[0].num_cols);
    EXPECT_EQ(all.values[k], views[1].values[j]);
  }
}

/// The form, or null: the vendor's library is not there, is not to be looked into, or takes one shape alone.
template <class S>
std::unique_ptr<SparseProduct<S>> batch_of(const BatchEntry& entry, const std::vector<CsrView<double>>& views,
                                           bool on_device, bool alike) {
  if (entry.needs_device && (!on_device || std::getenv("TESSERA_TEST_WITHOUT_VENDOR") != nullptr))
    return nullptr;
  try {
    auto made = make_batch<S>(entry, views, on_device);
    EXPECT_TRUE(alike || std::string(entry.name) != "cusparse-spmm") << "took matrices of several shapes";
    return made;
  } catch (const ResourceError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(entry.needs_device) << entry.name << ": " << message;
    if (!message.starts_with("cuSPARSE cannot be loaded")) {
      EXPECT_STREQ(entry.name, "cusparse-spmm") << message;
      EXPECT_FALSE(alike) << message;
      EXPECT_TRUE(message.starts_with("cusparse-spmm: takes matrices of one shape with rows")) << message;
    }
    return nullptr;
  }
}

/// On every backend: the kernels of devices have no other test.
template <class S>
void expect_products(const std::vector<CsrView<double>>& views, const std::string& backend_name,
                     bool alike = false) {
  const SparseMatrix all = block_diagonal(views);
  std::vector<double> x(all.num_cols), expected(all.num_rows, 0);
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = 1 + static_cast<double>(c * 37 % 101) / 101;
  for (std::uint64_t row = 0; row < all.num_rows; ++row)
    for (EdgeOffset k = all.row_offsets[row]; k < all.row_offsets[row + 1]; ++k)
      expected[row] += all.values[k] * x[all.col_indices[k]];
  const auto backend = make_backend<S>(backend_name);
  for (const BatchEntry& entry : all_batch_forms()) {
    auto form = batch_of<S>(entry, views, !backend->memory_is_host(), alike);
    if (form == nullptr) continue;
    const auto product = with_vectors<S>(std::move(form), all.num_rows, all.num_cols, *backend);
    product->set_x(x);
    for (int run = 0; run < 2; ++run) product->run();
    const std::vector<double> y = product->y();
    for (std::size_t row = 0; row < y.size(); ++row)
      ASSERT_NEAR(y[row], expected[row], (sizeof(S) == 4 ? 1e-4 : 1e-11) * (1 + expected[row]))
          << entry.name << " on " << backend_name << " " << row;
  }
}

TEST(Batches, OfTheSuiteAreProductsWithTheBlockDiagonal) {
  std::vector<SparseMatrix> matrices;
  for (NamedMatrix& named : small_suite()) matrices.push_back(std::move(named.matrix));
  for (const std::string& name : tested_backends()) {
    expect_products<float>(repeated_views(matrices, 3), name);
    expect_products<double>(repeated_views(matrices, 3), name);
  }
}

TEST(Batches, OfOddShapesAreProductsWithTheBlockDiagonal) {
  RandomMatrix empty, no_elements;
  empty.row_offsets = {0};
  no_elements.num_rows = 3;
  no_elements.num_cols = 2;
  no_elements.row_offsets = {0, 0, 0, 0};
  // The widest do not fit into shared memory.
  const RandomMatrix wide = random_matrix(1, 50, 20000, 20, true), tall = random_matrix(2, 200, 17, 5, true),
                     pattern = random_matrix(3, 300, 50000, 9, false),
                     long_rows = random_matrix(4, 70, 6000, 300, true);  // several stages of csr-scalar
  const std::vector<CsrView<double>> views = {tall.view(),        empty.view(),   wide.view(),
                                              no_elements.view(), pattern.view(), long_rows.view(),
                                              tall.view()};
  for (const std::string& name : tested_backends()) {
    expect_products<float>(views, name);
    expect_products<double>(views, name);
  }
}

TEST(Batches, OfOneShapeAreProductsWithTheBlockDiagonal) {
  // Rows as long, at other places and with other values; and turned round: rows of other lengths.
  const RandomMatrix one = random_matrix(1, 80, 90, 7, true);
  RandomMatrix turned = one;
  std::reverse(turned.col_indices.begin(), turned.col_indices.end());
  for (VertexId& column : turned.col_indices) column = 89 - column;
  for (double& value : turned.values) value += 1;
  RandomMatrix other = turned;
  for (std::uint64_t row = 0; row < 80; ++row) {
    const EdgeOffset begin = one.row_offsets[row];
    for (EdgeOffset k = begin; k < one.row_offsets[row + 1]; ++k)
      other.col_indices[k] = 89 - one.col_indices[begin + one.row_offsets[row + 1] - 1 - k];
    turned.row_offsets[row] = one.row_offsets[80] - one.row_offsets[80 - row];
  }
  ASSERT_NE(one.row_offsets, turned.row_offsets);
  ASSERT_NE(one.col_indices, other.col_indices);
  RandomMatrix no_elements, empty;
  no_elements.num_rows = 3;
  no_elements.num_cols = 2;
  no_elements.row_offsets = {0, 0, 0, 0};
  empty.row_offsets = {0};
  for (const std::string& name : tested_backends()) {
    expect_products<float>({one.view(), other.view(), one.view()}, name, true);
    expect_products<double>({one.view(), other.view(), one.view()}, name, true);
    expect_products<double>({one.view(), turned.view(), one.view()}, name);
    expect_products<float>({no_elements.view(), no_elements.view()}, name, true);
    expect_products<float>({empty.view(), empty.view()}, name, true);
  }
}

TEST(BlockDiagonal, RefusesWhatCannotBeNumbered) {
  CsrView<double> wide;
  const EdgeOffset offsets[] = {0, 0};
  wide.num_rows = 1;
  wide.num_cols = std::uint64_t{1} << 31;
  wide.row_offsets = offsets;
  EXPECT_THROW(block_diagonal({wide, wide, wide}), ResourceError);
}

}  // namespace
}  // namespace tessera::test
