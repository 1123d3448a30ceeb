#include "engine/format_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/io/matrix_reader.hpp"
#include "engine/matrix_product.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

TEST(RowLengthStats, AreThoseOfTheRows) {
  const std::vector<EdgeOffset> offsets{0, 2, 2, 8};
  const RowLengthStats stats = row_length_stats({3, 9, offsets.data(), nullptr, nullptr});
  EXPECT_EQ(stats.num_rows, 3u);
  EXPECT_EQ(stats.num_cols, 9u);
  EXPECT_EQ(stats.num_nonzeros, 8u);
  EXPECT_EQ(stats.longest, 6u);
  EXPECT_DOUBLE_EQ(stats.mean, 8.0 / 3);
  EXPECT_DOUBLE_EQ(stats.deviation * stats.deviation, (4.0 + 64 + 100) / 9 / 3);
  EXPECT_EQ(stats.num_filled, 2u);
  EXPECT_DOUBLE_EQ(stats.usual_deviation, stats.deviation / stats.mean);
  EXPECT_EQ(row_length_stats({}).longest, 0u);
}

TEST(RowLengthStats, UsualDeviationLeavesOutVeryLongRows) {
  // 300 rows of 1 and 3, and one of 1,000: more than 100 times the mean of 1,600 / 301.
  std::vector<EdgeOffset> offsets{0};
  for (int row = 0; row < 300; ++row) offsets.push_back(offsets.back() + (row % 2 == 0 ? 1 : 3));
  offsets.push_back(offsets.back() + 1000);
  const RowLengthStats stats = row_length_stats({301, 5000, offsets.data(), nullptr, nullptr});
  EXPECT_DOUBLE_EQ(stats.usual_deviation, 0.5);
  EXPECT_GT(stats.deviation, 50);
}

/// Rows of as many elements as there are `diagonals`, each in its place beside the diagonal, cut at the
/// edges.
SparseMatrix matrix_of_diagonals(std::uint64_t size, const std::vector<std::int64_t>& diagonals) {
  std::vector<EdgeOffset> offsets{0};
  std::vector<VertexId> columns;
  for (std::uint64_t row = 0; row < size; ++row) {
    for (const std::int64_t diagonal : diagonals) {
      const std::int64_t column = static_cast<std::int64_t>(row) + diagonal;
      if (column >= 0 && column < static_cast<std::int64_t>(size))
        columns.push_back(static_cast<VertexId>(column));
    }
    offsets.push_back(columns.size());
  }
  SparseMatrix matrix;
  matrix.num_rows = matrix.num_cols = size;
  matrix.row_offsets = Buffer<EdgeOffset>(offsets.size());
  std::copy(offsets.begin(), offsets.end(), matrix.row_offsets.begin());
  matrix.col_indices = Buffer<VertexId>(columns.size());
  std::copy(columns.begin(), columns.end(), matrix.col_indices.begin());
  matrix.pattern = true;
  return matrix;
}

TEST(MatrixFacts, CountDiagonalsUpToALimit) {
  EXPECT_EQ(matrix_facts(matrix_of_diagonals(200, {-14, -1, 0, 1, 14}).product_view()).num_diagonals, 5u);
  EXPECT_EQ(matrix_facts(matrix_of_diagonals(200, {-199, 7}).product_view()).num_diagonals, 2u);
  std::vector<std::int64_t> many;
  for (int i = 0; i < 64; ++i) many.push_back(i);
  EXPECT_EQ(matrix_facts(matrix_of_diagonals(200, many).product_view()).num_diagonals, 64u);
  many.push_back(64);
  EXPECT_EQ(matrix_facts(matrix_of_diagonals(200, many).product_view()).num_diagonals, 0u);
  EXPECT_EQ(matrix_facts({}).num_diagonals, 0u);
}

