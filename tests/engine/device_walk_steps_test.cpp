// Steps of walks in one go: a device's bits against a product and an update of the CPU, or of the definition
// where rows are added up in fours. Skips, visibly, where no device answers.
#include "tests/support/device_case.hpp"
#include "tests/support/rows_in_fours.hpp"

namespace tessera::test {
namespace {

struct StepShape {
  unsigned num_vectors;
  bool squares, scaled, further = false;
};

/// What walks by a matrix start with. They end with its last row that has elements.
template <class S>
struct WalkCase {
  const RandomMatrix& matrix;
  StepShape shape;
  std::uint64_t num_rows = 0;
  ColumnOrder columns;
  std::vector<VertexId> slots, restart_rows;
  std::vector<S> x, before, scales, origin;
  std::vector<double> weights;

  WalkCase(const RandomMatrix& a, const StepShape& how, std::uint32_t tile_columns)
      : matrix(a), shape(how), columns(order_columns_by_length(a.column_lengths(), tile_columns)) {
    const unsigned k = shape.num_vectors;
    num_rows = a.num_rows;
    while (num_rows > 1 && is_empty(num_rows - 1)) --num_rows;
    slots.resize(shape.scaled ? num_rows - num_rows / 5 : num_rows);
    std::iota(slots.rbegin(), slots.rend(), VertexId{0});
    // Some walks restart where a row has no elements, some nowhere.
    for (unsigned q = 0; q < k; ++q)
      restart_rows.push_back(q % 5 == 4 ? kNoVertex : static_cast<VertexId>(q * 41 % num_rows));
    x = random_x<S>(columns, k);
    if (shape.scaled) scales = random_values<S>(num_rows, 3);
    before = zero_where_empty(random_values<S>(num_rows * k, 2));
    for (unsigned q = 0; q < k; ++q)
      if (restart_rows[q] != kNoVertex) before[restart_rows[q] * k + q] = S(0.75);
    if (!shape.further) return;
    origin = before;
    for (S& number : origin) number = number * S(0.5) + number * number;
    for (unsigned q = 0; q < k; ++q) weights.push_back(q % 4 == 1 ? 1.0 : 1.02 + 0.015 * q);
  }
  bool is_empty(std::uint64_t row) const { return matrix.row_offsets[row] == matrix.row_offsets[row + 1]; }
  /// Of numbers of all vectors, row by row, those of rows with elements.
  template <class T>
  std::vector<T> zero_where_empty(std::vector<T> numbers) const {
    for (std::uint64_t i = 0; i < numbers.size(); ++i)
      if (is_empty(i / shape.num_vectors)) numbers[i] = T{0};
    return numbers;
  }
  std::uint64_t num_scores() const { return num_rows * shape.num_vectors; }
};

template <class S>
class DeviceWalkSteps : public DeviceBackend<S> {
 protected:
  void expect_the_bits_of_the_cpu(const RandomMatrix& a, const StepShape& shape) {
    SCOPED_TRACE(testing::Message() << a.num_rows << " rows, " << a.col_indices.size() << " elements, "
                                    << shape.num_vectors << " vectors"
                                    << (a.values.empty() ? "" : ", weighted")
                                    << (shape.squares ? ", squares" : "") << (shape.scaled ? ", scaled" : "")
                                    << (shape.further ? ", further" : ""));
    const WalkCase<S> walks(a, shape, this->device_->tiling_limits().tile_columns);
    this->expect_same([&](Backend<S>& backend) {
      const auto matrix = pack(backend, a, KernelKind::csr, walks.columns, {}, 0);
      step(backend, *matrix, walks);
      return step(backend, *matrix, walks);  // nothing that the first one leaves behind may count
    });
  }

  /// Sums, scores, and what goes to the next inputs: of the CPU by a product and an update.
  auto step(Backend<S>& backend, const Matrix<S>& matrix, const WalkCase<S>& walks) {
    const auto x = this->put(backend, walks.x), scales = this->put(backend, walks.scales);
    const auto restarts = this->put(backend, walks.restart_rows), places = this->put(backend, walks.slots);
    const WalkUpdate<S> update{0.9,          0.1, restarts, scales, ExactScale(1e9), walks.shape.squares,
                               walks.weights};
    auto origin = this->put(backend, walks.origin);
    Buffer<S>* const from = walks.shape.further ? &origin : nullptr;
    auto start = this->put(backend, walks.before),
         next = this->put(backend, std::vector<S>(2 * walks.num_scores(), S{0}));
    const InputTarget<S> target{
        &next, walks.shape.scaled ? in_small_tiles(walks.slots.size()) : InputPlaces::listed_in(places)};
    if (backend.memory_is_host()) {
      const auto y = this->put(backend, product(backend, matrix, walks, 0.0));
      const auto sums = backend.walk_update(update, y, {}, start, target, from).take();
      return std::tuple(all_limbs(sums), this->get(backend, start), this->get(backend, next));
    }
    auto walk = this->put(backend, walks.zero_where_empty(std::vector<S>(walks.num_scores(), S{-7})));
    const auto sums = backend.step_walks(matrix, update, x, start, walk, target, from).take();
    EXPECT_EQ(this->get(backend, start), walks.before);
    EXPECT_EQ(this->get(backend, origin), walks.origin);
    return std::tuple(all_limbs(sums), this->get(backend, walk), this->get(backend, next));
  }

