// The tile-messages form against the matrix it was made of: every element once, sums as documented, and a
// product that is right.
#include "engine/tile_messages_builder.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/backend.hpp"
#include "kernels/base/error.hpp"
#include "kernels/slice_builder.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera {
namespace {

using test::random_matrix;
using test::RandomMatrix;

std::vector<VertexId> all_rows(const RandomMatrix& a) {
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.begin(), rows.end(), VertexId{0});
  return rows;
}
ColumnOrder narrow_order(const RandomMatrix& a, std::uint32_t tile_columns) {
  return order_columns_by_length(a.column_lengths(), tile_columns, ~std::uint32_t{0}, Remainder::narrow);
}

struct Shape {
  std::uint64_t rows, cols;
  double mean_length;
  bool weighted;
  std::uint32_t tile_columns, bin_messages;
};
const Shape kShapes[] = {{500, 700, 12, false, 64, 200},   {500, 700, 12, true, 63, 77},
                         {40, 9000, 4000, true, 8000, 90}, {1, 40, 5, false, 8, 100},
                         {40, 1, 1, true, 8, 2},           {3000, 3000, 2, false, 1000, 65535}};

class TileMessagesBuilder : public testing::TestWithParam<Shape> {};

TEST_P(TileMessagesBuilder, TheProductIsThatOfTheMatrix) {
  const Shape shape = GetParam();
  const RandomMatrix a = random_matrix(3, shape.rows, shape.cols, shape.mean_length, shape.weighted);
  const ColumnOrder columns = narrow_order(a, shape.tile_columns);
  const auto backend = make_backend<double>("cpu");
  for (const unsigned k : {1u, 3u}) {
    std::vector<double> by_column(a.num_cols * k);
    for (std::size_t i = 0; i < by_column.size(); ++i) by_column[i] = 1.0 / static_cast<double>(1 + i % 37);
    Buffer<double> x(columns.num_slots * k), y(a.num_rows * k);
    std::fill(x.begin(), x.end(), 0.0);
    for (std::uint64_t row = 0; row < a.num_rows; ++row)  // rows without elements are left alone
      std::fill_n(y.begin() + row * k, k, a.row_offsets[row] < a.row_offsets[row + 1] ? -7.0 : 0.0);
    for (std::uint64_t c = 0; c < a.num_cols; ++c)
      if (columns.slot_of_column[c] != kNoVertex)
        for (unsigned q = 0; q < k; ++q) x[columns.slot_of_column[c] * k + q] = by_column[c * k + q];
    const auto rows = all_rows(a);
    const auto matrix =
        backend->make_matrix(build_tile_messages<double>(
                                 a.view(), rows, columns,
                                 {.most_messages = shape.bin_messages, .at_once = 6, .least_messages = 20}),
                             nullptr);
    matrix->apply(x, y, k);
    const CsrView<double> csr = a.view();
    for (std::uint64_t row = 0; row < a.num_rows; ++row)
      for (unsigned q = 0; q < k; ++q) {
        double expected = 0;
        for (EdgeOffset e = csr.row_offsets[row]; e < csr.row_offsets[row + 1]; ++e)
          expected += (csr.values == nullptr ? 1.0 : csr.values[e]) * by_column[csr.col_indices[e] * k + q];
        EXPECT_NEAR(y[row * k + q], expected, 1e-13 * (1 + expected)) << row;
      }
  }
}

/// How often pass 2 reads each message; what lies between bins is neither written nor read.
std::vector<int> reads_of_messages(const TileMessages<float>& form, std::uint32_t most_of_bin) {
  std::vector<int> reads(form.num_messages, 0);
  for (std::uint64_t w = 0; w < form.bins.num_windows(); ++w) {
    const Window& bin = form.bins.windows[w];
    EXPECT_LE(bin.size, most_of_bin);
    for (std::uint64_t i = bin.first_slice; i < form.bins.windows[w + 1].first_slice; ++i) {
      const Slice& s = form.bins.slices[i];
      for (std::uint32_t r = 0; r < rows_of(s); ++r)
        for (std::uint32_t k = 0; k < elements_of(s); ++k) {
          const auto offset = offset_at(form.bins.words.data(), element_place(s, r, k));
          if (offset < bin.size) ++reads[bin.first_in + offset];
        }
    }
  }
  return reads;
}

