// Each vector operation against a plain loop over the formula, with poisoned outputs, for one and several
// threads.
#include "kernels/cpu/cpu_vector_ops.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "tests/support/random_values.hpp"

namespace tessera::test {
namespace {

/// Sums of an update in plain long double.
struct PlainSums {
  long double change_l1 = 0, change_squares = 0, total = 0, dangling = 0;
  double change_max = 0;
  void add(double before, double after, bool is_dangling) {
    const double change = std::abs(after - before);
    change_l1 += change;
    change_squares += change * change;
    change_max = std::max(change_max, change);
    total += after;
    if (is_dangling) dangling += after;
  }
};

void expect_sums(const VectorSums& sums, const PlainSums& plain, const ExactScale& scale, bool squares) {
  const auto near = [](double value, long double expected) {
    EXPECT_NEAR(value, static_cast<double>(expected), 1e-15 * (1 + static_cast<double>(std::abs(expected))));
  };
  near(scale.value(sums.change_l1), plain.change_l1);
  near(scale.value(sums.change_squares), squares ? plain.change_squares : 0);
  EXPECT_EQ(sums.change_max, plain.change_max);
}

template <class S>
class CpuVectorOps : public testing::Test {
 protected:
  const ExactScale scale_{4.0};
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(CpuVectorOps, Precisions);

TYPED_TEST(CpuVectorOps, RankUpdateIsTheFormula) {
  using S = TypeParam;
  for (const std::size_t n : {0, 1, 511, 512, 513, 40000})
    for (const bool with_jump : {false, true}) {
      const auto y = random_values<double>(n, 1);
      const auto before = random_values<S>(n, 2), jump = random_values<S>(n, 3);
      auto scale = random_values<S>(n, 4);
      for (std::size_t i = 0; i < n; i += 3) scale[i] = 0;
      const RankUpdate update{.link = 0.85, .teleport = 0.1, .constant = 0.01};
      PlainSums plain;
      std::vector<S> expected(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double jumped = with_jump ? update.teleport * static_cast<double>(jump[i]) : 0;
        expected[i] = static_cast<S>(update.link * y[i] + jumped + update.constant);
        plain.add(static_cast<double>(before[i]), static_cast<double>(expected[i]), scale[i] == 0);
      }
      VectorSums first;
      for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        std::vector<S> score = before;
        const VectorSums sums =
            cpu::rank_update(update, y.data(), with_jump ? jump.data() : nullptr, scale.data(), false,
                             this->scale_, with_jump, score.data(), n);
        EXPECT_EQ(score, expected);
        expect_sums(sums, plain, this->scale_, with_jump);
        EXPECT_NEAR(this->scale_.value(sums.total), static_cast<double>(plain.total), 1e-11);
        EXPECT_NEAR(this->scale_.value(sums.dangling), static_cast<double>(plain.dangling), 1e-11);
        if (threads == 1) first = sums;
        EXPECT_EQ(sums.change_l1, first.change_l1);
        EXPECT_EQ(sums.change_squares, first.change_squares);
        EXPECT_EQ(sums.total, first.total);
        EXPECT_EQ(sums.dangling, first.dangling);
      }
    }
}

TYPED_TEST(CpuVectorOps, RankUpdateAddsUpScoresByTheirMasses) {
  using S = TypeParam;
  const std::size_t n = 3000;
  const auto y = random_values<double>(n, 1);
  const auto before = random_values<S>(n, 2), masses = random_values<S>(n, 3);
  PlainSums plain;
  long double weighed = 0;
  std::vector<S> expected(n), score = before;
  for (std::size_t i = 0; i < n; ++i) {
    expected[i] = static_cast<S>(0.3 * y[i]);
    plain.add(static_cast<double>(before[i]), static_cast<double>(expected[i]), false);
    weighed += static_cast<long double>(expected[i]) * static_cast<long double>(masses[i]);
  }
  const VectorSums sums = cpu::rank_update<S>({.link = 0.3}, y.data(), nullptr, masses.data(), true,
                                              this->scale_, true, score.data(), n);
  EXPECT_EQ(score, expected);
  expect_sums(sums, plain, this->scale_, true);
  EXPECT_NEAR(this->scale_.value(sums.total), static_cast<double>(plain.total), 1e-11);
  EXPECT_NEAR(this->scale_.value(sums.dangling), static_cast<double>(weighed), 1e-11);
}

TYPED_TEST(CpuVectorOps, RankUpdateWithoutScaleHasNoDanglingRows) {
  using S = TypeParam;
  const std::size_t n = 3000;
  const auto y = random_values<double>(n, 1);
  const auto before = random_values<S>(n, 2);
  PlainSums plain;
  std::vector<S> expected(n), score = before;
  for (std::size_t i = 0; i < n; ++i) {
    expected[i] = static_cast<S>(0.3 * y[i]);
    plain.add(static_cast<double>(before[i]), static_cast<double>(expected[i]), false);
  }
  const VectorSums sums = cpu::rank_update<S>({.link = 0.3}, y.data(), nullptr, nullptr, false, this->scale_,
                                              true, score.data(), n);
  EXPECT_EQ(score, expected);
  expect_sums(sums, plain, this->scale_, true);
  EXPECT_NEAR(this->scale_.value(sums.total), static_cast<double>(plain.total), 1e-11);
  EXPECT_EQ(sums.dangling, ExactSum());
}

TYPED_TEST(CpuVectorOps, RankUpdateGoesFurtherThanItsStepFromAnOrigin) {
  using S = TypeParam;
  const std::size_t n = 3000;
  const auto y = random_values<double>(n, 1);
  const auto before = random_values<S>(n, 2), origin = random_values<S>(n, 3), jump = random_values<S>(n, 4);
  std::vector<S> scale(n, S{1});
  for (std::size_t i = 0; i < n; i += 3) scale[i] = 0;
  const RankUpdate update{.link = 0.85, .teleport = 0.1, .constant = 0.01};
  for (const bool with_jump : {false, true}) {
    PlainSums plain;
    long double total = 0, dangling = 0;
    std::vector<S> expected(n), score = before, from = origin;
    for (std::size_t i = 0; i < n; ++i) {
      const double jumped = with_jump ? update.teleport * static_cast<double>(jump[i]) : 0;
      const S step = static_cast<S>(update.link * y[i] + jumped + update.constant);
      plain.add(static_cast<double>(before[i]), static_cast<double>(step), false);
      const double start = origin[i];
      expected[i] = static_cast<S>(start + 1.5 * (static_cast<double>(step) - start));
      total += static_cast<long double>(expected[i]);
      if (scale[i] == 0) dangling += static_cast<long double>(expected[i]);
    }
    EXPECT_LT(*std::min_element(expected.begin(), expected.end()), 0);
    const VectorSums sums =
        cpu::rank_update(update, y.data(), with_jump ? jump.data() : nullptr, scale.data(), false,
                         this->scale_, true, score.data(), n, 1.5, from.data());
    EXPECT_EQ(score, expected);
    EXPECT_EQ(from, before);
    expect_sums(sums, plain, this->scale_, true);
    EXPECT_NEAR(this->scale_.value(sums.total), static_cast<double>(total), 1e-11);
    EXPECT_NEAR(this->scale_.value(sums.dangling), static_cast<double>(dangling), 1e-11);
  }
}

TYPED_TEST(CpuVectorOps, MarksStayAndCountTheMassesOutside) {
  using S = TypeParam;
  for (const std::size_t n : {0, 1, 511, 512, 513, 40000})
    for (const bool with_masses : {false, true}) {
      const auto y = random_values<double>(n, 1, -0.5);
      const auto masses = random_values<S>(n, 2);
      std::vector<S> marks(n), expected(n);
      long double mass = 0, outside = 0;
      std::size_t num_new = 0;
      for (std::size_t i = 0; i < n; ++i) {
        marks[i] = static_cast<S>(i % 3 == 0);
        expected[i] = static_cast<S>(y[i] > 0 || i % 3 == 0);
        num_new += expected[i] != marks[i];
        mass += static_cast<long double>(masses[i]);
        if (expected[i] == 0) outside += static_cast<long double>(masses[i]);
      }
      const VectorSums sums =
          cpu::mark_rows<S>(y.data(), with_masses ? masses.data() : nullptr, this->scale_, marks.data(), n);
      EXPECT_EQ(marks, expected);
      EXPECT_EQ(this->scale_.value(sums.change_l1), static_cast<double>(num_new));
      EXPECT_NEAR(this->scale_.value(sums.total), with_masses ? static_cast<double>(mass) : 0, 1e-10);
      EXPECT_NEAR(this->scale_.value(sums.dangling), with_masses ? static_cast<double>(outside) : 0, 1e-10);
    }
}

TYPED_TEST(CpuVectorOps, WalkUpdateIsTheFormulaForEachVector) {
  using S = TypeParam;
  const std::size_t n = 1500;
  for (const unsigned k : {1u, 3u, 32u, 600u}) {
    const auto y = random_values<double>(n * k, 1);
    const auto before = random_values<S>(n * k, 2);
    std::vector<VertexId> restart_rows(k, kNoVertex);
    for (unsigned q = 0; q < k; q += 2) restart_rows[q] = q * 2;
    for (const int threads : {1, 3}) {
      omp_set_num_threads(threads);
      std::vector<S> walk = before;
      const auto sums = cpu::walk_update<S>(0.9, 0.1, y.data(), restart_rows, {}, this->scale_, true,
                                            walk.data(), walk.data(), n);
      ASSERT_EQ(sums.size(), k);
      for (unsigned q = 0; q < k; ++q) {
        PlainSums plain;
        for (std::size_t i = 0; i < n; ++i) {
          const std::size_t at = i * k + q;
          const S expected = static_cast<S>(0.9 * y[at] + (i == restart_rows[q] ? 0.1 : 0.0));
          ASSERT_EQ(walk[at], expected);
          plain.add(static_cast<double>(before[at]), static_cast<double>(expected), false);
        }
        expect_sums(sums[q], plain, this->scale_, true);
      }
    }
  }
}

TYPED_TEST(CpuVectorOps, WalkUpdateGoesFurtherThanItsStepFromWhatTheTargetHolds) {
  using S = TypeParam;
  const std::size_t n = 1500;
  const unsigned k = 3;
  const auto y = random_values<double>(n * k, 1);
  const auto before = random_values<S>(n * k, 2), origin = random_values<S>(n * k, 3);
  const std::vector<VertexId> restart_rows{7, kNoVertex, 900};
  const std::vector<double> weights{1.5, 1, 1.25};
  std::vector<S> walk = origin;
  const auto sums = cpu::walk_update(0.9, 0.1, y.data(), restart_rows, weights, this->scale_, true,
                                     before.data(), walk.data(), n);
  for (unsigned q = 0; q < k; ++q) {
    PlainSums plain;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = i * k + q;
      const S step = static_cast<S>(0.9 * y[at] + (i == restart_rows[q] ? 0.1 : 0.0));
      const double from = origin[at], gone = from + weights[q] * (static_cast<double>(step) - from);
      ASSERT_EQ(walk[at], q == 1 ? step : static_cast<S>(gone));
      plain.add(static_cast<double>(before[at]), static_cast<double>(step), false);
    }
    expect_sums(sums[q], plain, this->scale_, true);
  }
}

TYPED_TEST(CpuVectorOps, ReductionsOfAVector) {
  for (const std::size_t n : {0, 1, 1000}) {
    const auto y = random_values<double>(n, 1, -1);
    long double sum = 0, squares = 0;
    double largest = 0;
    for (double value : y) {
      sum += value;
      squares += value * value;
      largest = std::max(largest, std::abs(value));
    }
    const NormSums plain = cpu::norm_sums(y.data(), n, false, this->scale_),
                   squared = cpu::norm_sums(y.data(), n, true, this->scale_);
    EXPECT_EQ(plain.largest, largest);
    EXPECT_EQ(squared.largest, largest);
    EXPECT_NEAR(this->scale_.value(plain.sum), static_cast<double>(sum), 1e-12);
    EXPECT_NEAR(this->scale_.value(squared.sum), static_cast<double>(squares), 1e-12);
    EXPECT_EQ(cpu::norm_sums(y.data(), n, false, ExactScale(largest / 4)).sum, ExactSum());
  }
}

TYPED_TEST(CpuVectorOps, MovesTouchTheirTargetsOnly) {
  using S = TypeParam;
  const std::size_t n = 700, num_slots = 2000;
  const S poison = -7;
  std::vector<VertexId> slots(n);
  for (std::size_t i = 0; i < n; ++i) slots[i] = static_cast<VertexId>((i * 13 + 5) % num_slots);
  const auto scale = random_values<S>(n, 3);
  for (const unsigned k : {1u, 4u}) {
    const auto values = random_values<S>(n * k, 2);
    std::vector<S> x(num_slots * k, poison), plain_x = x, unscaled_x = x, rows(n * k, poison),
                                             expected_rows(n * k);
    for (std::size_t i = 0; i < n; ++i)
      for (unsigned q = 0; q < k; ++q) {
        expected_rows[i * k + q] = values[i * k + q] * scale[i];
        plain_x[slots[i] * k + q] = expected_rows[i * k + q];
      }
    const InputPlaces listed{.count = n, .listed = slots.data()}, in_order{.count = n};
    cpu::put_inputs(values.data(), scale.data(), listed, k, x.data());
    EXPECT_EQ(x, plain_x);
    cpu::put_inputs<S>(values.data(), scale.data(), in_order, k, rows.data());
    EXPECT_EQ(rows, expected_rows);
    cpu::put_inputs<S>(rows.data(), nullptr, listed, k, unscaled_x.data());
    EXPECT_EQ(unscaled_x, plain_x);
    cpu::put_inputs<S>(values.data(), nullptr, in_order, k, rows.data());
    EXPECT_EQ(rows, values);
    std::vector<S> tiled(num_slots * k, poison), plain_tiled = tiled;
    for (std::size_t i = 0; i < n; ++i)
      for (unsigned q = 0; q < k; ++q)
        plain_tiled[(i + std::min<std::size_t>(i / 50, 9)) * k + q] = values[i * k + q];
    cpu::put_inputs<S>(values.data(), nullptr, {.count = n, .slots = ColumnSlots(50, 10)}, k, tiled.data());
    EXPECT_EQ(tiled, plain_tiled);
  }
}

TYPED_TEST(CpuVectorOps, FillsAllEntriesAndNoMore) {
  using S = TypeParam;
  for (const std::size_t n : {0, 1, 513, 100'000}) {
    std::vector<S> vector(n + 1, S{-7});
    cpu::fill(vector.data(), n, S{0.25});
    EXPECT_EQ(std::count(vector.begin(), vector.end(), S{0.25}), static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(vector.back(), S{-7});
  }
}

TYPED_TEST(CpuVectorOps, SelectKeepsTheVectorsNamed) {
  using S = TypeParam;
  const std::size_t n = 100;
  const auto block = random_values<S>(n * 5, 1);
  const std::vector<unsigned> kept{0, 3, 4};
  std::vector<S> out(n * 3, S{-1});
  cpu::select_vectors(block.data(), 5, kept, n, out.data());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(out[i * 3 + j], block[i * 5 + kept[j]]);
}

}  // namespace
}  // namespace tessera::test
