#include "kernels/extrapolation.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

#include "kernels/cpu/cpu_vector_ops.hpp"

namespace tessera {
namespace {

TEST(Extrapolation, GoesSoManyTimesAsFarInDouble) {
  EXPECT_EQ(extrapolated(1.5, 3.0, 1.0), 4.0);
  EXPECT_EQ(extrapolated(1.5, 1.0, 3.0), 0.0);
  EXPECT_EQ(extrapolated(2.0, 0x1p-30F, 1.0F), static_cast<float>(0x1p-29 - 1.0));  // rounded once
  EXPECT_EQ(extrapolated(1.75, 0.25F, 0.25F), 0.25F);
}

TEST(Extrapolation, OfWeight1IsTheStepWhateverWasBefore) {
  EXPECT_EQ(extrapolated(1.0, 0.1, 1e300), 0.1);
  EXPECT_EQ(extrapolated(1.0, 0.1F, 1e30F), 0.1F);
}

TEST(Extrapolation, OfABlockHasAWeightAVector) {
  constexpr std::uint64_t kRows = 100003;  // worth several threads
  const std::vector<double> weights{1, 1.25, 1.5};
  const int threads = omp_get_max_threads();
  for (const int count : {1, 3}) {
    std::vector<float> walk(3 * kRows), before(3 * kRows);
    for (std::uint64_t i = 0; i < walk.size(); ++i) {
      walk[i] = static_cast<float>(i % 97);
      before[i] = static_cast<float>(i % 31);
    }
    omp_set_num_threads(count);
    cpu::extrapolate<float>(weights, walk.data(), before.data(), kRows);
    omp_set_num_threads(threads);
    for (std::uint64_t i = 0; i < walk.size(); ++i) {
      const double from = static_cast<double>(i % 31), to = static_cast<double>(i % 97);
      ASSERT_EQ(before[i], from + weights[i % 3] * (to - from)) << i;  // exact in f32
    }
  }
}

}  // namespace
}  // namespace tessera
