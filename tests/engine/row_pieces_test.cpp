// Rows cut into pieces, against a plain loop over the matrix.
#include "engine/row_pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <numeric>

#include "engine/tile_composite_builder.hpp"
#include "kernels/base/error.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/untouched.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// A piece with what it holds.
struct PlainPiece {
  std::size_t tile = 0;
  VertexId row = 0;
  std::vector<std::uint64_t> offsets;
  std::vector<double> values;
  bool operator==(const PlainPiece&) const = default;
};

void PrintTo(const PlainPiece& p, std::ostream* out) {
  *out << "tile " << p.tile << ", row " << p.row << ", " << p.offsets.size() << " elements";
}

/// What cut_rows must give: tile after tile, rows ascending, elements in the order of the row.
std::vector<PlainPiece> plain_pieces(const CsrView<double>& a, const std::vector<VertexId>& rows,
                                     const ColumnOrder& columns) {
  std::vector<PlainPiece> pieces;
  for (std::size_t t = 0; t < columns.tiles.size(); ++t)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      PlainPiece piece{t, static_cast<VertexId>(i), {}, {}};
      for (EdgeOffset e = a.row_offsets[rows[i]]; e < a.row_offsets[rows[i] + 1]; ++e) {
        const std::uint64_t slot = columns.slot_of_column[a.col_indices[e]],
                            first = columns.tiles[t].first_slot;
        if (slot < first || slot >= first + columns.tiles[t].num_columns) continue;
        piece.offsets.push_back(slot - first);
        if (a.values != nullptr) piece.values.push_back(a.values[e]);
      }
      if (!piece.offsets.empty()) pieces.push_back(std::move(piece));
    }
  return pieces;
}

std::vector<PlainPiece> unfolded(const RowPieces<double>& cut, const ColumnOrder& columns) {
  std::vector<PlainPiece> pieces;
  EXPECT_EQ(cut.first_of_tile.size(), columns.tiles.size() + 1);
  EXPECT_EQ(cut.first_of_tile.back(), cut.pieces.size());
  for (std::size_t t = 0; t < columns.tiles.size(); ++t)
    for (std::uint64_t p = cut.first_of_tile[t]; p < cut.first_of_tile[t + 1]; ++p) {
      const RowPiece& piece = cut.pieces[p];
      PlainPiece plain{t, piece.row, {}, {}};
      const bool wide = columns.tiles[t].wide;
      const Buffer<double>& values = wide ? cut.values32 : cut.values16;
      for (std::uint64_t e = piece.first; e < piece.first + piece.length; ++e) {
        plain.offsets.push_back(wide ? cut.offsets32[e] : cut.offsets16[e]);
        if (!values.empty()) plain.values.push_back(values[e]);
      }
      pieces.push_back(std::move(plain));
    }
  return pieces;
}

void check(const RandomMatrix& a, const std::vector<VertexId>& rows, const ColumnOrder& columns) {
  const auto expected = plain_pieces(a.view(), rows, columns);
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 4}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(unfolded(cut_rows<double>(a.view(), rows, columns), columns), expected)
        << threads << " threads";
  }
  omp_set_num_threads(before);
}

std::vector<VertexId> all_rows(const RandomMatrix& a) {
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.begin(), rows.end(), VertexId{0});
  return rows;
}

TEST(CutRows, EveryElementLandsInItsTile) {
  for (const bool weighted : {false, true}) {
    const RandomMatrix a = random_matrix(1, 300, 250, 6, weighted);
    for (const std::uint32_t tile_columns : {1u, 2u, 3u, 7u, 16u, 100u, 65535u})
      for (const std::uint32_t most_tiles : {0u, 1u, 3u, ~0u})
        check(a, all_rows(a), order_columns_by_length(a.column_lengths(), tile_columns, most_tiles));
  }
}

TEST(CutRows, RowsComeInTheOrderAskedForAndOthersStayOut) {
  const RandomMatrix a = random_matrix(2, 200, 300, 5, true);
  const ColumnOrder columns = order_columns_by_length(a.column_lengths(), 16);
  check(a, {199, 3, 70, 71, 5, 0}, columns);
  check(a, {42}, columns);
  check(a, {}, columns);
  std::vector<VertexId> backwards = all_rows(a);
  std::reverse(backwards.begin(), backwards.end());
  check(a, backwards, columns);
}