TEST_P(TileMessagesBuilder, EveryElementIsInOneSliceAndSlicesDoNotOverlap) {
  const Shape shape = GetParam();
  const RandomMatrix a = random_matrix(4, shape.rows, shape.cols, shape.mean_length, shape.weighted);
  const auto rows = all_rows(a);
  const auto form =
      build_tile_messages<float>(a.view(), rows, narrow_order(a, shape.tile_columns),
                                 {.most_messages = shape.bin_messages, .at_once = 6, .least_messages = 20});
  std::uint64_t elements = 0, next_word = 0;
  std::vector<int> message_written(form.num_messages, 0);
  for (std::uint64_t w = 0; w < form.tiles.num_windows(); ++w)
    for (std::uint64_t i = form.tiles.windows[w].first_slice; i < form.tiles.windows[w + 1].first_slice;
         ++i) {
      const Slice& s = form.tiles.slices[i];
      EXPECT_EQ(s.first_word, next_word);
      next_word += aligned_words(s);
      for (std::uint32_t r = 0; r < rows_of(s); ++r)
        for (std::uint32_t k = 0; k < elements_of(s); ++k) {
          const ElementPlace place = element_place(s, r, k);
          EXPECT_LT(place.word, s.first_word + words_of(s));
          EXPECT_EQ(element_at(s, place).row, r);
          EXPECT_EQ(element_at(s, place).k, k);
          const auto offset = offset_at(form.tiles.words.data(), place);
          EXPECT_LE(offset, form.tiles.windows[w].size);
          elements += offset < form.tiles.windows[w].size;
        }
      for (std::uint32_t r = 0; r < rows_of(s); ++r) ++message_written[s.first_out + r];
    }
  EXPECT_EQ(elements, a.view().num_nonzeros());
  EXPECT_EQ(form.tiles.words.size(), next_word);
  const std::vector<int> message_read = reads_of_messages(form, shape.bin_messages);
  EXPECT_EQ(message_read, message_written);
  EXPECT_LE(*std::max_element(message_read.begin(), message_read.end()), 1);
}

INSTANTIATE_TEST_SUITE_P(Shapes, TileMessagesBuilder, testing::ValuesIn(kShapes));

/// A row's sum must not depend on the rows beside it.
template <class S>
void expect_rows_alone_have_their_bits(bool weighted) {
  const RandomMatrix a = random_matrix(5, 300, 4000, 150, weighted);
  const ColumnOrder columns = narrow_order(a, 500);
  const auto backend = make_backend<S>("cpu");
  Buffer<S> x(columns.num_slots);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = S{1} / static_cast<S>(3 + i % 101);
  Buffer<double> all(a.num_rows), one(1);
  backend
      ->make_matrix(build_tile_messages<S>(a.view(), all_rows(a), columns, {.most_messages = 1000}), nullptr)
      ->apply(x, all, 1);
  for (VertexId row = 0; row < a.num_rows; row += 7) {
    backend->make_matrix(build_tile_messages<S>(a.view(), std::vector{row}, columns, {}), nullptr)
        ->apply(x, one, 1);
    EXPECT_EQ(one[0], all[row]) << row;
  }
}
TEST(TileMessagesRows, ARowAloneHasTheBitsThatItHasAmongOthers) {
  for (const bool weighted : {false, true}) {
    expect_rows_alone_have_their_bits<float>(weighted);
    expect_rows_alone_have_their_bits<double>(weighted);
  }
}

/// The sum of a row whose word w adds up to pairs[w].
double sum_of_pairs(const std::vector<double>& pairs) {
  const std::uint64_t length = 2 * pairs.size();
  RandomMatrix a{
      .num_rows = 1, .num_cols = length, .row_offsets = {0, length}, .col_indices = {}, .values = {}};
  a.col_indices.resize(length);
  std::iota(a.col_indices.begin(), a.col_indices.end(), VertexId{0});
  const ColumnOrder columns = narrow_order(a, 1000);  // as they are: each has one element
  Buffer<double> x(columns.num_slots), y(1);
  std::fill(x.begin(), x.end(), 0.0);
  for (std::size_t w = 0; w < pairs.size(); ++w) x[2 * w] = pairs[w];
  make_backend<double>("cpu")
      ->make_matrix(build_tile_messages<double>(a.view(), all_rows(a), columns, {}), nullptr)
      ->apply(x, y, 1);
  return y[0];
}

/// 1 + e is 1, 1 + 2 e is not: the sums tell in which order words are added.
TEST(TileMessagesRows, FourWordsAreAddedAsATreeAndTreesInOrder) {
  const double e = 0x1p-53;
  EXPECT_EQ(sum_of_pairs({1, e, e}), 1.0);
  EXPECT_EQ(sum_of_pairs({1, e, e, e}), 1 + 2 * e);
  EXPECT_EQ(sum_of_pairs({1, 0, e, 0, e}), 1.0);
  EXPECT_EQ(sum_of_pairs({1, 0, 0, 0, e, e}), 1 + 2 * e);
  EXPECT_EQ(sum_of_pairs({1, 0, 0, 0, e, e, 2 * e}), 1 + 4 * e);
  EXPECT_EQ(sum_of_pairs({1, 0, 0, 0, e, 0, 0, 0, e}), 1.0);
  std::vector<double> joint(128, 0);  // a lane has the words 0, 32, 64 and 96
  joint[0] = 1;
  for (const std::size_t w : {32, 64, 96}) joint[w] = e;
  EXPECT_EQ(sum_of_pairs(joint), 1 + 2 * e);
}

TEST(TileMessagesRows, MoreMessagesThanABinHoldsAreRefused) {
  const RandomMatrix a = random_matrix(6, 3, 400, 300, false);
  const auto rows = all_rows(a);
  const ColumnOrder columns = narrow_order(a, 10);
  EXPECT_THROW(build_tile_messages<float>(a.view(), rows, columns, {.most_messages = 5}), ResourceError);
}

}  // namespace
}  // namespace tessera
