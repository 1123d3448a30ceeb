#include "engine/matrix_symmetry.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

RandomMatrix matrix_of(const std::vector<std::vector<double>>& dense, bool pattern = false) {
  RandomMatrix a;
  a.num_rows = a.num_cols = dense.size();
  a.row_offsets.push_back(0);
  for (const auto& row : dense) {
    for (VertexId c = 0; c < row.size(); ++c)
      if (row[c] != 0) {
        a.col_indices.push_back(c);
        if (!pattern) a.values.push_back(row[c]);
      }
    a.row_offsets.push_back(a.col_indices.size());
  }
  return a;
}

TEST(FindAsymmetry, NamesTheFirstPairThatDiffers) {
  EXPECT_FALSE(find_asymmetry(matrix_of({{1, 2, 0}, {2, 0, -3}, {0, -3, 5}}).view()));
  const auto value = find_asymmetry(matrix_of({{1, 2, 0}, {2, 0, -3}, {0, 3, 5}}).view());
  ASSERT_TRUE(value);
  EXPECT_EQ((std::vector<double>{double(value->row), double(value->column), value->value, value->mirrored}),
            (std::vector<double>{1, 2, -3, 3}));
  const auto missing = find_asymmetry(matrix_of({{1, 0}, {4, 1}}).view());
  ASSERT_TRUE(missing);
  EXPECT_EQ(
      (std::vector<double>{double(missing->row), double(missing->column), missing->value, missing->mirrored}),
      (std::vector<double>{1, 0, 4, 0}));
}

TEST(FindAsymmetry, LooksAtThePatternWhereThereAreNoValues) {
  EXPECT_FALSE(find_asymmetry(matrix_of({{0, 1}, {1, 1}}, true).view()));
  EXPECT_TRUE(find_asymmetry(matrix_of({{0, 1}, {0, 1}}, true).view()));
}

TEST(FindAsymmetry, LetsRoundingPass) {
  EXPECT_FALSE(find_asymmetry(matrix_of({{1, 0.1 + 0.2}, {0.3, 1}}).view()));
  EXPECT_TRUE(find_asymmetry(matrix_of({{1, 0.3}, {0.3000001, 1}}).view()));
}

TEST(DiagonalOf, HasZerosWhereThereIsNoEntry) {
  EXPECT_EQ(diagonal_of(matrix_of({{4, 1, 0}, {1, 0, 2}, {0, 2, -7}}).view()),
            (std::vector<double>{4, 0, -7}));
}

}  // namespace
}  // namespace tessera::test