  /// Into a y full of `poison`.
  std::vector<double> product(Backend<S>& backend, const Matrix<S>& matrix, const WalkCase<S>& walks,
                              double poison = -7) {
    const unsigned k = walks.shape.num_vectors;
    std::vector<double> sums = walks.zero_where_empty(std::vector<double>(walks.matrix.num_rows * k, poison));
    const auto x = this->put(backend, walks.x);
    auto y = this->put(backend, sums);
    multiply_csr(
        backend, matrix, [&] { return csr_of<S>(walks.matrix, walks.columns); }, x, y, k);
    return this->get(backend, y);
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
    for (const unsigned k : {2u, 9u, 16u, 17u, 25u, 32u, 33u, 64u})
      this->expect_the_bits_of_the_cpu(a, {k, k % 2 == 1, k % 3 != 0, true});
  }
}

/// Rows of no elements, of some, of whole and of many chunks, next to each other.
TYPED_TEST(DeviceWalkSteps, OfRowsOfAllLengthsHaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t length : {0, 1, 7, 8, 255, 4097, 0, 256, 257, 4096, 600, 17000, 512, 513, 3})
    lengths.insert(lengths.end(), {length, 1, 0, length});
  RandomMatrix a = matrix_of_row_lengths(lengths, 20000);
  for (const unsigned k : {5u, 12u, 24u, 31u, 40u})
    for (const bool squares : {false, true}) {
      this->expect_the_bits_of_the_cpu(a, {k, squares, !squares});
      this->expect_the_bits_of_the_cpu(a, {k, squares, squares, true});
    }
  a.values = random_values<double>(a.col_indices.size(), 4);
  for (const unsigned k : {5u, 24u, 40u})
    for (const bool further : {false, true}) this->expect_the_bits_of_the_cpu(a, {k, true, true, further});
  this->expect_the_bits_of_the_cpu(matrix_of_row_lengths({0, 0, 0}, 5), {24, false, false});
  this->expect_the_bits_of_the_cpu(matrix_of_row_lengths({3}, 5), {3, true, false});
}

/// Walks end where a matrix still has rows, which are empty.
TYPED_TEST(DeviceWalkSteps, ShorterThanTheMatrixHaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> lengths(3000, 9);
  lengths.resize(5000, 0);
  for (const unsigned k : {3u, 16u, 25u})
    for (const bool scaled : {false, true})
      this->expect_the_bits_of_the_cpu(matrix_of_row_lengths(lengths, 3000), {k, true, scaled});
}

/// They share what a matrix keeps for products of blocks: room for the sums of cut rows, counters.
TYPED_TEST(DeviceWalkSteps, AndProductsInTurnHaveTheBitsOfTheCpu) {
  const RandomMatrix a = matrix_of_row_lengths({20000, 3, 0, 5000, 600, 9, 4097, 1}, 20000);
  const std::uint32_t tile_columns = this->device_->tiling_limits().tile_columns;
  for (const unsigned k : {5u, 24u, 40u}) {
    const WalkCase<TypeParam> walks(a, {k, false, true}, tile_columns),
        few(a, {2, true, false}, tile_columns);
    this->expect_same([&](Backend<TypeParam>& backend) {
      const auto matrix = pack(backend, a, KernelKind::csr, walks.columns, {}, 0);
      const auto first = this->product(backend, *matrix, few);
      const auto stepped = this->step(backend, *matrix, walks);
      const auto second = this->product(backend, *matrix, walks);
      const auto stepped_again = this->step(backend, *matrix, few);
      return std::tuple(first, stepped, second, stepped_again, this->product(backend, *matrix, few));
    });
  }
}

/// More runs than run at once, so that blocks go from one to the next. Not under the sanitizers: minutes.
TYPED_TEST(DeviceWalkSteps, OfLargeMatricesHaveTheBitsOfTheCpu) {
  RandomMatrix a = random_matrix(9, 60000, 60000, 60, false);
  for (const unsigned k : {4u, 24u, 30u, 64u, 100u}) this->expect_the_bits_of_the_cpu(a, {k, k == 64, true});
  a.values = random_values<double>(a.col_indices.size(), 4);
  for (const unsigned k : {24u, 68u}) this->expect_the_bits_of_the_cpu(a, {k, k == 68, true});
  for (const unsigned k : {24u, 48u}) this->expect_the_bits_of_the_cpu(a, {k, k == 48, true, true});
  // A run a row, of groups of 8, 16 and 32 threads.
  std::vector<std::uint64_t> apart(80000, 0);
  for (std::size_t row = 0; row < apart.size(); row += 2) apart[row] = 3;
  for (const unsigned k : {4u, 12u, 24u})
    this->expect_the_bits_of_the_cpu(matrix_of_row_lengths(apart, 5000), {k, false, true});
}

}  // namespace
}  // namespace tessera::test
