// Products in CSR on a device against the CPU's bits (of rows in fours the definition's): many rows, very
// long ones, one after the other; of one vector and of several.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "engine/tile_composite_builder.hpp"
#include "kernels/backend.hpp"
#include "kernels/devices.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/rows_in_fours.hpp"

namespace tessera::test {
namespace {

/// Rows of these lengths over columns that scatter, some of them repeated.
RandomMatrix matrix_of_lengths(const std::vector<std::uint64_t>& lengths, bool weighted) {
  RandomMatrix a;
  a.num_cols = 30011;
  a.num_rows = lengths.size();
  a.row_offsets.push_back(0);
  for (std::uint64_t row = 0; row < a.num_rows; ++row) {
    for (std::uint64_t k = 0; k < lengths[row]; ++k)
      a.col_indices.push_back(static_cast<VertexId>((k * 7919 + row * 31) % a.num_cols));
    a.row_offsets.push_back(a.col_indices.size());
  }
  for (std::size_t k = 0; weighted && k < a.col_indices.size(); ++k)
    a.values.push_back(0.25 + static_cast<double>(k % 97) / 31);
  return a;
}

/// Three products with three blocks of vectors, one behind the other, each into a poisoned y; of several
/// vectors with zeros where rows are empty, which such a product leaves alone.
template <class S>
std::vector<double> products(const RandomMatrix& a, Backend<S>& backend, unsigned num_vectors) {
  std::vector<VertexId> rows(a.num_rows);
  std::iota(rows.begin(), rows.end(), VertexId{0});
  const ColumnOrder columns = order_columns_as_given(a.column_lengths(), 65535);
  const auto csr = [&] { return build_csr_matrix<S>(a.view(), rows, columns); };
  const auto matrix = backend.make_matrix(csr());
  std::vector<Buffer<S>> xs;
  std::vector<Buffer<double>> ys;
  for (std::uint64_t run = 0; run < 3; ++run) {
    std::vector<S> host_x(columns.num_slots * num_vectors);
    for (std::size_t i = 0; i < host_x.size(); ++i)
      host_x[i] = S{1} / static_cast<S>(1 + (i * 37 + run * 11) % 1013);
    // Of several vectors inputs of the row that follows are read, too: no sum may know of them.
    if (num_vectors > 1 && run == 2)
      for (std::size_t i = 0; i < host_x.size(); i += 9973) host_x[i] = std::numeric_limits<S>::infinity();
    std::vector<double> host_y(a.num_rows * num_vectors, -7.0);
    for (std::size_t i = 0; num_vectors > 1 && i < host_y.size(); ++i)
      if (a.row_offsets[i / num_vectors] == a.row_offsets[i / num_vectors + 1]) host_y[i] = 0;
    Buffer<S> x = backend.template allocate<S>(host_x.size());
    Buffer<double> y = backend.template allocate<double>(host_y.size());
    backend.upload(host_x.data(), x.data(), x.size_bytes());
    backend.upload(host_y.data(), y.data(), y.size_bytes());
    xs.push_back(std::move(x));
    ys.push_back(std::move(y));
  }
  for (std::size_t run = 0; run < xs.size(); ++run)
    multiply_csr(backend, *matrix, csr, xs[run], ys[run], num_vectors);
  std::vector<double> all, host_y(ys[0].size());
  for (const Buffer<double>& y : ys) {
    backend.download(y.data(), host_y.data(), y.size_bytes());
    all.insert(all.end(), host_y.begin(), host_y.end());
  }
  return all;
}

template <class S>
void expect_the_bits_of_the_cpu(const std::vector<std::uint64_t>& lengths, unsigned num_vectors) {
  const auto host = make_backend<S>("cpu"), device = make_backend<S>("cuda");
  for (const bool weighted : {false, true}) {
    const RandomMatrix a = matrix_of_lengths(lengths, weighted);
    const std::vector<double> expected = products(a, *host, num_vectors),
                              found = products(a, *device, num_vectors);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], expected[i])
          << "run " << i / (a.num_rows * num_vectors) << ", row " << i / num_vectors % a.num_rows
          << ", vector " << i % num_vectors << (weighted ? ", weighted" : "");
  }
}

void expect_in_both_precisions(const std::vector<std::uint64_t>& lengths, unsigned num_vectors = 1) {
  expect_the_bits_of_the_cpu<float>(lengths, num_vectors);
  expect_the_bits_of_the_cpu<double>(lengths, num_vectors);
}

TEST(DeviceCsr, OfManyShortRowsHasTheBitsOfTheCpuEveryTime) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
  std::vector<std::uint64_t> sparse(1200000), denser(1200000);  // little staged, and much
  for (std::size_t row = 0; row < sparse.size(); ++row) {
    sparse[row] = row % 3 == 0 ? 1 : row % 5 == 0 ? 2 : 0;
    denser[row] = row % 4;
  }
  expect_in_both_precisions(sparse);
  expect_in_both_precisions(denser);
}

TEST(DeviceCsr, OfVeryLongRowsHasTheBitsOfTheCpuEveryTime) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
  // Of more chunks than a block has threads, too.
  std::vector<std::uint64_t> lengths = {65536, 3, 65537, 0, 200000, 1024, 1025, 256, 257, 2048, 2049, 1};
  expect_in_both_precisions(lengths);
  lengths.push_back(std::uint64_t{1} << 20);
  expect_in_both_precisions(lengths);
}

/// Blocks whose elements are all asked for at once, and the last of which reads behind the matrix.
TEST(DeviceCsr, OfBlocksThatAreNearlyFullHasTheBitsOfTheCpuEveryTime) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
  expect_in_both_precisions({5, 3 * 1024 + 900});  // pieces of 1,024
  std::vector<std::uint64_t> many(1000000, 3);     // blocks of 2,048
  many.push_back(1900);
  expect_in_both_precisions(many);
  many.back() = 3 * 2048 + 1900;
  expect_in_both_precisions(many);
}

TEST(DeviceCsr, OfSeveralVectorsHasTheBitsOfTheCpuEveryTime) {
  if (num_devices() == 0) GTEST_SKIP() << "no GPU answers here";
  std::vector<std::uint64_t> lengths = {512, 3, 513, 0, 2048, 2049, 1, 20000, 257, 4095, 700};
  for (const unsigned k : {2u, 4u, 8u, 9u, 12u, 16u, 20u, 25u, 28u, 32u, 33u, 36u, 70u, 100u})
    expect_in_both_precisions(lengths, k);
  for (std::uint64_t row = 0; row < 30000; ++row) lengths.push_back(row % 4);
  for (const unsigned k : {5u, 25u}) expect_in_both_precisions(lengths, k);
  expect_in_both_precisions({1, 0, 2}, 25);
}

}  // namespace
}  // namespace tessera::test
