// The packed format against the matrix it was made from, and its product against a plain loop.
#include "engine/tile_composite_builder.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <map>
#include <numeric>

#include "kernels/cpu/cpu_spmv.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera {
namespace {

using test::random_matrix;
using test::RandomMatrix;

struct Shape {
  std::uint64_t rows, cols;
  double mean_length;
  bool weighted;
  std::uint32_t tile_columns, warp_width, max_active_warps;
};

void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.rows << " x " << s.cols << (s.weighted ? ", weighted" : "") << ", tiles of " << s.tile_columns
       << ", " << s.max_active_warps << " warps";
}

class TileCompositeShapes : public testing::TestWithParam<Shape> {
 protected:
  TileCompositeShapes()
      : a_(random_matrix(3, GetParam().rows, GetParam().cols, GetParam().mean_length, GetParam().weighted)),
        rows_(a_.num_rows),
        columns_(order_columns_by_length(a_.column_lengths(), GetParam().tile_columns)) {
    std::iota(rows_.rbegin(), rows_.rend(), VertexId{0});  // local order need not be the matrix's
  }
  template <class S>
  TileComposite<S> build(std::uint32_t max_active_warps) const {
    const TilingLimits limits{GetParam().tile_columns, GetParam().warp_width, max_active_warps};
    return build_tile_composite<S>(a_.view(), rows_, columns_, limits, default_perf_table());
  }
  RandomMatrix a_;
  std::vector<VertexId> rows_;
  ColumnOrder columns_;
};

/// (local row, slot) -> value of every stored element, padding apart; each index must occur once.
template <class S>
std::map<std::pair<VertexId, std::uint64_t>, double> unfold(const TileComposite<S>& m,
                                                            std::uint64_t& padding) {
  std::map<std::pair<VertexId, std::uint64_t>, double> elements;
  std::vector<int> seen16(m.offsets16.size(), 0), seen32(m.offsets32.size(), 0);
  padding = 0;
  for (const Tile& tile : m.tiles)
    for (std::uint64_t i = 0; i < tile.num_workloads; ++i) {
      const Workload& w = m.workloads[tile.first_workload + i];
      for (std::uint64_t r = 0; r < w.height; ++r)
        for (std::uint64_t k = 0; k < w.width; ++k) {
          const EdgeOffset e = element_index(w, r, k);
          ++(tile.wide ? seen32 : seen16)[e];
          const std::uint64_t offset = tile.wide ? m.offsets32[e] : m.offsets16[e];
          const auto& values = tile.wide ? m.values32 : m.values16;
          if (offset == tile.num_columns) {
            ++padding;
            continue;
          }
          EXPECT_LT(r, w.num_rows) << "only padding below the real rows";
          const bool is_new = elements
                                  .emplace(std::pair(m.row_ids[w.first_row + r], tile.first_slot + offset),
                                           values.empty() ? 1.0 : values[e])
                                  .second;
          EXPECT_TRUE(is_new);
        }
    }
  EXPECT_EQ(std::count(seen16.begin(), seen16.end(), 1), static_cast<std::ptrdiff_t>(seen16.size()));
  EXPECT_EQ(std::count(seen32.begin(), seen32.end(), 1), static_cast<std::ptrdiff_t>(seen32.size()));
  return elements;
}

TEST_P(TileCompositeShapes, UnfoldsToTheMatrix) {
  const auto m = build<double>(GetParam().max_active_warps);

  std::uint64_t padding = 0;
  const auto elements = unfold(m, padding);

  std::map<std::pair<VertexId, std::uint64_t>, double> expected;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (EdgeOffset k = a_.row_offsets[rows_[i]]; k < a_.row_offsets[rows_[i] + 1]; ++k)
      expected[{static_cast<VertexId>(i), columns_.slot_of_column[a_.col_indices[k]]}] =
          a_.values.empty() ? 1.0 : a_.values[k];
  EXPECT_EQ(elements, expected);
  EXPECT_EQ(m.stats.num_nonzeros, a_.col_indices.size());
  EXPECT_EQ(m.stats.num_stored, a_.col_indices.size() + padding);
}

template <class S>
std::vector<double> multiply(const TileComposite<S>& m, const std::vector<S>& x, unsigned num_vectors) {
  std::vector<double> y(m.num_rows * num_vectors, std::nan(""));
  cpu::spmv(m.view(), x.data(), y.data(), num_vectors);
  return y;
}

