// Inputs that a device writes to the memory of other ranks beside its own: they lie there as they do here,
// and nothing else is touched. That is memory of the same device here. Skips, visibly, where none answers.
#include "tests/support/device_case.hpp"

namespace tessera::test {
namespace {

std::vector<VertexId> spread(std::uint64_t n) {
  std::vector<VertexId> slots(n);
  for (std::uint64_t i = 0; i < n; ++i) slots[i] = static_cast<VertexId>(2 * (n - 1 - i) + 1);
  return slots;
}

template <class S>
class DeviceOtherRanks : public DeviceBackend<S> {
 protected:
  static constexpr S kUntouched = -7;

  /// put(target): leaves inputs of `num_inputs` rows at `slots` (in tiles where there are none) of a vector
  /// of `size` numbers.
  template <class Put>
  void expect_the_same_everywhere(std::uint64_t num_rows, unsigned num_vectors, std::uint64_t num_inputs,
                                  const std::vector<VertexId>& slots, const Put& put) {
    const std::uint64_t size = 2 * num_rows * num_vectors;
    const std::vector<S> before(size, kUntouched);
    Buffer<S> own = this->put(*this->device_, before), first = this->put(*this->device_, before),
              second = this->put(*this->device_, before);
    const Buffer<VertexId> places = this->put(*this->device_, slots);
    S* const others[] = {first.data(), second.data()};
    const InputPlaces where = slots.empty() ? in_small_tiles(num_inputs) : listed_in(places, num_inputs);
    put(InputTarget<S>{&own, where, others});
    Buffer<S> alone = this->put(*this->device_, before);
    put(InputTarget<S>{&alone, where});
    const std::vector<S> expected = this->get(*this->device_, alone);
    for (const Buffer<S>* written : {&own, &first, &second})
      EXPECT_EQ(this->get(*this->device_, *written), expected);
    EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count(expected, kUntouched)),
              size - num_inputs * num_vectors);
  }
  /// Products of `a` that end in updates, with and without squares; inputs in tiles, or spread.
  void expect_the_same_of_endings(const RandomMatrix& a, std::uint32_t tile_columns,
                                  std::uint32_t bin_messages, std::uint64_t num_inputs, bool in_tiles,
                                  const Buffer<S>& scale) {
    const std::uint64_t n = a.num_rows;
    const ColumnOrder columns =
        order_columns_by_length(a.column_lengths(), tile_columns, 12, Remainder::narrow);
    const auto x = this->put(*this->device_, random_x<S>(columns, 1));
    const auto matrix = pack(*this->device_, a, KernelKind::tile_messages, columns, {}, bin_messages);
    ASSERT_TRUE(matrix->prepare_to_end_with_updates());
    const EndingUpdate update{.link = 0.011, .constant = 0.05};
    for (const bool squares : {false, true})
      expect_the_same_everywhere(n, 1, num_inputs, in_tiles ? std::vector<VertexId>() : spread(n),
                                 [&](const InputTarget<S>& target) {
                                   auto score = this->put(*this->device_, random_values<S>(n, 3));
                                   matrix->begin_for_update(x);
                                   (void)this->device_
                                       ->end_with_update(*matrix, update, scale, ExactScale(64.0), squares,
                                                         score, target)
                                       .take();
                                 });
  }
};
TYPED_TEST_SUITE(DeviceOtherRanks, Precisions);

TYPED_TEST(DeviceOtherRanks, GetWhatIsPut) {
  const std::uint64_t n = 1000;
  for (const unsigned k : {1u, 5u}) {
    const Buffer<TypeParam> values = this->put(*this->device_, random_values<TypeParam>(n * k, 1));
    for (const auto& slots : {std::vector<VertexId>(), spread(n)})
      this->expect_the_same_everywhere(n, k, n, slots, [&](const InputTarget<TypeParam>& target) {
        this->device_->put_inputs(values, nullptr, k, target);
      });
  }
}

TYPED_TEST(DeviceOtherRanks, GetTheInputsOfRanks) {
  using S = TypeParam;
  for (const std::uint64_t n : {300u, 100003u}) {  // a row a thread, and several
    const auto y = this->put(*this->device_, random_values<double>(n, 1));
    const auto scale = this->put(*this->device_, random_values<S>(n, 2));
    for (const auto& slots : {std::vector<VertexId>(), spread(n)})
      this->expect_the_same_everywhere(n, 1, n - n / 5, slots, [&](const InputTarget<S>& target) {
        auto score = this->put(*this->device_, random_values<S>(n, 3));
        (void)this->device_
            ->rank_update({0.85, 0, 0.1}, y, {}, {}, scale, ExactScale(4.0), false, score, target)
            .take();
      });
  }
}

TYPED_TEST(DeviceOtherRanks, GetTheInputsOfWalks) {
  using S = TypeParam;
  const std::uint64_t n = 5000;
  for (const unsigned k : {1u, 3u, 40u}) {
    const auto y = this->put(*this->device_, random_values<double>(n * k, 1));
    const auto scale = this->put(*this->device_, random_values<S>(n, 2));
    const auto rows = this->put(*this->device_, std::vector<VertexId>(k, 17));
    this->expect_the_same_everywhere(n, k, n - n / 5, spread(n), [&](const InputTarget<S>& target) {
      auto walk = this->put(*this->device_, random_values<S>(n * k, 3));
      (void)this->device_
          ->walk_update({0.9, 0.1, rows, scale, ExactScale(4.0), false, {}}, y, {}, walk, target)
          .take();
    });
  }
}

TYPED_TEST(DeviceOtherRanks, GetTheInputsOfProductsThatEndInUpdates) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t row = 0; row < 3000; ++row) lengths.push_back(row % 7 == 3 ? 0 : row * row % 11);
  lengths.insert(lengths.end(), 500, 0);  // rows without messages
  const RandomMatrix a = matrix_of_row_lengths(lengths, 5000);
  for (const std::uint32_t bin_messages : {300u, 20000u})
    for (const bool in_tiles : {true, false})
      this->expect_the_same_of_endings(a, 512, bin_messages, a.num_rows - 100, in_tiles, {});
}

/// More bins than blocks, so that blocks go from one to the next; some have many rows, some few.
TYPED_TEST(DeviceOtherRanks, GetTheInputsOfManyBins) {
  std::vector<std::uint64_t> lengths(4000, 60);
  for (std::uint64_t row = 0; row < 90000; ++row) lengths.push_back(row % 7 == 3 ? 0 : row * row % 5);
  lengths.insert(lengths.end(), 5000, 0);
  const RandomMatrix a = matrix_of_row_lengths(lengths, 60000);
  const auto scale = this->put(*this->device_, random_values<TypeParam>(a.num_rows, 2));
  for (const std::uint64_t num_inputs : {a.num_rows, a.num_rows - 20000, a.num_rows / 2})
    this->expect_the_same_of_endings(a, 4000, 200, num_inputs, false, scale);
}

/// The same where messages are to stay in the cache: of copies that say so a compiler once made illegal
/// instructions (docs/performance.md).
TYPED_TEST(DeviceOtherRanks, OfLargeMatricesGetTheInputsOfManyBins) {
  const RandomMatrix a = random_matrix(7, 900000, 700000, 9, false);
  const std::uint32_t whole = this->device_->tiling_limits().tile_columns;
  const auto scale = this->put(*this->device_, random_values<TypeParam>(a.num_rows, 2));
  this->expect_the_same_of_endings(a, whole, 12000, a.num_rows - 20000, false, scale);
}

}  // namespace
}  // namespace tessera::test
