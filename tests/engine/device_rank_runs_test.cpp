// Runs of steps of ranks without the host: a device's bits against products and updates of the CPU, one by
// one. Skips, visibly, where no device answers.
#include <initializer_list>
#include <optional>
#include <sstream>

#include "kernels/cuda/run_cluster.hpp"
#include "tests/support/device_case.hpp"
#include "tests/support/step_sums.hpp"

namespace tessera::test {
namespace {

enum class Scales { none, inputs, masses };

struct RunShape {
  bool squares = false, with_jump = false;
  Scales scales = Scales::inputs;
  std::uint64_t num_unconnected = 0;  ///< rows at the end that have no score
  Norm norm = Norm::l1;
  std::optional<Dangling> dangling = {};  ///< of shares of 1; else `rescale` with a jump, `uniform` without
  bool has_inputs = true;                 ///< else nobody reads any row

  Dangling rule() const { return dangling.value_or(with_jump ? Dangling::rescale : Dangling::uniform); }
  std::string name() const {
    std::ostringstream out;
    out << (squares ? "squares, " : "") << (with_jump ? "jump, " : "") << (has_inputs ? "" : "no inputs, ")
        << "scales " << static_cast<int>(scales) << ", " << num_unconnected << " rows unconnected, norm "
        << static_cast<int>(norm) << ", rule " << static_cast<int>(rule()) << (dangling ? ", shares" : "");
    return out.str();
  }
};

template <class S>
class DeviceRankRuns : public DeviceBackend<S> {
 protected:
  /// Of a square matrix: a run, one that a tolerance ends, and one of fewer steps.
  void expect_the_bits_of_the_cpu(const RandomMatrix& a, const RunShape& shape) {
    SCOPED_TRACE(testing::Message() << a.num_rows << " rows, " << a.col_indices.size() << " elements"
                                    << (a.values.empty() ? ", " : ", weighted, ") << shape.name());
    this->expect_same([&](Backend<S>& backend) {
      const auto matrix = pack(backend, a, KernelKind::csr, original_column_order(a.num_cols), {}, 0);
      EXPECT_EQ(matrix->prepare_to_run_steps(), !backend.memory_is_host());
      return runs(backend, *matrix, a, shape);
    });
  }

