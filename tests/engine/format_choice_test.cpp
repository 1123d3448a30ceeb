#include "engine/format_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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
  EXPECT_EQ(row_length_stats({}).longest, 0u);
}

// What an H200 measured as fastest or within 5 % of it (docs/formats.md).
TEST(ChooseForm, TakesWhatWasFastestOnAGpu) {
  const struct {
    const char* matrix;
    RowLengthStats lengths;
    const char* form;
  } cases[] = {{"Flickr", {1715255, 1715255, 22613981, 13.2, 45.3, 25825}, "tile-messages"},
               {"Webbase", {1000005, 1000005, 3105536, 3.1, 25.9, 4700}, "coo"},
               {"LP", {4284, 1092610, 11279748, 2633, 4220, 56181}, "tile-messages"},
               {"Dense", {2000, 2000, 4000000, 2000, 0, 2000}, "csr-ell"},
               {"FEM/Ship", {140874, 140874, 7813404, 55.5, 11.1, 102}, "csr-ell"},
               {"FEM/Accelerator", {121192, 121192, 2624331, 21.7, 13.8, 81}, "sell"},
               {"Epidemiology", {525825, 525825, 2100225, 4, 0.1, 4}, "sell"},
               {"Economics", {206500, 206500, 1273389, 6.2, 4.4, 44}, "csr-ell"},
               {"adder_dcop_05", {1813, 1813, 11097, 6.1, 30.8, 1310}, "csr-ell"},
               {"mbeacxc", {492, 492, 49920, 101.5, 126.8, 484}, "csr-vector"},
               {"cryg2500", {2500, 2500, 12349, 4.9, 0.2, 5}, "csr-half-warp"}};
  for (const auto& one : cases) EXPECT_EQ(choose_form(one.lengths, true), one.form) << one.matrix;
}

TEST(ChooseForm, GivesAFormThatThereIs) {
  for (const bool on_device : {false, true}) {
    std::vector<std::string> names;
    for (const ProductForm& form : product_forms(on_device)) names.push_back(form.name);
    const auto expect_known = [&](const RowLengthStats& lengths) {
      const std::string form = choose_form(lengths, on_device);
      EXPECT_NE(std::find(names.begin(), names.end(), form), names.end()) << form;
    };
    expect_known({});
    for (const std::uint64_t rows : {1u, 1000u, 10000u, 1000000u})
      for (const double mean : {1.0, 10.0, 100.0, 5000.0})
        for (const double deviation : {0.0, 0.5, 3.0})
          for (const double longest : {1.0, 3.0, 50.0, 1000.0})
            expect_known({rows, rows, static_cast<std::uint64_t>(static_cast<double>(rows) * mean), mean,
                          deviation * mean, static_cast<std::uint64_t>(longest * mean)});
  }
}

TEST(ChooseForm, ItsFormOnAHostTakesTheMatrix) {
  const auto backend = make_backend<float>("cpu");
  for (const double mean : {1.0, 9.0, 60.0}) {
    const RandomMatrix matrix = random_matrix(3, 500, 700, mean, true);
    const std::string form = choose_form(row_length_stats(matrix.view()), false);
    EXPECT_GE(make_product<float>(form, matrix.view(), *backend)->stats().num_stored,
              matrix.col_indices.size());
  }
}

}  // namespace
}  // namespace tessera::test