TEST(MatrixFacts, ScatterIsPlacesOfXAnElement) {
  // 32 rows of one block of 8 columns: 32 elements read one place.
  std::vector<EdgeOffset> offsets{0};
  std::vector<VertexId> same, far;
  for (VertexId row = 0; row < 32; ++row) {
    same.push_back(16 + row % 8);
    far.push_back(100 * row);
    offsets.push_back(row + 1);
  }
  const std::vector<double> values(32, 2.0);
  EXPECT_DOUBLE_EQ(matrix_facts({32, 4000, offsets.data(), same.data(), nullptr}).scatter, 1.0 / 32);
  EXPECT_DOUBLE_EQ(matrix_facts({32, 4000, offsets.data(), far.data(), nullptr}).scatter, 1);
  EXPECT_FALSE(matrix_facts({32, 4000, offsets.data(), far.data(), nullptr}).has_values);
  EXPECT_TRUE(matrix_facts({32, 4000, offsets.data(), far.data(), values.data()}).has_values);
}

// What an H200 measured as fastest or within 5 % of it (docs/formats.md).
TEST(ChooseForm, TakesWhatWasFastestOnAGpu) {
  const struct {
    const char* matrix;
    MatrixFacts facts;
    const char *in_f32, *in_f64;
  } cases[] = {
      {"Flickr",
       {{1715255, 1715255, 22613981, 13.2, 45.3, 25825, 1715255, 1.8}},
       "tile-messages",
       "tile-coo"},
      {"Webbase", {{1000005, 1000005, 3105536, 3.1, 25.9, 4700, 1000005, 2.8}}, "coo", "coo"},
      {"few long rows",
       {{1226299, 1226299, 4429706, 3.6, 236, 151106, 1226299, 0.3}, true, 0, 1},
       "tile-messages",
       "csr-ell"},
      {"R-MAT, no values",
       {{524288, 524288, 4888036, 9.3, 65.5, 12791, 272872, 4.8}, false, 0, 0.97},
       "tile-messages",
       "tile-messages"},
      {"LP", {{4284, 1092610, 11279748, 2633, 4220, 56181, 4284}}, "tile-messages", "tile-messages"},
      {"Dense", {{2000, 2000, 4000000, 2000, 0, 2000, 2000}}, "csr-vector", "tile-messages"},
      {"341 rows", {{341, 101840, 1619151, 4748, 2680, 15200, 341}}, "csr-ell", "csr-ell"},
      {"551 rows", {{551, 44017, 549307, 997, 188, 1682, 551}}, "csr-vector", "coo"},
      {"any columns",
       {{319824, 319824, 18737078, 58.6, 7.7, 93, 319824}, true, 0, 0.98},
       "tile-messages",
       "tile-messages"},
      {"FEM/Ship", {{140874, 140874, 7813404, 55.5, 11.1, 102, 140874}, true, 0, 0.1}, "csr-ell", "csr-ell"},
      {"FEM/Accelerator", {{121192, 121192, 2624331, 21.7, 13.8, 81, 121192}, true, 0, 0.4}, "sell", "sell"},
      {"9-point grid", {{356400, 356400, 3200404, 9, 0.2, 9, 356400}, true, 9, 0.05}, "dia", "dia"},
      {"Epidemiology", {{525825, 525825, 2100225, 4, 0.1, 4, 525825}, true, 0, 0.1}, "sell", "sell"},
      {"Economics", {{206500, 206500, 1273389, 6.2, 4.4, 44, 206500}}, "csr-adaptive", "csr-adaptive"},
      {"blocks", {{17992, 17992, 1384930, 77, 22.2, 108, 17992}}, "csr-half-warp", "csr-half-warp"},
      {"adder_dcop_05", {{1813, 1813, 11097, 6.1, 30.8, 1310, 1813}}, "csr-vector", "csr-vector"},
      {"mbeacxc", {{492, 492, 49920, 101.5, 126.8, 484, 492}}, "csr-adaptive", "csr-adaptive"}};
  for (const auto& one : cases) {
    EXPECT_EQ(choose_form(one.facts, true, false), one.in_f32) << one.matrix;
    EXPECT_EQ(choose_form(one.facts, true, true), one.in_f64) << one.matrix;
  }
}