 private:
  /// Sums of long rows of them are below the bound.
  static std::vector<S> small_values(std::size_t size, unsigned seed) {
    std::vector<S> values = random_values<S>(size, seed);
    for (S& value : values) value *= S(1e-7);
    return values;
  }
  /// Scores, or where walks jump to.
  static std::vector<S> numbers(std::uint64_t size, unsigned seed, const RunShape& shape) {
    std::vector<S> values = random_values<S>(size, seed);
    if (shape.dangling)
      for (S& value : values) value /= static_cast<S>(size);
    return values;
  }
  struct Vectors {
    Buffer<S> jump, scale;
    Buffer<VertexId> slots;
    InputPlaces places;
  };
  /// Without a backend that can, step by step.
  std::vector<VectorSums> run(Backend<S>& backend, const Matrix<S>& matrix, const RandomMatrix& a,
                              const RankRun& how, const Vectors& v, const RunShape& shape,
                              const Buffer<S>& start, Buffer<S>& score) {
    const RowScale<S> scale =
        shape.scales == Scales::masses ? RowScale<S>::masses(v.scale) : RowScale<S>(v.scale);
    const ExactScale bound(4.0);
    if (!backend.memory_is_host())
      return all_of(
          backend.run_rank_steps(matrix, how, start, v.jump, scale, bound, shape.squares, v.places, score));
    std::copy(start.begin(), start.end(), score.begin());
    auto x = this->put(backend, std::vector<S>(a.num_cols, S{0}));
    const InputTarget<S> target{&x, v.places};
    backend.put_inputs(score, scale.of_inputs(), 1, target);
    std::vector<VectorSums> sums;
    for (RankUpdate update = how.first;;) {
      auto y = this->put(backend, std::vector<double>(a.num_rows, 0.0));
      matrix.apply(x, y, 1);
      const VectorSums last =
          backend.rank_update(update, y, {}, v.jump, scale, bound, shape.squares, score, target)
              .take()
              .front();
      sums.push_back(last);
      if (how.ends_after(static_cast<unsigned>(sums.size()),
                         change_in(how.norm, last.change_l1, last.change_squares, last.change_max, bound)))
        return sums;
      update = how.rule.template update_after<S>(update, last.total, last.dangling, bound);
    }
  }
  auto runs(Backend<S>& backend, const Matrix<S>& matrix, const RandomMatrix& a, const RunShape& shape) {
    const std::uint64_t n = a.num_rows - shape.num_unconnected;
    std::vector<S> scale = small_values(n, 2);
    for (std::size_t i = 0; i < n; i += 3) scale[i] = 0;
    std::vector<VertexId> places(a.num_cols);
    std::iota(places.rbegin(), places.rend(), VertexId{0});
    places.resize(shape.has_inputs ? n - n / 5 : 0);  // the last rows are nobody's inputs
    Vectors v{this->put(backend, shape.with_jump ? numbers(n, 3, shape) : std::vector<S>()),
              this->put(backend, shape.scales == Scales::none ? std::vector<S>() : scale),
              this->put(backend, places),
              {}};
    v.places =
        shape.scales == Scales::masses ? InputPlaces::listed_in(v.slots) : in_small_tiles(places.size());
    RankRun how{.rule = {.dangling = shape.rule(),
                         .jumps_anywhere = !shape.with_jump,
                         .num_vertices = a.num_rows,
                         .num_unconnected = shape.with_jump ? 0 : shape.num_unconnected},
                .first = {}};
    how.rule.damping = shape.scales == Scales::inputs ? 0.85 : 1e-7;
    how.first = how.rule.update_after({.linked = 0.75, .dangling = 0.25});
    how.most_steps = 7;
    how.norm = shape.norm;
    const auto start = this->put(backend, numbers(n, 4, shape));
    auto first = this->put(backend, std::vector<S>(n, S{-5})),
         second = this->put(backend, std::vector<S>(n, S{-5}));
    std::vector<std::vector<VectorSums>> sums;
    sums.push_back(run(backend, matrix, a, how, v, shape, start, first));
    RankRun next = how;
    next.most_steps = RankRun::kMostSteps;
    const VectorSums& fourth = sums[0].at(3);
    next.tolerance =
        change_in(how.norm, fourth.change_l1, fourth.change_squares, fourth.change_max, ExactScale(4.0));
    sums.push_back(run(backend, matrix, a, next, v, shape, start, second));
    how.most_steps = 4;
    sums.push_back(run(backend, matrix, a, how, v, shape, start, first));
    std::vector<std::vector<decltype(limbs({}))>> all;
    for (const auto& of_run : sums) {
      all.emplace_back();
      for (const VectorSums& of_step : of_run) all.back().push_back(limbs(of_step));
    }
    EXPECT_EQ(all[0].size(), 7u);
    EXPECT_GT(all[1].size(), 1u);
    EXPECT_LE(all[1].size(), 4u);
    EXPECT_EQ(all[2].size(), 4u);
    return std::tuple(all, this->get(backend, first), this->get(backend, second), this->get(backend, start));
  }
};
TYPED_TEST_SUITE(DeviceRankRuns, Precisions);

TYPED_TEST(DeviceRankRuns, HaveTheBitsOfTheCpu) {
  for (const bool weighted : {false, true}) {
    RandomMatrix a = random_matrix(7, 1500, 1300, 20, weighted);
    a.num_cols = 1500;
    for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf})
      for (const bool with_jump : {false, true})
        this->expect_the_bits_of_the_cpu(
            a, {norm == Norm::l2, with_jump, Scales::inputs, with_jump ? 0u : 200u, norm});
    this->expect_the_bits_of_the_cpu(a, {.scales = Scales::none});
    this->expect_the_bits_of_the_cpu(a, {.squares = true, .with_jump = true, .scales = Scales::masses});
  }
}

