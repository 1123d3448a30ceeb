// Runs of half-steps of HITS without the host: a device's bits against products and updates of the CPU, one
// by one. Skips, visibly, where no device answers.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "kernels/cuda/run_cluster.hpp"
#include "tests/support/device_case.hpp"
#include "tests/support/step_sums.hpp"

namespace tessera::test {
namespace {

/// The last rows of so many are nobody's inputs.
std::uint64_t num_inputs_of(std::uint64_t num_rows) { return num_rows - num_rows / 5; }

/// Two matrices and their vectors; the first rows of one are the inputs of the other.
template <class S>
class DevicePairRuns : public DeviceBackend<S> {
 protected:
  /// least: of the norms of both sides' products.
  void expect_the_bits_of_the_cpu(const RandomMatrix& a, const RandomMatrix& b, Norm norm,
                                  std::array<double, 2> least = {0, 0}) {
    SCOPED_TRACE(testing::Message() << a.num_rows << " and " << b.num_rows << " rows, "
                                    << a.col_indices.size() << " and " << b.col_indices.size() << " elements"
                                    << (a.values.empty() ? "" : ", weighted") << ", norm "
                                    << static_cast<int>(norm));
    this->expect_same([&](Backend<S>& backend) {
      const auto first = pack(backend, a, KernelKind::csr, original_column_order(a.num_cols), {}, 0),
                 second = pack(backend, b, KernelKind::csr, original_column_order(b.num_cols), {}, 0);
      EXPECT_EQ(first->prepare_to_run_steps(), !backend.memory_is_host());
      EXPECT_EQ(second->prepare_to_run_steps(), !backend.memory_is_host());
      EXPECT_TRUE(first->runs_in_pair_with(*second));
      PairRun run{.norms = {{2 * largest_column_sum(b), least[0]}, {2 * largest_column_sum(a), least[1]}},
                  .first_norm = std::max(1e5, least[0]),
                  .most_steps = 7};
      run.norm = norm;
      std::vector<Made> all{made(backend, {*first, *second}, {&a, &b}, run)};
      run.most_steps = PairRun::kMostSteps;
      const std::vector<double> sizes = all[0].sizes;
      run.tolerance = sizes.empty() ? 0 : sizes.back();
      if (!settles_) run.tolerance = *std::max_element(sizes.begin() + 2, sizes.end());
      all.push_back(made(backend, {*first, *second}, {&a, &b}, run));
      run.most_steps = 1;
      all.push_back(made(backend, {*first, *second}, {&a, &b}, run));
      EXPECT_LT(all[1].sums.size(), PairRun::kMostSteps);
      EXPECT_EQ(all[2].sums.size(), 1u);
      num_made_ = all[0].sums.size();
      return all;
    });
  }
  /// Runs of seven half-steps that begin with either: in L1, and with values in another norm.
  void expect_the_bits_either_way(RandomMatrix a, RandomMatrix b, Norm norm_with_values) {
    for (const Norm norm : {Norm::l1, norm_with_values}) {
      if (norm == norm_with_values) {
        a.values = random_values<double>(a.col_indices.size(), 4);
        b.values = random_values<double>(b.col_indices.size(), 5);
      }
      expect_the_bits_of_the_cpu(a, b, norm);
      EXPECT_EQ(num_made_, 7u);
      expect_the_bits_of_the_cpu(b, a, norm);
      EXPECT_EQ(num_made_, 7u);
    }
  }
  std::array<std::uint64_t, 2> num_unscored_{};  ///< last rows of each side that have no score
  std::size_t num_made_ = 0;                     ///< half-steps of seven
  bool settles_ = true;                          ///< some half-step behind the seventh changes scores less

 private:
  /// What a run of pairs gives.
  struct Made {
    std::vector<decltype(limbs({}))> sums;
    std::vector<double> sizes;  ///< of the changes of all half-steps
    std::vector<S> first, second;
    bool operator==(const Made&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Made& made) {
      return out << made.sums.size() << " half-steps";
    }
  };

  /// Norms by twice that are no smaller than those of products, so that scores stay small.
  static double largest_column_sum(const RandomMatrix& a) {
    std::vector<double> sums(a.num_cols, 0.0);
    for (std::size_t e = 0; e < a.col_indices.size(); ++e)
      sums[a.col_indices[e]] += a.values.empty() ? 1.0 : std::abs(a.values[e]);
    return std::ranges::max(sums);
  }

