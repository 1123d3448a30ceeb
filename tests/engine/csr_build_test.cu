// CSR as devices build it, run in host memory (and on a device where one answers), against the definition:
// every number the same.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/tile_composite_builder.hpp"
#include "kernels/base/error.hpp"
#include "kernels/cuda/csr_build.hpp"
#include "kernels/cuda/cuda_spmv.hpp"
#include "kernels/cuda/device_memory.hpp"
#include "kernels/devices.hpp"
#include "tests/support/host_builds.hpp"
#include "tests/support/random_matrix.hpp"

namespace tessera {
namespace {

using test::in_both_directions;
using test::random_matrix;
using test::RandomMatrix;
using test::turned;

template <class T>
std::vector<T> numbers(const Buffer<T>& buffer) {
  return {buffer.begin(), buffer.end()};
}

/// num_more: zeros behind the elements, where there are any.
template <class T>
void expect_elements(const Buffer<T>& found, const Buffer<T>& expected, std::uint64_t num_more) {
  ASSERT_EQ(numbers(found), numbers(expected));
  for (std::uint64_t i = 0; i < num_more && !expected.empty(); ++i)
    ASSERT_EQ(found.data()[found.size() + i], T{0}) << i;
}

template <class S>
void expect_same(const CsrMatrix<S>& found, const CsrMatrix<S>& expected, std::uint64_t num_more) {
  EXPECT_EQ(found.num_rows, expected.num_rows);
  EXPECT_EQ(found.num_slots, expected.num_slots);
  EXPECT_EQ(numbers(found.row_offsets), numbers(expected.row_offsets));
  expect_elements(found.col_indices, expected.col_indices, num_more);
  expect_elements(found.values, expected.values, num_more);
  EXPECT_EQ(found.stats.num_nonzeros, expected.stats.num_nonzeros);
  EXPECT_EQ(found.stats.num_stored, expected.stats.num_stored);
  EXPECT_EQ(found.stats.num_row_pieces, expected.stats.num_row_pieces);
  EXPECT_EQ(found.stats.bytes, expected.stats.bytes);
}

/// A copy on the host, of what lies behind the elements, too.
template <class S>
CsrMatrix<S> copied(const CsrMatrix<S>& device) {
  const auto with_more = [](const auto& elements) {
    using T = std::remove_cvref_t<decltype(*elements.data())>;
    Buffer<T> host(elements.empty() ? 0 : elements.size() + cuda::kReadAhead);
    if (!host.empty())
      EXPECT_EQ(cudaMemcpy(host.data(), elements.data(), host.size_bytes(), cudaMemcpyDeviceToHost),
                cudaSuccess);
    host.truncate(elements.size());
    return host;
  };
  CsrMatrix<S> host{.num_rows = device.num_rows, .num_slots = device.num_slots};
  host.row_offsets = cuda::on_host(device.row_offsets);
  host.col_indices = with_more(device.col_indices);
  host.values = with_more(device.values);
  host.stats = device.stats;
  return host;
}

template <class S>
void check(const RandomMatrix& a) {
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.rbegin(), rows.rend(), VertexId{0});  // any order
  rows.resize(rows.size() - rows.size() / 5);          // of a rank among several
  for (const ColumnOrder& columns :
       {order_columns_by_length(a.column_lengths(), 64, 3), original_column_order(a.num_cols)}) {
    const auto expected = build_csr_matrix<S>(a.view(), rows, columns);
    const CsrBuildInput input{.csr = a.view(),
                              .rows = rows,
                              .slot_of_column = columns.slot_of_column.data(),
                              .num_slots = columns.num_slots};
    expect_same(test::build_csr_in_host_memory<S>(input, 3), expected, 3);
    if (num_devices() > 0)
      expect_same(copied(cuda::build_csr_on_device<S>(input)), expected, cuda::kReadAhead);
  }
}

TEST(CsrBuild, GivesTheNumbersOfTheDefinition) {
  for (const bool weighted : {false, true})
    for (unsigned seed = 1; seed <= 3; ++seed) {
      for (const RandomMatrix& a :
           {random_matrix(seed, 500, 700, 12, weighted), random_matrix(seed, 3000, 3000, 2, weighted),
            random_matrix(seed, 7, 30000, 20000, weighted), random_matrix(seed, 1, 40, 5, weighted)}) {
        check<float>(a);
        check<double>(a);
      }
    }
}

/// `made`: of the elements of `a`, by hand.
template <class S>
void check_directed(const RandomMatrix& a, Directions directions, const RandomMatrix& made) {
  std::vector<VertexId> rows(made.num_rows - made.num_rows / 3);
  std::iota(rows.rbegin(), rows.rend(), VertexId{0});
  const ColumnOrder columns = order_columns_by_length(made.column_lengths(), 64, 3);
  const auto expected = build_csr_matrix<S>(made.view(), rows, columns);
  const CsrBuildInput input{.csr = a.view(),
                            .directions = directions,
                            .rows = rows,
                            .slot_of_column = columns.slot_of_column.data(),
                            .num_slots = columns.num_slots};
  expect_same(test::build_csr_in_host_memory<S>(input, 3), expected, 3);
  if (num_devices() > 0) expect_same(copied(cuda::build_csr_on_device<S>(input)), expected, cuda::kReadAhead);
}

TEST(CsrBuild, TurnsElementsRoundAndMakesBothDirections) {
  for (const bool weighted : {false, true}) {
    const RandomMatrix wide = random_matrix(3, 300, 800, 9, weighted);
    check_directed<float>(wide, Directions::turned, turned(wide));
    check_directed<double>(wide, Directions::turned, turned(wide));
  }
  for (const std::uint64_t n : {1, 40, 900}) {
    const RandomMatrix square = random_matrix(4, n, n, 6, false);
    check_directed<float>(square, Directions::both, in_both_directions(square));
    check_directed<double>(square, Directions::both, in_both_directions(square));
  }
}

TEST(CsrBuild, MakesBothDirectionsOfSquarePatternsAlone) {
  for (const RandomMatrix& a : {random_matrix(3, 30, 80, 9, false), random_matrix(3, 30, 30, 9, true)}) {
    const CsrBuildInput input{.csr = a.view(), .directions = Directions::both};
    EXPECT_THROW(test::build_csr_in_host_memory<float>(input, 0), InternalError);
  }
}

TEST(CsrBuild, HasNothingBehindRowsWithoutElements) {
  check<float>({.num_rows = 5, .num_cols = 9, .row_offsets = {0, 0, 0, 0, 0, 0}});
  check<double>(
      {.num_rows = 2, .num_cols = 1, .row_offsets = {0, 0, 1}, .col_indices = {0}, .values = {2.5}});
}

TEST(CsrBuild, TakesRowsThatBeginAnywhere) {
  const RandomMatrix all = random_matrix(6, 300, 200, 7, true);
  RandomMatrix some = all;  // the rows from 100 on, whose elements lie behind others
  some.row_offsets.erase(some.row_offsets.begin(), some.row_offsets.begin() + 100);
  some.num_rows = 200;
  ASSERT_GT(some.row_offsets[0], 0u);
  check<float>(some);
}

}  // namespace
}  // namespace tessera