TEST_P(TileCompositeShapes, ProductMatchesAPlainLoop) {
  const auto m = build<double>(GetParam().max_active_warps);
  std::vector<double> x(columns_.num_slots, 0.0);
  std::vector<double> x_of_column(a_.num_cols, 0.0);
  for (std::uint64_t c = 0; c < a_.num_cols; ++c)
    if (columns_.slot_of_column[c] != kNoVertex)
      x[columns_.slot_of_column[c]] = x_of_column[c] = 0.5 + static_cast<double>(c * 7919 % 1009) / 1009;

  const std::vector<double> y = multiply(m, x, 1);

  for (std::size_t i = 0; i < rows_.size(); ++i) {
    double sum = 0;
    for (EdgeOffset k = a_.row_offsets[rows_[i]]; k < a_.row_offsets[rows_[i] + 1]; ++k)
      sum += (a_.values.empty() ? 1.0 : a_.values[k]) * x_of_column[a_.col_indices[k]];
    EXPECT_NEAR(y[i], sum, 1e-14 * (1 + sum)) << "row " << i;
  }
}

TEST_P(TileCompositeShapes, BitsDoNotDependOnThreadsPackingOrBlock) {
  std::vector<float> x(columns_.num_slots, 0.0f), block(columns_.num_slots * 11, 0.0f);
  for (std::uint64_t c = 0; c < a_.num_cols; ++c)
    if (const VertexId slot = columns_.slot_of_column[c]; slot != kNoVertex)
      for (unsigned q = 0; q < 11; ++q) {
        block[slot * 11 + q] = 0.1f + static_cast<float>((c + q * 31) % 997) / 991;
        if (q == 4) x[slot] = block[slot * 11 + q];
      }
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto expected = multiply(build<float>(GetParam().max_active_warps), x, 1);
  for (int t : {2, 4}) {
    omp_set_num_threads(t);
    for (std::uint32_t warps : {1u, 3u, 4096u}) EXPECT_EQ(multiply(build<float>(warps), x, 1), expected);
  }
  const auto of_block = multiply(build<float>(2), block, 11);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(of_block[i * 11 + 4], expected[i]);
  omp_set_num_threads(threads);
}

INSTANTIATE_TEST_SUITE_P(Shapes, TileCompositeShapes,
                         testing::Values(Shape{40, 40, 3, false, 2, 8, 4},      // tiny tiles: all boundaries
                                         Shape{200, 300, 12, true, 16, 8, 64},  // weighted
                                         Shape{3000, 2500, 8, false, 255, 32, 16},
                                         Shape{500, 70000, 40, true, 65535, 8, 64},  // widest tile
                                         Shape{1, 1, 1, false, 1, 8, 1}, Shape{64, 8, 0.01, false, 4, 8, 2}));

TEST(TileComposite, OfAnEmptyMatrixMultipliesToZero) {
  const std::vector<EdgeOffset> offsets = {0, 0, 0};
  const std::vector<VertexId> rows = {0, 1};
  const ColumnOrder columns = order_columns_by_length(std::vector<std::uint64_t>{0, 0}, 8);
  const CsrView<double> csr{2, 2, offsets.data(), nullptr, nullptr};
  const auto m = build_tile_composite<double>(csr, rows, columns, {8, 8, 4}, default_perf_table());
  EXPECT_EQ(multiply(m, std::vector<double>(1), 1), (std::vector<double>{0, 0}));
}

TEST(CsrMatrix, ProductMatchesAPlainLoop) {
  const RandomMatrix a = random_matrix(5, 300, 200, 9, true);
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.begin(), rows.end(), VertexId{0});
  const auto m = build_csr_matrix<double>(a.view(), rows, original_column_order(a.num_cols));
  std::vector<double> x(a.num_cols);
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = static_cast<double>(c % 13);
  std::vector<double> y(a.num_rows, std::nan(""));

  cpu::spmv(m.view(), x.data(), y.data(), 1);

  for (std::size_t i = 0; i < y.size(); ++i) {
    double sum = 0;
    for (EdgeOffset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      sum += a.values[k] * x[a.col_indices[k]];
    EXPECT_NEAR(y[i], sum, 1e-14 * (1 + sum));
  }
}

TEST(ElementIndex, IsExactPastFourBillionElements) {
  Workload w{.first_element = (EdgeOffset{1} << 33) + 5,
             .width = 65536,
             .height = 131072,
             .layout = Layout::row_major};
  EXPECT_EQ(element_index(w, 131071, 65535), (EdgeOffset{1} << 33) + 5 + (EdgeOffset{1} << 33) - 1);
  w.layout = Layout::column_major;
  EXPECT_EQ(element_index(w, 131071, 65535), (EdgeOffset{1} << 33) + 5 + (EdgeOffset{1} << 33) - 1);
}

}  // namespace
}  // namespace tessera