TEST(CutRows, ManyChunksOfRowsGiveTheSameForAnyNumberOfThreads) {
  const RandomMatrix a = random_matrix(3, 40000, 90000, 14, true);
  ASSERT_GT(a.col_indices.size(), 800000u);  // several chunks of 256 Ki elements
  check(a, all_rows(a), order_columns_by_length(a.column_lengths(), 8191, 4));
}

TEST(CutRows, AMatrixWithoutElementsHasNoPieces) {
  RandomMatrix a;
  a.num_rows = a.num_cols = 3;
  a.row_offsets = {0, 0, 0, 0};
  check(a, {0, 1, 2}, order_columns_by_length(a.column_lengths(), 8));
}

TEST(CutRows, ValuesAreRoundedToThePrecision) {
  const RandomMatrix a = random_matrix(4, 50, 40, 5, true);
  const ColumnOrder columns = order_columns_by_length(a.column_lengths(), 65535);
  const auto exact = cut_rows<double>(a.view(), all_rows(a), columns);
  const auto rounded = cut_rows<float>(a.view(), all_rows(a), columns);
  ASSERT_EQ(rounded.values16.size(), exact.values16.size());
  for (std::size_t e = 0; e < exact.values16.size(); ++e)
    EXPECT_EQ(rounded.values16[e], static_cast<float>(exact.values16[e]));
}

TEST(CutRows, ColumnsAsGivenAreRefused) {
  const RandomMatrix a = random_matrix(5, 5, 5, 2, false);
  EXPECT_THROW(cut_rows<float>(a.view(), all_rows(a), original_column_order(a.num_cols)), InternalError);
}

/// The matrix's elements at `base` of arrays that are otherwise untouched.
class MatrixFarAway {
 public:
  MatrixFarAway(const RandomMatrix& a, std::uint64_t base)
      : offsets_(a.row_offsets), columns_(base + a.col_indices.size()), values_(base + a.col_indices.size()) {
    view_ = {a.num_rows, a.num_cols, offsets_.data(), columns_.data(), values_.data()};
    if (!fits()) return;
    for (EdgeOffset& offset : offsets_) offset += base;
    std::copy(a.col_indices.begin(), a.col_indices.end(), columns_.data() + base);
    std::copy(a.values.begin(), a.values.end(), values_.data() + base);
  }
  bool fits() { return columns_.data() != nullptr && values_.data() != nullptr; }
  const CsrView<double>& view() const { return view_; }

 private:
  std::vector<EdgeOffset> offsets_;
  Untouched<VertexId> columns_;
  Untouched<double> values_;
  CsrView<double> view_;
};

class FarAway : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FarAway, ElementsPast32BitsAreCutAndPackedLikeTheFirst) {
  const RandomMatrix a = random_matrix(6, 120, 90, 6, true);
  MatrixFarAway far(a, GetParam());
  if (!far.fits()) GTEST_SKIP() << "this system does not give out so much address space";
  const ColumnOrder columns = order_columns_by_length(a.column_lengths(), 16);
  EXPECT_EQ(unfolded(cut_rows<double>(far.view(), all_rows(a), columns), columns),
            plain_pieces(a.view(), all_rows(a), columns));
  const auto near_csr = build_csr_matrix<double>(a.view(), all_rows(a), columns);
  const auto far_csr = build_csr_matrix<double>(far.view(), all_rows(a), columns);
  EXPECT_TRUE(std::ranges::equal(far_csr.row_offsets, near_csr.row_offsets));
  EXPECT_TRUE(std::ranges::equal(far_csr.col_indices, near_csr.col_indices));
  EXPECT_TRUE(std::ranges::equal(far_csr.values, near_csr.values));
}

constexpr std::uint64_t kTwo31 = std::uint64_t{1} << 31, kTwo32 = std::uint64_t{1} << 32;
INSTANTIATE_TEST_SUITE_P(Bases, FarAway, testing::Values(kTwo31 - 100, kTwo31, kTwo32 - 100, 3 * kTwo32 + 1));

TEST(CutRows, ARowTooLongFor32BitPositionsIsRefusedBeforeAnythingIsRead) {
  const ColumnOrder columns = order_columns_by_length(std::vector<std::uint64_t>{kTwo31 + 1}, 8);
  const std::vector<EdgeOffset> offsets = {0, kTwo31 + 1};
  const std::vector<VertexId> rows = {0};
  try {
    cut_rows<float>({1, 1, offsets.data(), nullptr, nullptr}, rows, columns);
    FAIL() << "no error";
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("2147483649 edges"));
    EXPECT_THAT(error.what(), HasSubstr("--kernel csr"));
  }
}

}  // namespace
}  // namespace tessera::test
