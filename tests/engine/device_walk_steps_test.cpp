// Steps of walks in one go: a device's bits against a product and an update of the CPU. Skips, visibly, where
// no device answers.
#include "tests/support/device_case.hpp"

namespace tessera::test {
namespace {

struct StepShape {
  unsigned num_vectors;
  bool squares, scaled;
};

/// Where rows have elements `other`, else 0.
template <class S>
std::vector<S> zero_where_empty(const RandomMatrix& a, unsigned k, std::vector<S> other) {
  for (std::uint64_t i = 0; i < other.size(); ++i)
    if (a.row_offsets[i / k] == a.row_offsets[i / k + 1]) other[i] = S{0};
  return other;
}

template <class S>
class DeviceWalkSteps : public DeviceBackend<S> {
 protected:
  void expect_the_bits_of_the_cpu(const RandomMatrix& a, const StepShape& shape) {
    SCOPED_TRACE(
        testing::Message() << a.num_rows << " rows, " << a.col_indices.size() << " elements, "
                           << shape.num_vectors << " vectors" << (a.values.empty() ? "" : ", weighted")
                           << (shape.squares ? ", squares" : "") << (shape.scaled ? ", scaled" : ""));
    const ColumnOrder columns =
        order_columns_by_length(a.column_lengths(), this->device_->tiling_limits().tile_columns);
    const unsigned k = shape.num_vectors;
    const std::uint64_t n = a.num_rows;
    std::vector<VertexId> slots(shape.scaled ? n - n / 5 : n);
    std::iota(slots.rbegin(), slots.rend(), VertexId{0});
    // Some walks restart where a row has no elements, some nowhere.
    std::vector<VertexId> restart_rows(k);
    for (unsigned q = 0; q < k; ++q)
      restart_rows[q] = q % 5 == 4 ? kNoVertex : static_cast<VertexId>(q * 41 % n);
    std::vector<S> before = zero_where_empty(a, k, random_values<S>(n * k, 2));
    for (unsigned q = 0; q < k; ++q)
      if (restart_rows[q] != kNoVertex) before[restart_rows[q] * k + q] = S(0.75);
    this->expect_same([&](Backend<S>& backend) {
      const auto matrix = pack(backend, a, KernelKind::csr, columns, {}, 0);
      const auto x = this->put(backend, random_x<S>(columns, k));
      const auto rows = this->put(backend, restart_rows), places = this->put(backend, slots);
      const auto scales = shape.scaled ? this->put(backend, random_values<S>(n, 3)) : Buffer<S>();
      const WalkUpdate<S> update{0.9, 0.1, rows, scales, ExactScale(1e9), shape.squares};
      auto start = this->put(backend, before), next = this->put(backend, std::vector<S>(n * k, S{0}));
      const InputTarget<S> target{&next, shape.scaled ? &places : nullptr, slots.size()};
      if (backend.memory_is_host()) {
        auto y = this->put(backend, std::vector<double>(n * k, 0.0));
        matrix->apply(x, y, k);
        const auto sums = backend.walk_update(update, y, {}, start, target).take();
        return std::tuple(all_limbs(sums), this->get(backend, start), this->get(backend, next));
      }
      std::vector<VectorSums> sums;
      Buffer<S> walk;
      for (int again = 0; again < 2; ++again) {  // nothing that the first step leaves behind may count
        walk = this->put(backend, zero_where_empty(a, k, std::vector<S>(n * k, S{-7})));
        sums = backend.step_walks(*matrix, update, x, start, walk, target).take();
      }
      EXPECT_EQ(this->get(backend, start), before);
      return std::tuple(all_limbs(sums), this->get(backend, walk), this->get(backend, next));
    });
  }

 private:
  static auto all_limbs(const std::vector<VectorSums>& sums) {
    std::vector<std::vector<std::vector<std::int64_t>>> all;
    for (const VectorSums& one : sums) all.push_back(limbs(one));
    return all;
  }
};
TYPED_TEST_SUITE(DeviceWalkSteps, Precisions);

TYPED_TEST(DeviceWalkSteps, HaveTheBitsOfTheCpu) {
  for (const bool weighted : {false, true}) {
    const RandomMatrix a = random_matrix(7, 3000, 5000, 20, weighted);
    for (const unsigned k : {2u, 8u, 9u, 16u, 17u, 24u, 25u, 32u, 33u, 70u})
      this->expect_the_bits_of_the_cpu(a, {k, k % 2 == 0, k % 3 != 0});
  }
}

/// Rows of no elements, of some, of whole and of many chunks, next to each other.
TYPED_TEST(DeviceWalkSteps, OfRowsOfAllLengthsHaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t length : {0, 1, 7, 8, 255, 4097, 0, 256, 257, 4096, 600, 17000, 512, 513, 3})
    lengths.insert(lengths.end(), {length, 1, 0, length});
  const RandomMatrix a = matrix_of_row_lengths(lengths, 20000);
  for (const unsigned k : {5u, 12u, 24u, 31u, 40u})
    for (const bool squares : {false, true}) this->expect_the_bits_of_the_cpu(a, {k, squares, !squares});
  this->expect_the_bits_of_the_cpu(matrix_of_row_lengths({0, 0, 0}, 5), {24, false, false});
  this->expect_the_bits_of_the_cpu(matrix_of_row_lengths({3}, 5), {3, true, false});
}

/// More runs than run at once, so that blocks go from one to the next. Not under the sanitizers: minutes.
TYPED_TEST(DeviceWalkSteps, OfLargeMatricesHaveTheBitsOfTheCpu) {
  const RandomMatrix a = random_matrix(9, 60000, 60000, 60, false);
  for (const unsigned k : {4u, 24u, 30u, 64u}) this->expect_the_bits_of_the_cpu(a, {k, k == 64, true});
  // A run a row, of groups of 8, 16 and 32 threads.
  std::vector<std::uint64_t> apart(80000, 0);
  for (std::size_t row = 0; row < apart.size(); row += 2) apart[row] = 3;
  for (const unsigned k : {4u, 12u, 24u})
    this->expect_the_bits_of_the_cpu(matrix_of_row_lengths(apart, 5000), {k, false, true});
}

}  // namespace
}  // namespace tessera::test