TEST(LikelyForms, AreThoseThatTheFactsLeave) {
  using Forms = std::vector<std::string>;
  const auto on_gpu = [](const MatrixFacts& facts) { return likely_forms(facts, true); };
  const Forms always{"csr-ell", "csr-vector", "csr-half-warp"};
  const auto with = [&](const Forms& more) {
    Forms forms = always;
    forms.insert(forms.end(), more.begin(), more.end());
    return forms;
  };
  // A power law with values, 9-point grid, few long rows, a small matrix with one long row.
  EXPECT_EQ(on_gpu({{1715255, 1715255, 22613981, 13.2, 45.3, 25825, 1715255, 1.8}, true, 0, 0.9}),
            with({"coo", "tile-coo", "tile-messages"}));
  EXPECT_EQ(on_gpu({{356400, 356400, 3200404, 9, 0.2, 9, 356400}, true, 9, 0.05}),
            with({"csr-adaptive", "sell", "dia"}));
  EXPECT_EQ(on_gpu({{341, 101840, 1619151, 4748, 2680, 15200, 341}, true, 0, 0.8}),
            with({"csr-adaptive", "sell", "coo", "tile-messages"}));
  // A web graph: columns close to each other, a few long rows.
  EXPECT_EQ(on_gpu({{325557, 325557, 3216152, 9.9, 21.5, 2716, 325557}, false, 0, 0.1}),
            with({"coo", "tile-coo", "tile-messages"}));
  EXPECT_EQ(on_gpu({{1813, 1813, 11097, 6.1, 30.8, 1310, 1813}}), with({"coo"}));
  EXPECT_EQ(on_gpu({{77372, 77372, 529540, 6.8, 0.4, 7, 77372}, true, 7, 0.11}),
            with({"csr-adaptive", "csr-scalar", "sell", "dia"}));
  EXPECT_EQ(on_gpu({}), Forms{"csr-vector"});
  EXPECT_EQ(likely_forms({{1813, 1813, 11097, 6.1, 30.8, 1310, 1813}}, false).size(), 4u);
  EXPECT_EQ(likely_forms({{1000, 1000, 5000, 5, 1, 9, 1000}}, false).size(), 6u);
}

TEST(ChooseForm, GivesAFormThatThereIs) {
  for (const bool on_device : {false, true}) {
    std::vector<std::string> names;
    for (const ProductForm& form : product_forms(on_device)) names.push_back(form.name);
    const auto expect_known = [&](const MatrixFacts& facts) {
      for (const bool in_f64 : {false, true}) {
        const std::string form = choose_form(facts, on_device, in_f64);
        EXPECT_NE(std::find(names.begin(), names.end(), form), names.end()) << form;
      }
      for (const std::string& form : likely_forms(facts, on_device))
        EXPECT_NE(std::find(names.begin(), names.end(), form), names.end()) << form;
    };
    expect_known({});
    for (const std::uint64_t rows : {1u, 1000u, 10000u, 1000000u})
      for (const double mean : {1.0, 10.0, 100.0, 5000.0})
        for (const double deviation : {0.0, 0.5, 3.0})
          for (const double longest : {1.0, 3.0, 50.0, 1000.0})
            for (const double scatter : {0.1, 1.0}) {
              const auto size = static_cast<std::uint64_t>(static_cast<double>(rows) * mean);
              const RowLengthStats lengths{
                  rows, rows,     size, mean, deviation * mean, static_cast<std::uint64_t>(longest * mean),
                  rows, deviation};
              expect_known({lengths, scatter < 1, static_cast<std::uint64_t>(mean), scatter});
            }
  }
}

TEST(ChooseForm, ItsFormOnAHostTakesTheMatrix) {
  const auto backend = make_backend<float>("cpu");
  for (const double mean : {1.0, 9.0, 60.0}) {
    const RandomMatrix matrix = random_matrix(3, 500, 700, mean, true);
    const std::string form = choose_form(matrix_facts(matrix.view()), false, false);
    EXPECT_GE(make_product<float>(form, matrix.view(), *backend)->stats().num_stored,
              matrix.col_indices.size());
  }
}

}  // namespace
}  // namespace tessera::test
