// Steps of ranks in one go: a device's bits against a product and an update of the CPU. Skips, visibly, where
// no device answers.
#include "tests/support/device_case.hpp"

namespace tessera::test {
namespace {

struct StepShape {
  bool squares = false, with_jump = false, scaled = true, chained = true;
  std::uint64_t num_unconnected = 0;  ///< rows at the end that have no score
};

template <class S>
class DeviceRankSteps : public DeviceBackend<S> {
 protected:
  /// Of a square matrix, five steps, of which two are started before the sums of the first are taken.
  void expect_the_bits_of_the_cpu(const RandomMatrix& a, const StepShape& shape) {
    SCOPED_TRACE(testing::Message() << a.num_rows << " rows, " << a.col_indices.size() << " elements"
                                    << (a.values.empty() ? "" : ", weighted")
                                    << (shape.squares ? ", squares" : "") << (shape.with_jump ? ", jump" : "")
                                    << (shape.scaled ? ", scaled" : "")
                                    << (shape.chained ? ", chained" : ""));
    this->expect_same([&](Backend<S>& backend) {
      const auto matrix = pack(backend, a, KernelKind::csr, original_column_order(a.num_cols), {}, 0);
      EXPECT_EQ(matrix->steps_ranks(), !backend.memory_is_host());
      return steps(backend, *matrix, a, shape);
    });
  }

 private:
  /// Sums of long rows of them are below the bound.
  static std::vector<S> small_values(std::size_t size, unsigned seed) {
    std::vector<S> values = random_values<S>(size, seed);
    for (S& value : values) value *= S(1e-7);
    return values;
  }
  /// Chained: a step is started before the sums of the one before are taken.
  template <class Step>
  static auto sums_of_five(const Step& step, bool chained) {
    std::vector<decltype(limbs({}))> sums;
    PendingSums now = step();
    for (int i = 0; i < 4; ++i) {
      if (!chained) sums.push_back(limbs(now.take().front()));
      PendingSums after = step();
      if (chained) sums.push_back(limbs(now.take().front()));
      now = std::move(after);
    }
    sums.push_back(limbs(now.take().front()));
    return sums;
  }
  auto steps(Backend<S>& backend, const Matrix<S>& matrix, const RandomMatrix& a, const StepShape& shape) {
    const std::uint64_t n = a.num_rows - shape.num_unconnected;
    std::vector<S> scale = small_values(n, 2), jump = random_values<S>(n, 3);
    for (std::size_t i = 0; i < n; i += 3) scale[i] = 0;
    std::vector<VertexId> places(n - n / 5);
    std::iota(places.rbegin(), places.rend(), VertexId{0});
    const auto scales = this->put(backend, shape.scaled ? scale : std::vector<S>()),
               jumps = this->put(backend, shape.with_jump ? jump : std::vector<S>());
    const auto slots = this->put(backend, places);
    const RankRule rule{.dangling = shape.with_jump ? Dangling::rescale : Dangling::uniform,
                        .jumps_anywhere = !shape.with_jump,
                        .num_vertices = a.num_rows,
                        .num_unconnected = shape.with_jump ? 0 : shape.num_unconnected};
    const RankUpdate first =
        shape.scaled ? rule.update_after({.linked = 0.75, .dangling = 0.25}) : RankUpdate{1e-7, 0.1, 1e-6};
    RankChain<S> chain{rule, this->put(backend, std::vector<RankUpdate>{first}),
                       this->put(backend, std::vector<S>(n, S{-5}))};
    auto score = this->put(backend, random_values<S>(n, 4)),
         x = this->put(backend, small_values(a.num_cols, 5)),
         next = this->put(backend, small_values(a.num_cols, 6));
    const auto step = [&] {
      x.swap(next);
      const InputTarget<S> target{&x, shape.scaled ? &slots : nullptr, places.size()};
      RankChain<S>* const links = shape.chained ? &chain : nullptr;
      if (!backend.memory_is_host())
        return backend.step_ranks(matrix, first, next, jumps, scales, ExactScale(4.0), shape.squares, score,
                                  target, links);
      auto y = this->put(backend, std::vector<double>(a.num_rows, 0.0));
      matrix.apply(next, y, 1);
      return backend.rank_update(first, y, {}, jumps, scales, ExactScale(4.0), shape.squares, score, target,
                                 links);
    };
    const auto sums = sums_of_five(step, shape.chained);
    std::vector<double> left;
    for (const RankUpdate& update : this->get(backend, chain.next))
      left.insert(left.end(), {update.link, update.teleport, update.constant});
    return std::tuple(sums, left, this->get(backend, score), this->get(backend, chain.before),
                      this->get(backend, x), this->get(backend, next));
  }
};
TYPED_TEST_SUITE(DeviceRankSteps, Precisions);

TYPED_TEST(DeviceRankSteps, HaveTheBitsOfTheCpu) {
  for (const bool weighted : {false, true}) {
    const RandomMatrix a = random_matrix(7, 1500, 1500, 20, weighted);
    for (const bool squares : {false, true})
      for (const bool with_jump : {false, true})
        this->expect_the_bits_of_the_cpu(a, {squares, with_jump, true, true, with_jump ? 0u : 200u});
    this->expect_the_bits_of_the_cpu(a, {.scaled = false, .chained = false});
    this->expect_the_bits_of_the_cpu(a, {.squares = true, .with_jump = true, .chained = false});
  }
}

/// Rows of no elements, of some, of whole and of many chunks, and of several blocks, next to each other.
TYPED_TEST(DeviceRankSteps, OfRowsOfAllLengthsHaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t length : {0, 1, 7, 8, 255, 4097, 0, 256, 257, 1024, 1025, 600, 17000, 512, 513, 3})
    lengths.insert(lengths.end(), {length, 1, 0, length});
  lengths.resize(4000, 2);
  RandomMatrix a = matrix_of_row_lengths(lengths, 20000);
  this->expect_the_bits_of_the_cpu(a, {});
  this->expect_the_bits_of_the_cpu(a, {.squares = true, .with_jump = true});
  a.values = random_values<double>(a.col_indices.size(), 4);
  this->expect_the_bits_of_the_cpu(a, {});
  for (const std::uint64_t length : {0, 1, 5000})
    this->expect_the_bits_of_the_cpu(matrix_of_row_lengths({length}, std::max<std::uint64_t>(length, 1)), {});
}

}  // namespace
}  // namespace tessera::test