/// Rows of no elements, of a thread, of one and of many chunks, and of several blocks, next to each other.
TYPED_TEST(DeviceRankRuns, OfRowsOfAllLengthsHaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t length :
       {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1024, 1025, 600, 4095, 4096, 4097, 17000})
    lengths.insert(lengths.end(), {length, 1, 0, length});
  lengths.resize(20000, 2);
  RandomMatrix a = matrix_of_row_lengths(lengths, 20000);
  this->expect_the_bits_of_the_cpu(a, {});
  this->expect_the_bits_of_the_cpu(a, {.squares = true, .with_jump = true});
  a.values = random_values<double>(a.col_indices.size(), 4);
  this->expect_the_bits_of_the_cpu(a, {});
  for (const std::uint64_t length : {1, 5000}) {
    std::vector<std::uint64_t> one(std::max<std::uint64_t>(length, 1), 0);
    one.front() = length;
    this->expect_the_bits_of_the_cpu(matrix_of_row_lengths(one, one.size()), {});
  }
}

/// Rows of no elements, of every number that a lane has, of one and of many chunks, of some blocks none, and
/// several a thread.
TYPED_TEST(DeviceRankRuns, InAClusterHaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> all;
  for (const std::uint64_t length :
       {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 513, 600, 1000})
    all.insert(all.end(), {length, 1, 0, length});
  all.resize(2000, 2);
  const std::vector<std::uint64_t> many(sizeof(TypeParam) == 4 ? 11000 : 6000, 1), one_long{5000, 1, 1};
  for (const auto& lengths : {all, many, one_long, {1}, {3, 3}}) {
    const std::uint64_t size = std::max<std::uint64_t>(lengths.size(), lengths[0]);
    std::vector<std::uint64_t> rows = lengths;
    rows.resize(size, 0);
    RandomMatrix a = matrix_of_row_lengths(rows, size);
    ASSERT_TRUE(cuda::pays_in_cluster(size, a.col_indices.size(), sizeof(TypeParam)));
    for (const Norm norm : {Norm::l1, Norm::linf})
      for (const std::optional<Dangling> dangling : std::initializer_list<std::optional<Dangling>>{
               {}, Dangling::uniform, Dangling::personalization, Dangling::drop, Dangling::rescale})
        for (const bool with_jump : {false, true})
          this->expect_the_bits_of_the_cpu(a, {.with_jump = with_jump,
                                               .num_unconnected = with_jump ? 0 : size / 3,
                                               .norm = norm,
                                               .dangling = dangling});
    this->expect_the_bits_of_the_cpu(a, {.scales = Scales::none});
    this->expect_the_bits_of_the_cpu(a, {.scales = Scales::masses});
    this->expect_the_bits_of_the_cpu(a, {.with_jump = true, .has_inputs = false});
    a.values = random_values<double>(a.col_indices.size(), 4, -1);  // of which some meet inputs of 0
    this->expect_the_bits_of_the_cpu(a, {.num_unconnected = size / 3, .norm = Norm::linf});
    this->expect_the_bits_of_the_cpu(a, {.with_jump = true, .scales = Scales::masses});
  }
}

/// Up to two, four and six elements a thread, and more: kernels of their own. Rows are so few that even
/// shares of them are smaller than that (on 27 multiprocessors and more).
TYPED_TEST(DeviceRankRuns, OfBlocksOfAllSizesHaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> lengths(9000, 3);
  for (const std::uint64_t longest : {600, 1024, 1025, 2048, 2049, 3072, 3073, 4096}) {
    lengths[777] = longest;
    RandomMatrix a = matrix_of_row_lengths(lengths, lengths.size());
    ASSERT_FALSE(cuda::pays_in_cluster(a.num_rows, a.col_indices.size(), sizeof(TypeParam)));
    for (const bool weighted : {false, true}) {
      if (weighted) a.values = random_values<double>(a.col_indices.size(), 4);
      this->expect_the_bits_of_the_cpu(a, {.num_unconnected = 3000, .norm = Norm::linf});
      this->expect_the_bits_of_the_cpu(a, {.squares = true, .with_jump = true, .norm = Norm::l2});
    }
  }
}