  Made made(Backend<S>& backend, const std::pair<const Matrix<S>&, const Matrix<S>&>& matrices,
            const std::array<const RandomMatrix*, 2>& shapes, const PairRun& run) {
    std::array<Buffer<S>, 2> masses, start, score;
    std::array<Buffer<VertexId>, 2> slots;
    for (unsigned i = 0; i < 2; ++i) {
      const std::uint64_t n = shapes[i]->num_rows - num_unscored_[i];
      std::vector<S> of_rows = random_values<S>(n, 2 + i);
      for (S& mass : of_rows) mass = (S{1} + std::abs(mass)) / 2;
      masses[i] = this->put(backend, of_rows);
      start[i] = this->put(backend, random_values<S>(n, 4 + i));
      score[i] = this->put(backend, std::vector<S>(n, S{-5}));
      std::vector<VertexId> places(shapes[1 - i]->num_cols);
      std::iota(places.rbegin(), places.rend(), VertexId{0});
      places.resize(std::min<std::uint64_t>(places.size(), num_inputs_of(n)));
      slots[i] = this->put(backend, places);
    }
    const auto side = [&](unsigned i) {
      const std::uint64_t count = slots[i].size();
      const bool is_listed = i == 0 || shapes[1 - i]->num_cols > 2000;  // scattered() reads the last columns
      return PairSide<S>{i == 0 ? matrices.first : matrices.second, masses[i],
                         is_listed ? InputPlaces::listed_in(slots[i]) : in_small_tiles(count - count / 50),
                         start[i], score[i]};
    };
    const bool squares = run.norm == Norm::l2;
    const std::vector<VectorSums> sums =
        backend.memory_is_host() ? step_by_step(backend, {side(0), side(1)}, shapes, run, squares)
                                 : all_of(backend.run_pair_steps(run, {side(0), side(1)}, kBound, squares));
    Made all{{}, {}, this->get(backend, score[0]), this->get(backend, score[1])};
    for (const VectorSums& of_step : sums) {
      all.sums.push_back(limbs(of_step));
      all.sizes.push_back(change(run, of_step));
    }
    return all;
  }
  static double change(const PairRun& run, const VectorSums& sums) {
    return change_in(run.norm, sums.change_l1, sums.change_squares, sums.change_max, kBound);
  }
  std::vector<VectorSums> step_by_step(Backend<S>& backend, const PairSide<S> (&sides)[2],
                                       const std::array<const RandomMatrix*, 2>& shapes, const PairRun& run,
                                       bool squares) {
    std::array<Buffer<S>, 2> x;
    for (unsigned i = 0; i < 2; ++i) {
      std::copy(sides[i].start.begin(), sides[i].start.end(), sides[i].score.begin());
      x[i] = this->put(backend, std::vector<S>(shapes[i]->num_cols, S{0}));
    }
    const auto target = [&](unsigned i) { return InputTarget<S>{&x[1 - i], sides[i].places}; };
    backend.put_inputs(sides[1].score, nullptr, 1, target(1));
    std::vector<VectorSums> sums;
    double norm = run.first_norm, now = 0;
    for (;;) {
      const auto i = static_cast<unsigned>(sums.size() % 2);
      auto y = this->put(backend, std::vector<double>(shapes[i]->num_rows, 0.0));
      sides[i].matrix.apply(x[i], y, 1);
      sums.push_back(backend
                         .rank_update({.link = 1 / norm}, y, {}, {}, RowScale<S>::masses(sides[i].masses),
                                      kBound, squares, sides[i].score, target(i))
                         .take()
                         .front());
      const double before = std::exchange(now, change(run, sums.back()));
      const auto count = static_cast<unsigned>(sums.size());
      norm = run.norms[i].unit * kBound.value(sums.back().dangling);
      if (count == run.most_steps || norm < run.norms[1 - i].least ||
          (i == 1 && std::max(before, now) <= run.tolerance))
        return sums;
    }
  }

