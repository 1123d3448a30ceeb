#include "kernels/norm_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/backend.hpp"
#include "tests/support/random_values.hpp"

namespace tessera::test {
namespace {

template <class T>
Buffer<T> buffer_of(Backend<float>& backend, const std::vector<T>& values) {
  Buffer<T> buffer = backend.allocate<T>(values.size());
  std::copy(values.begin(), values.end(), buffer.data());
  return buffer;
}

/// The norm by its formula.
double plain_norm(ScoreNorm norm, const std::vector<double>& y) {
  long double sum = 0, squares = 0, largest = 0;
  for (const long double value : y) {
    sum += value;
    squares += value * value;
    largest = std::max(largest, value);
  }
  return static_cast<double>(norm == ScoreNorm::sum   ? sum
                             : norm == ScoreNorm::max ? largest
                                                      : std::sqrt(squares));
}

TEST(NormStep, ScalesAProductToItsSize) {
  const auto backend = make_backend<float>("cpu");
  const std::vector<double> y = random_values<double>(1000, 7, 0.01);
  const std::vector<float> before = random_values<float>(1000, 8);
  const double largest = *std::max_element(y.begin(), y.end());
  for (const ScoreNorm norm : {ScoreNorm::sum, ScoreNorm::max, ScoreNorm::l2})
    for (const bool squares : {false, true}) {
      const double size = squares ? 2 : 1;
      Buffer<float> score = buffer_of(*backend, before), x = buffer_of(*backend, before);
      NormedUpdate update =
          backend->normed_update({norm, largest / 2, largest * 2}, size, buffer_of(*backend, y), {},
                                 ExactScale(4.0), squares, score, {&x, {.count = 1000}});
      ASSERT_TRUE(update.sums.has_value());
      EXPECT_EQ(update.norm.largest, largest);
      double change = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double expected = size * y[i] / plain_norm(norm, y);
        EXPECT_NEAR(score.data()[i], expected, expected * 1e-7);
        EXPECT_EQ(x.data()[i], score.data()[i]);
        change =
            std::max(change, std::abs(static_cast<double>(score.data()[i]) - static_cast<double>(before[i])));
      }
      const VectorSums sums = update.sums->take().front();
      EXPECT_EQ(sums.change_max, change);
      EXPECT_EQ(sums.change_squares != WideExactSum(), squares);
    }
}

TEST(NormStep, ChangesNothingWhereTheLargestIsNotCovered) {
  const auto backend = make_backend<float>("cpu");
  const std::vector<float> before{0.25f, 0.5f};
  Buffer<float> score = buffer_of(*backend, before), x = buffer_of(*backend, before);
  const Buffer<double> y = buffer_of<double>(*backend, {3, 1});
  for (const auto& [least, most] : {std::pair(1.0, 2.9), std::pair(3.1, 9.0), std::pair(1e-150, 0.0)}) {
    const NormedUpdate update = backend->normed_update({ScoreNorm::l2, least, most}, 1, y, {},
                                                       ExactScale(4.0), false, score, {&x, {.count = 2}});
    EXPECT_FALSE(update.sums.has_value());
    EXPECT_EQ(update.norm.largest, 3);
    EXPECT_EQ(std::vector<float>(score.begin(), score.end()), before);
    EXPECT_EQ(std::vector<float>(x.begin(), x.end()), before);
  }
  EXPECT_FALSE((NormStep{ScoreNorm::sum, 1, 2}.covers(std::nan(""))));
}

}  // namespace
}  // namespace tessera::test
