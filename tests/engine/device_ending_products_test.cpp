// Products that end in an update: a device's bits against a product and an update of the CPU. Skips, visibly,
// where no device answers.
#include "tests/support/device_case.hpp"

namespace tessera::test {
namespace {

template <class S>
class DeviceEndingProducts : public DeviceBackend<S> {
 protected:
  struct Ending {
    EndingUpdate update;
    bool squares, scaled;
    std::uint64_t num_rows;
    bool of_masses = false;
  };
  /// On the CPU a product and an update; on a device both at once.
  void expect_the_bits_of_the_cpu(const RandomMatrix& a, std::uint32_t tile_columns,
                                  std::uint32_t bin_messages, const Ending& how) {
    const ColumnOrder columns =
        order_columns_by_length(a.column_lengths(), tile_columns, 12, Remainder::narrow);
    const std::uint64_t n = how.num_rows, most = std::min<std::uint64_t>(n, columns.num_slots),
                        num_out = most - most / 5;
    std::vector<S> scale = random_values<S>(a.num_rows, 3), restart(a.num_rows, S{0});
    for (std::size_t i = 0; i < scale.size(); i += 3) scale[i] = S{0};
    if (how.update.restart_row != kNoVertex) restart[how.update.restart_row] = S{1};
    std::vector<VertexId> slots(num_out);
    std::iota(slots.rbegin(), slots.rend(), VertexId{0});
    this->expect_same([&](Backend<S>& backend) {
      const auto matrix = pack(backend, a, KernelKind::tile_messages, columns, {}, bin_messages);
      auto x = this->put(backend, random_x<S>(columns, 1));
      auto score = this->put(backend, random_values<S>(n, 4));
      const auto places = this->put(backend, slots);
      const auto numbers = how.scaled ? this->put(backend, scale) : Buffer<S>();
      const RowScale<S> scales = how.of_masses ? RowScale<S>::masses(numbers) : numbers;
      const InputTarget<S> target{&x, how.scaled ? in_small_tiles(num_out) : InputPlaces::listed_in(places)};
      const ExactScale bound(64.0);
      std::vector<VectorSums> sums;
      if (backend.memory_is_host()) {
        auto y = this->put(backend, std::vector<double>(a.num_rows, 0));
        matrix->apply(x, y, 1);
        const EndingUpdate& u = how.update;
        sums = backend
                   .rank_update({u.link, u.restart, u.constant}, y, {}, this->put(backend, restart), scales,
                                bound, how.squares, score, target)
                   .take();
      } else {
        // Nothing that a first step leaves behind may count.
        EXPECT_TRUE(matrix->prepare_to_end_with_updates());
        auto other_x = this->put(backend, std::vector<S>(x.size(), S{0}));
        const auto step = [&] {
          matrix->begin_for_update(x);
          return backend.end_with_update(*matrix, how.update, scales, bound, how.squares, score, target)
              .take();
        };
        x.swap(other_x);
        step();
        x.swap(other_x);
        this->put(backend, random_values<S>(n, 4)).swap(score);
        sums = step();
      }
      return std::tuple(limbs(sums.front()), this->get(backend, score), this->get(backend, x));
    });
  }
};
TYPED_TEST_SUITE(DeviceEndingProducts, Precisions);

TYPED_TEST(DeviceEndingProducts, HaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> mixed;
  for (std::uint64_t row = 0; row < 3000; ++row)
    mixed.push_back(row % 7 == 3 ? 0 : row % 100 == 8 ? 700 : row * row % 11);
  mixed.insert(mixed.end(), 500, 0);
  const RandomMatrix a = matrix_of_row_lengths(mixed, 5000);
  const std::uint64_t n = a.num_rows;
  const EndingUpdate rank{.link = 0.011, .constant = 0.05};
  // bins by the hundred, a few, one; rows of many messages, which a warp adds together; fewer rows than there
  // are
  for (const std::uint32_t bin_messages : {300u, 5000u, 20000u})
    for (const bool squares : {false, true})
      this->expect_the_bits_of_the_cpu(a, 64, bin_messages, {rank, squares, squares, squares ? n : n - 1000});
  // the row where a walk restarts: with messages, without any, behind all that have some
  for (const VertexId row : {VertexId{8}, VertexId{3}, static_cast<VertexId>(n - 1)})
    this->expect_the_bits_of_the_cpu(a, 512, 1000,
                                     {{.link = 0.01, .restart = 0.1, .restart_row = row}, false, true, n});
  this->expect_the_bits_of_the_cpu(matrix_of_row_lengths({0, 3}, 5), 8, 100, {rank, false, true, 2});
  for (const bool squares : {false, true})
    this->expect_the_bits_of_the_cpu(a, 512, 1000, {{.link = 0.011}, squares, true, n - 1000, true});
}

/// More bins than blocks, so that blocks go from one to the next. Not under the sanitizers: minutes.
TYPED_TEST(DeviceEndingProducts, OfLargeMatricesHaveTheBitsOfTheCpu) {
  const EndingUpdate rank{.link = 0.011, .constant = 0.05};
  const RandomMatrix many = random_matrix(7, 100000, 60000, 3, false),
                     full = random_matrix(8, 70000, 90000, 9, true),
                     kept = random_matrix(9, 70000, 90000, 200, false);  // messages stay in the cache
  const std::uint32_t whole = this->device_->tiling_limits().tile_columns;
  this->expect_the_bits_of_the_cpu(many, 64, 256, {rank, false, true, many.num_rows});
  this->expect_the_bits_of_the_cpu(full, whole, whole, {rank, true, true, full.num_rows});
  this->expect_the_bits_of_the_cpu(full, 4000, whole, {rank, false, true, full.num_rows});
  for (const bool squares : {false, true})
    this->expect_the_bits_of_the_cpu(kept, whole, whole, {rank, squares, true, kept.num_rows});
}

TYPED_TEST(DeviceEndingProducts, AreNotForMatricesWhoseRowsOneBlockWouldDo) {
  std::vector<std::uint64_t> lengths(150000, 0);
  for (std::uint64_t row = 70000; row < 71000; ++row) lengths[row] = 2;
  const auto can_end = [&](const std::vector<std::uint64_t>& of_rows) {
    const RandomMatrix a = matrix_of_row_lengths(of_rows, 3000);
    const ColumnOrder columns = order_columns_by_length(a.column_lengths(), 512, 12, Remainder::narrow);
    return pack(*this->device_, a, KernelKind::tile_messages, columns, {}, 4000)
        ->prepare_to_end_with_updates();
  };
  EXPECT_FALSE(can_end(lengths));
  EXPECT_FALSE(can_end(std::vector<std::uint64_t>(10, 0)));
  // idle rows behind all others are everybody's
  std::fill_n(lengths.begin(), 1000, 2);
  std::fill_n(lengths.begin() + 70000, 1000, 0);
  EXPECT_TRUE(can_end(lengths));
}

}  // namespace
}  // namespace tessera::test