  static inline const ExactScale kBound{4.0};
};
TYPED_TEST_SUITE(DevicePairRuns, Precisions);

TYPED_TEST(DevicePairRuns, HaveTheBitsOfTheCpu) {
  for (const bool weighted : {false, true})
    for (const Norm norm : {Norm::l1, Norm::l2, Norm::linf}) {
      const RandomMatrix a = random_matrix(7, 1500, 1300, 20, weighted),
                         b = random_matrix(8, 1300, 1500, 9, weighted);
      this->expect_the_bits_of_the_cpu(a, b, norm);
      EXPECT_EQ(this->num_made_, 7u);
    }
}

/// Behind the first half-step or the second.
TYPED_TEST(DevicePairRuns, EndWhereANormIsTooSmall) {
  const RandomMatrix a = random_matrix(7, 700, 600, 5, false), b = random_matrix(8, 600, 700, 9, false);
  this->expect_the_bits_of_the_cpu(a, b, Norm::l1, {0, 1e9});
  EXPECT_EQ(this->num_made_, 1u);
  this->expect_the_bits_of_the_cpu(a, b, Norm::l1, {1e9, 0});
  EXPECT_EQ(this->num_made_, 2u);
}

/// All columns are inputs of the other side, which has so many rows.
RandomMatrix scattered(RandomMatrix a, std::uint64_t other_rows) {
  std::mt19937_64 random(3);
  const std::uint64_t num_inputs = std::min(a.num_cols, num_inputs_of(other_rows));
  for (VertexId& column : a.col_indices)
    column = static_cast<VertexId>(a.num_cols - 1 - random() % num_inputs);
  return a;
}

/// Rows of every number of elements that a lane has, of one and of many chunks, and several a thread; of some
/// blocks none; sides of like and of very different size.
TYPED_TEST(DevicePairRuns, InAClusterHaveTheBitsOfTheCpu) {
  this->settles_ = false;  // with few rows, or rows of one element
  std::vector<std::uint64_t> all;
  for (const std::uint64_t length :
       {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 513, 600, 1000})
    all.insert(all.end(), {length, 1, 0, length});
  all.resize(2000, 2);
  const std::vector<std::uint64_t> many(sizeof(TypeParam) == 4 ? 11000 : 6000, 1), one_long{5000},
      some(30, 7);
  const auto matrix = [](const std::vector<std::uint64_t>& lengths, std::uint64_t num_cols) {
    const RandomMatrix a = matrix_of_row_lengths(lengths, num_cols);
    EXPECT_TRUE(cuda::pays_in_cluster(a.num_rows, a.col_indices.size(), sizeof(TypeParam)));
    return scattered(a, num_cols);
  };
  for (const auto& lengths : {all, many, one_long, some}) {
    for (const auto& other : {all, many, some, {3, 3}}) {
      this->expect_the_bits_either_way(matrix(lengths, other.size()), matrix(other, lengths.size()),
                                       Norm::linf);
    }
  }
}

/// Some blocks have rows of one side that have no score, and such of the other side that have.
TYPED_TEST(DevicePairRuns, InAClusterMayHaveRowsWithoutScores) {
  this->settles_ = false;  // sooner than that: then rounding changes as much
  const RandomMatrix a = scattered(matrix_of_row_lengths(std::vector<std::uint64_t>(1000, 3), 1000), 1000),
                     b = scattered(matrix_of_row_lengths(std::vector<std::uint64_t>(1000, 5), 1000), 1000);
  ASSERT_TRUE(cuda::pays_in_cluster(1000, b.col_indices.size(), sizeof(TypeParam)));
  for (const auto& num_unscored : {std::array<std::uint64_t, 2>{430, 0}, {0, 430}, {430, 1}, {3, 700}}) {
    this->num_unscored_ = num_unscored;
    for (const Norm norm : {Norm::l1, Norm::linf}) this->expect_the_bits_of_the_cpu(a, b, norm);
    EXPECT_EQ(this->num_made_, 7u);
  }
}

/// Up to two, four and six elements a thread, and more, of the larger side.
TYPED_TEST(DevicePairRuns, OfBlocksOfAllSizesHaveTheBitsOfTheCpu) {
  for (const std::uint64_t longest : {600, 1025, 2049, 3073}) {
    std::vector<std::uint64_t> lengths(9000, 3);
    lengths[777] = longest;
    const std::vector<std::uint64_t> fours(8500, 4);
    const RandomMatrix b = scattered(matrix_of_row_lengths(fours, lengths.size()), lengths.size());
    ASSERT_FALSE(cuda::pays_in_cluster(b.num_rows, b.col_indices.size(), sizeof(TypeParam)));
    for (const Norm norm_with_values : {Norm::linf, Norm::l2})
      this->expect_the_bits_either_way(scattered(matrix_of_row_lengths(lengths, fours.size()), fours.size()),
                                       b, norm_with_values);
  }
}

/// One side is dealt to more blocks than the other, and has rows of several blocks; larger sides are in
/// windows.
TYPED_TEST(DevicePairRuns, OfRowsOfAllLengthsHaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t length : {0, 1, 8, 16, 17, 255, 257, 1025, 4096, 4097, 17000})
    lengths.insert(lengths.end(), {length, 1, 0, length});
  lengths.resize(20000, 2);
  for (const std::uint64_t num_rows : {300, 90000, 300000}) {
    const std::vector<std::uint64_t> fives(num_rows, 5);
    this->expect_the_bits_either_way(scattered(matrix_of_row_lengths(lengths, 20000), num_rows),
                                     scattered(matrix_of_row_lengths(fives, 20000), lengths.size()),
                                     Norm::l2);
  }
}

}  // namespace
}  // namespace tessera::test