/// More rows than threads in every block, and as many as still are kept by a block each.
TYPED_TEST(DeviceRankRuns, OfManyRowsHaveTheBitsOfTheCpu) {
  this->expect_the_bits_of_the_cpu(matrix_of_row_lengths(std::vector<std::uint64_t>(90000, 3), 90000), {});
}

/// Windows with rows of all lengths: of some hundred and of some thousand rows, of inputs that rows share and
/// of such that they do not.
TYPED_TEST(DeviceRankRuns, ByWindowHaveTheBitsOfTheCpu) {
  for (const std::uint64_t num_rows : {140000, 300000, 400000}) {
    std::vector<std::uint64_t> lengths(num_rows, 3);
    std::mt19937_64 random(num_rows);
    for (const std::uint64_t length :
         {0, 8, 9, 16, 17, 64, 255, 256, 257, 1024, 1025, 600, 4095, 4096, 4097, 9000})
      for (int i = 0; i < 4; ++i) lengths[random() % num_rows] = length;
    RandomMatrix a = matrix_of_row_lengths(lengths, num_rows);
    this->expect_the_bits_of_the_cpu(a, {});
    this->expect_the_bits_of_the_cpu(
        a, {.squares = true, .with_jump = true, .scales = Scales::masses, .norm = Norm::l2});
    a.values = random_values<double>(a.col_indices.size(), 4);
    this->expect_the_bits_of_the_cpu(a, {.num_unconnected = num_rows / 3, .norm = Norm::linf});
  }
  // Long rows alone, and all of the same inputs.
  const RandomMatrix a = matrix_of_row_lengths(std::vector<std::uint64_t>(1000, 1500), 1000);
  this->expect_the_bits_of_the_cpu(a, {});
}

/// More rows than are looked at, none, and a row of more inputs than a window has room for.
TYPED_TEST(DeviceRankRuns, AreOfMatricesThatFitOnly) {
  std::vector<std::uint64_t> one_long(200000, 3);
  one_long[777] = 90000;
  for (const auto& lengths : {std::vector<std::uint64_t>(2200000, 3), {}, one_long}) {
    const RandomMatrix a = matrix_of_row_lengths(lengths, lengths.size());
    const auto matrix = pack(*this->device_, a, KernelKind::csr, original_column_order(a.num_cols), {}, 0);
    EXPECT_FALSE(matrix->prepare_to_run_steps());
    EXPECT_FALSE(matrix->prepare_to_run_steps());
  }
}

/// A small one with a large one goes by windows, too; not all that fit by themselves fit together.
TYPED_TEST(DeviceRankRuns, OfPairsAreOfMatricesThatFitTogether) {
  const auto packed = [&](const std::vector<std::uint64_t>& lengths, std::uint64_t num_cols) {
    return pack(*this->device_, matrix_of_row_lengths(lengths, num_cols), KernelKind::csr,
                original_column_order(num_cols), {}, 0);
  };
  std::vector<std::uint64_t> few(1000, 5), many(400000, 3), one_long(400000, 1);
  one_long[777] = sizeof(TypeParam) == 4 ? 28000 : 18000;
  const auto small = packed(few, 1000), large = packed(many, 400000), longest = packed(one_long, 400000);
  for (const auto* matrix : {&small, &large, &longest}) {
    EXPECT_TRUE((*matrix)->prepare_to_run_steps());
    EXPECT_TRUE(small->runs_in_pair_with(**matrix));
    EXPECT_TRUE((*matrix)->runs_in_pair_with(*small));
  }
  EXPECT_TRUE(large->runs_in_pair_with(*large));
  EXPECT_FALSE(longest->runs_in_pair_with(*longest));
}

}  // namespace
}  // namespace tessera::test
