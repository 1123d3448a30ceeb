#include "kernels/formats/csr_ell.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_matrix.hpp"

namespace tessera::test {
namespace {

/// Rows of the given lengths, columns from 0 on.
RandomMatrix rows_of(const std::vector<std::uint64_t>& lengths) {
  RandomMatrix a;
  a.num_rows = lengths.size();
  a.num_cols = 2000;
  a.row_offsets.push_back(0);
  for (const std::uint64_t length : lengths) {
    for (VertexId c = 0; c < length; ++c) a.col_indices.push_back(c);
    a.row_offsets.push_back(a.col_indices.size());
  }
  return a;
}

TEST(CsrEllThresholds, AreThePapers) {
  const auto of = [](const std::vector<std::uint64_t>& lengths) {
    const RandomMatrix a = rows_of(lengths);
    const CsrEllThresholds t = csr_ell_thresholds(a.view());
    return std::vector<std::uint64_t>{t.row_length, t.thread_elements, t.warp_elements};
  };
  using Three = std::vector<std::uint64_t>;
  EXPECT_EQ(of({2, 4, 3}), (Three{32, 6, 192}));        // mean 3: M at least 6
  EXPECT_EQ(of({10, 30, 1000}), (Three{32, 20, 640}));  // mean of the short rows: 20
  EXPECT_EQ(of({32, 32}), (Three{64, 32, 1024}));       // above the mean: 64
  EXPECT_EQ(of({250, 240}), (Three{256, 32, 1024}));    // M at most 32
  EXPECT_EQ(of({300, 500}), (Three{64, 32, 1024}));     // no short rows: L is 32 warps
  EXPECT_EQ(of({}), (Three{64, 32, 1024}));
}

TEST(CsrEll, RowsAreDealtAsTheThresholdsSay) {
  const RandomMatrix a = rows_of({5, 100, 1, 0, 13, 4});
  const CsrEll<float> form(a.view(), {.row_length = 32, .thread_elements = 6, .warp_elements = 40});
  const std::vector<VertexId> ell_rows(form.ell_rows.begin(), form.ell_rows.end());
  EXPECT_EQ(ell_rows, (std::vector<VertexId>{3, 2, 5, 0, 4}));  // by length: 0, 1, 4, 5, 13
  ASSERT_EQ(form.ell_warps.size(), 1u);
  EXPECT_EQ(form.ell_warps[0].threads, 3);  // 13 elements, 6 a thread
  EXPECT_EQ(form.ell_warps[0].width, 5);
  ASSERT_EQ(form.csr_warps.size(), 3u);  // 100 elements, 40 a warp
  EXPECT_TRUE(form.has_shared_rows);
  for (const CsrWarp& warp : form.csr_warps) {
    EXPECT_EQ(warp.row, 1u);
    EXPECT_EQ(warp.is_whole_row, 0u);
    EXPECT_LE(warp.end - warp.begin, 40u);
  }
  EXPECT_EQ(form.csr_warps[2].end - form.csr_warps[0].begin, 100u);
  EXPECT_EQ(form.num_stored(), 32u * 5 + 100);
}

TEST(CsrEll, IsAProductWithAnyThresholds) {
  const RandomMatrix a = random_matrix(8, 700, 900, 30, true);
  std::vector<double> x(a.num_cols), y(a.num_rows);
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = 1 + static_cast<double>(c % 3);
  for (const std::uint64_t row_length : {0, 1, 32, 1000})
    for (const std::uint64_t thread_elements :
         {std::max<std::uint64_t>(6, row_length / 32), row_length + 6}) {
      const CsrEll<double> form(a.view(), {row_length, thread_elements, 64});
      std::fill(y.begin(), y.end(), -5);
      multiply_on_host(form, x.data(), y.data());
      for (std::uint64_t row = 0; row < a.num_rows; ++row) {
        double expected = 0;
        for (EdgeOffset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
          expected += a.values[k] * x[a.col_indices[k]];
        EXPECT_NEAR(y[row], expected, 1e-11 * (1 + expected)) << row;
      }
    }
}

}  // namespace
}  // namespace tessera::test
