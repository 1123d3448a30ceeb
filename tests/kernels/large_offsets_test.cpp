// Offsets past 2^31 and 2^32 elements, in arrays that are addressed but never filled.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/cpu/cpu_spmv.hpp"
#include "tests/support/untouched.hpp"

namespace tessera::test {
namespace {

class LargeOffsets : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LargeOffsets, ATileReadsItsElementsThere) {
  const std::uint64_t begin = GetParam();
  Untouched<std::uint16_t> offsets(begin + 64);
  if (offsets.data() == nullptr) GTEST_SKIP() << "this system does not give out so much address space";
  // Two rows of three elements, column-major with height 8, then one row-major row of 16.
  const Workload ell{.first_element = begin,
                     .first_row = 0,
                     .num_rows = 2,
                     .width = 3,
                     .height = 8,
                     .layout = Layout::column_major};
  const Workload vector{.first_element = begin + 24,
                        .first_row = 2,
                        .num_rows = 1,
                        .width = 16,
                        .height = 1,
                        .layout = Layout::row_major};
  const std::uint16_t columns[2][3] = {{1, 2, 4}, {3, 3, 4}};
  for (std::uint64_t row = 0; row < 2; ++row)
    for (std::uint64_t k = 0; k < 3; ++k) offsets.data()[element_index(ell, row, k)] = columns[row][k];
  for (std::uint64_t k = 0; k < 16; ++k) offsets.data()[element_index(vector, 0, k)] = k < 10 ? 2 : 4;
  EXPECT_EQ(element_index(ell, 1, 2), begin + 17);
  const Workload workloads[] = {ell, vector};
  const Tile tile{.first_slot = 0, .num_columns = 4, .first_workload = 0, .num_workloads = 2};
  const VertexId rows[] = {2, 0, 1};
  const std::vector<double> x{10, 100, 1000, 10000, 0};
  std::vector<double> y(3, -1);
  TileCompositeView<double> a;
  a.num_rows = 3;
  a.num_slots = x.size();
  a.tiles = &tile;
  a.num_tiles = 1;
  a.workloads = workloads;
  a.row_ids = rows;
  a.offsets16 = offsets.data();
  cpu::spmv(a, x.data(), y.data(), 1);
  EXPECT_EQ(y, (std::vector<double>{20000, 10000, 1100}));
}

TEST_P(LargeOffsets, ACsrRowReadsItsElementsThere) {
  const std::uint64_t begin = GetParam();
  Untouched<VertexId> columns(begin + 8);
  if (columns.data() == nullptr) GTEST_SKIP() << "this system does not give out so much address space";
  for (std::uint64_t k = 0; k < 3; ++k) columns.data()[begin + k] = static_cast<VertexId>(k + 1);
  const EdgeOffset row_offsets[] = {begin, begin, begin + 3};
  const std::vector<double> x{1, 10, 100, 1000};
  std::vector<double> y(2, -1);
  cpu::spmv(CsrView<double>{2, 4, row_offsets, columns.data(), nullptr}, x.data(), y.data(), 1);
  EXPECT_EQ(y, (std::vector<double>{0, 1110}));
}

TEST_P(LargeOffsets, ABlockOfVectorsReadsXThere) {
  constexpr unsigned kVectors = 9;  // eight at once, and one more
  const std::uint64_t column = GetParam() / kVectors;
  if (column + 3 > kMaxVertices) GTEST_SKIP() << "no vertex is that large";
  Untouched<float> x((column + 3) * kVectors);
  if (x.data() == nullptr) GTEST_SKIP() << "this system does not give out so much address space";
  std::vector<double> expected;
  for (unsigned q = 0; q < kVectors; ++q) {
    for (unsigned i = 0; i < 3; ++i)
      x.data()[(column + i) * kVectors + q] = static_cast<float>(100 * i + q + 1);
    expected.push_back(2 * q + 202);  // the elements of columns 0 and 2
  }
  const auto first = static_cast<VertexId>(column);
  const VertexId columns[] = {first, first + 2};
  const EdgeOffset row_offsets[] = {0, 2};
  std::vector<double> y(kVectors, -1);
  cpu::spmv(CsrView<float>{1, column + 3, row_offsets, columns, nullptr}, x.data(), y.data(), kVectors);
  EXPECT_EQ(y, expected);

  const std::uint32_t offsets[] = {0, 2};  // the same row in a remainder tile that begins at `column`
  const Workload workload{.num_rows = 1, .width = 2, .height = 1, .layout = Layout::row_major};
  const Tile tile{.first_slot = column, .num_columns = 3, .num_workloads = 1, .wide = true};
  const VertexId row = 0;
  TileCompositeView<float> a;
  a.num_rows = 1;
  a.num_slots = column + 3;
  a.tiles = &tile;
  a.num_tiles = 1;
  a.workloads = &workload;
  a.row_ids = &row;
  a.offsets32 = offsets;
  y.assign(kVectors, -1);
  cpu::spmv(a, x.data(), y.data(), kVectors);
  EXPECT_EQ(y, expected);
}

constexpr std::uint64_t kTwo31 = std::uint64_t{1} << 31, kTwo32 = std::uint64_t{1} << 32;
INSTANTIATE_TEST_SUITE_P(Around, LargeOffsets,
                         testing::Values(kTwo31 - 8, kTwo31, kTwo32 - 8, kTwo32, 5 * kTwo32));

TEST(LargeOffsets, AWorkloadMayHoldMoreThan32BitsOfElements) {
  const Workload w{.first_element = kTwo32,
                   .first_row = 0,
                   .num_rows = 1u << 20,
                   .width = 1u << 20,
                   .height = 1u << 20,
                   .layout = Layout::column_major};
  EXPECT_EQ(element_index(w, 5, (1u << 20) - 1), kTwo32 + (std::uint64_t{1} << 40) - (1u << 20) + 5);
}

TEST(CheckedArithmetic, RefusesWhat64BitsDoNotHold) {
  EXPECT_EQ(checked_mul(kTwo32, kTwo31), std::uint64_t{1} << 63);
  EXPECT_THROW(checked_mul(kTwo32, kTwo32), ResourceError);
  EXPECT_EQ(checked_mul(0, ~std::uint64_t{0}), 0u);
  EXPECT_EQ(checked_add(~std::uint64_t{0} - 1, 1), ~std::uint64_t{0});
  EXPECT_THROW(checked_add(~std::uint64_t{0}, 1), ResourceError);
}

}  // namespace
}  // namespace tessera::test
