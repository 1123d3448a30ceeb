#include "kernels/formats/tile_coo.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

template <class T>
std::vector<T> list_of(const Buffer<T>& buffer) {
  return {buffer.begin(), buffer.end()};
}

/// Columns 0 to 5 have 1, 3, 0, 2, 1 and 3 elements.
RandomMatrix six_columns() {
  RandomMatrix a;
  a.num_rows = 4;
  a.num_cols = 6;
  a.row_offsets = {0, 4, 4, 8, 10};
  a.col_indices = {0, 1, 3, 5, 1, 3, 4, 5, 1, 5};
  return a;
}

TEST(TileCoo, LongColumnsAreInTilesAndTheOthersBehindThem) {
  const RandomMatrix a = six_columns();

  const TileCoo<float> form(a.view(), {.num_columns = 2});

  EXPECT_EQ(list_of(form.slot_columns), (std::vector<VertexId>{1, 5, 3, 0, 4}));
  ASSERT_EQ(form.num_tiles(), 1u);  // columns 3 and 0 have 1.5 elements in the mean
  EXPECT_EQ(form.widest_tile, 2u);
  EXPECT_EQ(list_of(form.row_indices), (std::vector<VertexId>{0, 0, 2, 2, 3, 3}));
  EXPECT_EQ(list_of(form.offsets), (std::vector<std::uint16_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(list_of(form.rest.row_indices), (std::vector<VertexId>{0, 0, 2, 2}));
  EXPECT_EQ(list_of(form.rest.col_indices), (std::vector<VertexId>{3, 2, 2, 4}));
  EXPECT_EQ(form.num_stored(), 10u);
}

TEST(TileCoo, TilesEndAsTheLimitsSay) {
  const RandomMatrix a = six_columns();
  const auto tiles = [&](const CooTileLimits<double>& limits) {
    return TileCoo<double>(a.view(), limits).num_tiles();
  };

  EXPECT_EQ(tiles({.num_columns = 1}), 3u);
  EXPECT_EQ(tiles({.num_columns = 1, .least_mean_length = 3}), 2u);
  EXPECT_EQ(tiles({.num_columns = 1, .most_tiles = 1}), 1u);
  EXPECT_EQ(tiles({.num_columns = 5}), 1u);
  EXPECT_EQ(tiles({.num_columns = 5, .least_mean_length = 3}), 0u);
  EXPECT_EQ(tiles({.num_columns = 2, .least_mean_length = 1}), 3u);
  EXPECT_EQ(TileCoo<double>(a.view()).tiles[0].num_columns, 5u);  // all in one
}

TEST(TileCoo, IsAProductWithAnyLimits) {
  const RandomMatrix a = random_matrix(11, 700, 900, 30, true);
  std::vector<double> x(a.num_cols), slots(a.num_cols), y(a.num_rows);
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = 1 + static_cast<double>(c % 3);
  for (const std::uint32_t columns : {1, 7, 64, 65536})
    for (const std::uint32_t length : {1, 2, 30, 1000}) {
      const TileCoo<double> form(a.view(),
                                 {.num_columns = columns, .least_mean_length = length, .most_tiles = 1000});
      std::fill(y.begin(), y.end(), -5);
      order_input_on_host(form, x.data(), slots.data());
      multiply_on_host(form, slots.data(), y.data());
      EXPECT_EQ(form.num_stored(), a.col_indices.size());
      for (std::uint64_t row = 0; row < a.num_rows; ++row) {
        double expected = 0;
        for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
          expected += a.values[k] * x[a.col_indices[k]];
        EXPECT_NEAR(y[row], expected, 1e-11 * (1 + expected)) << row;
      }
    }
}

TEST(TileCoo, AProductTakesXAsItIsOrInOrder) {
  const RandomMatrix a = six_columns();
  const HostProduct<TileCoo<float>> product(a.view());
  const std::vector<float> x = {1, 2, 4, 8, 16, 32}, ones(6, 1), expected = {43, 0, 58, 34};
  std::vector<float> y(4, -1);

  product.multiply(x.data(), y.data());
  EXPECT_EQ(y, expected);
  product.multiply(ones.data(), y.data());
  EXPECT_EQ(y, (std::vector<float>{4, 0, 4, 2}));
  const float* ordered = product.ordered(x.data());
  product.multiply_ordered(ordered, y.data());
  EXPECT_EQ(y, expected);
  EXPECT_EQ((std::vector<float>{ordered, ordered + 5}), (std::vector<float>{2, 32, 8, 1, 16}));
}

}  // namespace
}  // namespace tessera::test
